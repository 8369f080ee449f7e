// Parts of rows, their exchange, and the ends.
#include "ops/head/cpu_cut_rows.h"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "device/cpu/parallel.h"

namespace trireme {
namespace {

// A row over all ranks.
struct Row {
  double top = 0.0, sum = 0.0, hit = 0.0;
};

Row combine(const HeadRowPart* parts, int64_t ranks, int64_t stride) {
  Row row;
  row.top = parts[0].top;
  for (int64_t r = 1; r < ranks; ++r) row.top = std::max<double>(row.top, parts[r * stride].top);
  for (int64_t r = 0; r < ranks; ++r) {
    const HeadRowPart& part = parts[r * stride];
    row.sum += part.sum * std::exp(part.top - row.top);
    row.hit += part.hit;  // all but one are zero
  }
  return row;
}

}  // namespace

CutRows::CutRows(const HeadLossAttrs& attrs, DType dtype, Gradient gradient, const RowKernels& kernels,
                 int threads)
    : kernels_(kernels),
      spec_{.vocab = attrs.vocab - attrs.padding,
            .z_loss = static_cast<float>(attrs.z_loss),
            .softcap = static_cast<float>(attrs.softcap),
            .gradient = gradient == Gradient::yes,
            .padding = attrs.padding},
      attrs_(attrs),
      dtype_(dtype),
      threads_(threads) {}

void CutRows::run(const CutRowsOperands& o) const {
  HeadRowPart* own = o.parts + attrs_.on.rank * o.rows;
  parallel_for(threads_, o.rows, 1, [&](int64_t begin, int64_t end) {
    for (int64_t n = begin; n < end; ++n) own[n] = part_of_row(o, n);
  });
  if (attrs_.on.ranks > 1)
    o.comm->ranks->all_gather(own, o.parts, o.rows * static_cast<int64_t>(sizeof(HeadRowPart)),
                              "parts of logits");
  parallel_for(threads_, o.rows, 1, [&](int64_t begin, int64_t end) {
    for (int64_t n = begin; n < end; ++n) end_row(o, n);
  });
}

HeadRowPart CutRows::part_of_row(const CutRowsOperands& o, int64_t n) const {
  if (o.targets[n] == kIgnoredTarget) return {};
  CHECK(o.targets[n] >= 0 && o.targets[n] < attrs_.vocab * attrs_.on.ranks, "target {} of {} x {}",
        o.targets[n], attrs_.on.ranks, attrs_.vocab);
  const int64_t target = local_target(o.targets[n]);
  return dtype_ == DType::f32 ? kernels_.part_f32(spec_, reinterpret_cast<float*>(row(o, n)), target)
                              : kernels_.part_bf16(spec_, reinterpret_cast<bf16*>(row(o, n)), target);
}

// With top and sum over all ranks, lse = top + log(sum) and p = exp(logit - own top) exp(own top - lse).
void CutRows::end_row(const CutRowsOperands& o, int64_t n) const {
  if (o.targets[n] == kIgnoredTarget) {
    if (spec_.gradient) std::memset(row(o, n), 0, static_cast<size_t>(attrs_.vocab * size_of(dtype_)));
    return;
  }
  const Row all = combine(o.parts + n, attrs_.on.ranks, o.rows);
  const double lse = all.top + std::log(all.sum);
  o.nll[n] = static_cast<float>(lse - all.hit);
  o.z_terms[n] = static_cast<float>(spec_.z_loss * lse * lse);
  if (!spec_.gradient) return;
  const HeadRowPart& own = o.parts[attrs_.on.rank * o.rows + n];
  const RowEnd end{.factor = static_cast<float>(std::exp(own.top - lse) * (1.0 + 2.0 * spec_.z_loss * lse)),
                   .target = local_target(o.targets[n]),
                   .hit = own.hit};
  if (dtype_ == DType::f32)
    kernels_.end_f32(spec_, reinterpret_cast<float*>(row(o, n)), end);
  else
    kernels_.end_bf16(spec_, reinterpret_cast<bf16*>(row(o, n)), end);
}

std::byte* CutRows::row(const CutRowsOperands& o, int64_t n) const {
  return o.logits + n * attrs_.vocab * size_of(dtype_);
}

int64_t CutRows::local_target(int32_t target) const {
  const int64_t local = target - attrs_.on.rank * attrs_.vocab;
  return local >= 0 && local < spec_.vocab ? local : -1;
}

}  // namespace trireme
