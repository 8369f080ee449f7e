// The loss head on the CPU: chunks of rows, each through product, softmax, and two products back.
#include <algorithm>
#include <cstring>
#include <memory>
#include <optional>

#include "device/cpu/kernels.h"
#include "device/cpu/parallel.h"
#include "device/cpu/weight_product.h"
#include "ops/head/cpu_cut_rows.h"
#include "ops/head/head.h"
#include "ops/head/row_loss.h"
#include "ops/linear/linear.h"
#include "ops/scratch.h"

namespace trireme {
namespace {

RowKernels row_kernels(CpuIsa isa) {
  if (isa >= CpuIsa::avx512) return row_kernels_avx512();
  return isa >= CpuIsa::avx2 ? row_kernels_avx2() : row_kernels_baseline();
}

struct HeadShape {
  int64_t rows = 0, vocab = 0, width = 0;
  DType dtype = DType::f32;
};

WeightProductSpec product_spec(const HeadShape& s, int64_t rows, const TensorType& weight, WeightUse use) {
  return {
      .weight = {s.vocab, s.width, s.dtype, use}, .rows = rows, .packed = is_packed(weight), .out = s.dtype};
}

// The products of one chunk of rows; the last two are absent in head_loss.
struct Chunk {
  Chunk(const HeadShape& s, int64_t n, const OpSig& sig, const CpuContext& context)
      : rows(n), logits(product_spec(s, n, sig.inputs[1], WeightUse::forward), context) {
    if (sig.outputs.size() <= 2) return;
    dx.emplace(product_spec(s, n, sig.inputs[2], WeightUse::input_grad), context);
    dweight.emplace(WeightGradientSpec{n, s.vocab, s.width, s.dtype}, context);
  }
  int64_t rows;
  WeightProduct logits;
  std::optional<WeightProduct> dx;
  std::optional<WeightGradient> dweight;
};

struct HeadOperands {
  const std::byte *x = nullptr, *weight_forward = nullptr, *weight_input_grad = nullptr;
  const int32_t* targets = nullptr;
  const int32_t* ids = nullptr;  // the targets without the mark of further ones
  double* loss = nullptr;
  float* nll = nullptr;
  std::byte* dx = nullptr;
  float* dweight = nullptr;
  std::byte* scratch = nullptr;
  const AxisComm* comm = nullptr;
};

class LossHead {
 public:
  LossHead(const OpSig& sig, const CpuContext& context)
      : kernels_(row_kernels(context.isa)), threads_(context.threads) {
    const auto a = unpack_attrs<HeadLossAttrs>(sig.attrs);
    const TensorType& x = sig.inputs[0];
    shape_ = {x.shape[0] * x.shape[1], a.vocab, a.width, x.dtype};
    row_ = {a.vocab, static_cast<float>(a.z_loss), static_cast<float>(a.softcap), sig.outputs.size() > 2};
    const int64_t rows = head_chunk_rows(shape_.rows, a.vocab, x.dtype);
    parts_bytes_ = head_parts_bytes(a, rows);
    further_weight_ = static_cast<float>(a.further_weight);
    if (parts_bytes_ > 0)
      cut_.emplace(a, x.dtype, row_.gradient ? CutRows::Gradient::yes : CutRows::Gradient::no, kernels_,
                   threads_);
    full_.emplace(shape_, rows, sig, context);
    if (shape_.rows % rows != 0) tail_.emplace(shape_, shape_.rows % rows, sig, context);
  }

  void run(HeadOperands o) const {
    auto* z_terms = reinterpret_cast<float*>(o.scratch);
    std::byte* free = o.scratch + scratch_piece(shape_.rows * 4);
    o.ids = o.targets;
    if (further_weight_ != 0.0f) {
      auto* ids = reinterpret_cast<int32_t*>(free);
      std::transform(o.targets, o.targets + shape_.rows, ids, target_id);
      o.ids = ids;
      free += scratch_piece(shape_.rows * 4);
    }
    std::fill(o.nll, o.nll + shape_.rows, 0.0f);
    std::fill(z_terms, z_terms + shape_.rows, 0.0f);
    for (int64_t first = 0; first < shape_.rows; first += full_->rows)
      run_chunk(shape_.rows - first < full_->rows ? *tail_ : *full_, first, o, z_terms, free);
    o.loss[0] = o.loss[1] = 0.0;
    for (int64_t n = 0; n < shape_.rows; ++n) {
      o.loss[0] += o.nll[n];
      o.loss[1] += z_terms[n];
    }
  }

 private:
  void run_chunk(const Chunk& chunk, int64_t first, const HeadOperands& o, float* z_terms,
                 std::byte* free) const {
    const int32_t* targets = o.ids + first;
    const int64_t x_bytes = shape_.width * size_of(shape_.dtype);
    if (std::all_of(targets, targets + chunk.rows, [](int32_t t) { return t == kIgnoredTarget; })) {
      if (o.dx != nullptr) std::memset(o.dx + first * x_bytes, 0, static_cast<size_t>(chunk.rows * x_bytes));
      return;
    }
    std::byte* logits = free;
    std::byte* parts = logits + head_logits_bytes(full_->rows, shape_.vocab, shape_.dtype);
    std::byte* scratch = parts + parts_bytes_;
    const std::byte* x = o.x + first * x_bytes;
    chunk.logits.run({.a = x, .b = o.weight_forward, .c = logits, .scratch = scratch});
    if (cut_)
      cut_->run({.rows = chunk.rows,
                 .logits = logits,
                 .targets = targets,
                 .nll = o.nll + first,
                 .z_terms = z_terms + first,
                 .parts = reinterpret_cast<HeadRowPart*>(parts),
                 .comm = o.comm});
    else
      parallel_for(threads_, chunk.rows, 1, [&](int64_t begin, int64_t end) {
        for (int64_t n = begin; n < end; ++n) run_row(n, targets[n], logits, o.nll + first, z_terms + first);
      });
    if (further_weight_ != 0.0f) weigh_further(chunk.rows, first, o, logits, z_terms);
    if (!chunk.dx) return;
    chunk.dx->run({.a = logits, .b = o.weight_input_grad, .c = o.dx + first * x_bytes, .scratch = scratch});
    if (o.dweight != nullptr) chunk.dweight->run(logits, x, o.dweight, scratch);
  }

  // Further rows' losses and gradients were made like all others'.
  void weigh_further(int64_t rows, int64_t first, const HeadOperands& o, std::byte* logits,
                     float* z_terms) const {
    parallel_for(threads_, rows, 1, [&](int64_t begin, int64_t end) {
      for (int64_t n = begin; n < end; ++n) {
        if (!is_further(o.targets[first + n])) continue;
        z_terms[first + n] = further_weight_ * (o.nll[first + n] + z_terms[first + n]);
        o.nll[first + n] = 0.0f;
        std::byte* row = logits + n * shape_.vocab * size_of(shape_.dtype);
        if (!row_.gradient) continue;
        if (shape_.dtype == DType::f32)
          kernels_.scale_f32(reinterpret_cast<float*>(row), shape_.vocab, further_weight_);
        else
          kernels_.scale_bf16(reinterpret_cast<bf16*>(row), shape_.vocab, further_weight_);
      }
    });
  }

  void run_row(int64_t n, int32_t target, std::byte* logits, float* nll, float* z_terms) const {
    std::byte* row = logits + n * shape_.vocab * size_of(shape_.dtype);
    if (target == kIgnoredTarget) {
      if (row_.gradient) std::memset(row, 0, static_cast<size_t>(shape_.vocab * size_of(shape_.dtype)));
      return;
    }
    CHECK(target >= 0 && target < shape_.vocab, "target {} of {}", target, shape_.vocab);
    const RowLoss loss = shape_.dtype == DType::f32
                             ? kernels_.loss_f32(row_, reinterpret_cast<float*>(row), target)
                             : kernels_.loss_bf16(row_, reinterpret_cast<bf16*>(row), target);
    nll[n] = loss.nll;
    z_terms[n] = loss.z;
  }

  RowKernels kernels_;
  int threads_;
  HeadShape shape_;
  RowLossSpec row_;
  std::optional<Chunk> full_, tail_;
  std::optional<CutRows> cut_;  // where the whole vocabulary is not here, or more than it
  int64_t parts_bytes_ = 0;
  float further_weight_ = 0.0f;
};

}  // namespace

CpuKernel prepare_head_loss(const OpSig& sig, const CpuContext& context) {
  // std::function copies its target: the copies share the primitives.
  const auto head = std::make_shared<LossHead>(sig, context);
  return [head](const Operands& operands) {
    head->run({.x = operands.in<std::byte>(0),
               .weight_forward = operands.in<std::byte>(1),
               .targets = operands.in<int32_t>(2),
               .loss = operands.out<double>(0),
               .nll = operands.out<float>(1),
               .scratch = operands.scratch,
               .comm = operands.comm});
  };
}

CpuKernel prepare_head_loss_grad(const OpSig& sig, const CpuContext& context) {
  const auto head = std::make_shared<LossHead>(sig, context);
  return [head](const Operands& operands) {
    head->run({.x = operands.in<std::byte>(0),
               .weight_forward = operands.in<std::byte>(1),
               .weight_input_grad = operands.in<std::byte>(2),
               .targets = operands.in<int32_t>(3),
               .loss = operands.out<double>(0),
               .nll = operands.out<float>(1),
               .dx = operands.out<std::byte>(2),
               .dweight = operands.out<float>(3),
               .scratch = operands.scratch,
               .comm = operands.comm});
  };
}

CpuKernel prepare_head_logits(const OpSig& sig, const CpuContext& context) {
  const auto a = unpack_attrs<HeadLogitsAttrs>(sig.attrs);
  const TensorType& x = sig.inputs[0];
  const int64_t batch = x.shape[0], length = x.shape[1];
  // Last positions lie side by side only when there is one position per sequence.
  const int64_t rows = length == 1 ? batch : 1;
  const WeightProductSpec spec{.weight = {a.vocab, a.width, x.dtype, WeightUse::forward},
                               .rows = rows,
                               .packed = is_packed(sig.inputs[1]),
                               .out = DType::f32};
  const auto product = std::make_shared<WeightProduct>(spec, context);
  const int64_t row_bytes = a.width * size_of(x.dtype);
  const auto cap = a.softcap != 0.0 ? row_kernels(context.isa).cap : nullptr;
  const auto softcap = static_cast<float>(a.softcap);
  return [=](const Operands& operands) {
    auto* logits = operands.out<float>(0);
    for (int64_t b = 0; b < batch; b += rows)
      product->run({.a = operands.in<std::byte>(0) + (rows > 1 ? 0 : (b + 1) * length - 1) * row_bytes,
                    .b = operands.inputs[1],
                    .c = logits + b * a.vocab,
                    .scratch = operands.scratch});
    if (cap != nullptr) cap(logits, batch * a.vocab, softcap);
  };
}

}  // namespace trireme
