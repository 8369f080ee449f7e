// mtp_targets, stack_batch and unstack_batch on the CPU: copies.
#include "ops/mtp/mtp.h"

#include <algorithm>
#include <memory>

#include "comm/axis_comm.h"
#include "device/cpu/kernels.h"
#include "device/cpu/parallel_copy.h"
#include "ops/attention/context_rows.h"
#include "ops/head/head.h"

namespace trireme {
namespace {

// Where the target after each of this rank's is found among those of all ranks.
class Neighbours {
 public:
  Neighbours(const MtpTargetsAttrs& attrs, const Shape& own)
      : batch_(own[0]), length_(own[1]), ranks_(attrs.axis.ranks) {
    if (ranks_ == 1) return;
    const ContextRows rows = context_rows_of(attrs.cp_mode);
    std::vector<int64_t> place(static_cast<size_t>(ranks_ * length_));  // by position: rank * length + row
    for (int64_t rank = 0; rank < ranks_; ++rank) {
      int64_t row = 0;
      for (const RowRange& range : context_rows(ranks_ * length_, ranks_, rank, rows))
        for (int64_t t = range.begin; t < range.begin + range.count; ++t)
          place[static_cast<size_t>(t)] = rank * length_ + row++;
    }
    for (const RowRange& range : context_rows(ranks_ * length_, ranks_, attrs.axis.rank, rows))
      for (int64_t t = range.begin + 1; t <= range.begin + range.count; ++t)
        after_.push_back(t < ranks_ * length_ ? place[static_cast<size_t>(t)] : -1);
  }

  // The targets [ranks,B,T] of all ranks.
  const int32_t* known(const Operands& operands) const {
    if (ranks_ == 1) return operands.in<int32_t>(0);
    const int64_t bytes = batch_ * length_ * size_of(DType::i32);
    operands.comm->ranks->all_gather(operands.inputs[0], operands.scratch, bytes,
                                     "targets of further tokens");
    return reinterpret_cast<const int32_t*>(operands.scratch);
  }

  // -1 where there is none.
  int64_t after(int64_t sequence, int64_t row) const {
    if (ranks_ == 1) return row + 1 < length_ ? sequence * length_ + row + 1 : -1;
    const int64_t place = after_[static_cast<size_t>(row)];
    return place < 0 ? -1 : (place / length_ * batch_ + sequence) * length_ + place % length_;
  }

 private:
  int64_t batch_, length_, ranks_;
  std::vector<int64_t> after_;  // by row: rank * length + row of the next position
};

}  // namespace

CpuKernel prepare_mtp_targets(const OpSig& sig, const CpuContext& context) {
  const int64_t rows = count(sig.inputs[0].shape), length = sig.inputs[0].shape[1];
  const auto attrs = unpack_attrs<MtpTargetsAttrs>(sig.attrs);
  const auto neighbours = std::make_shared<const Neighbours>(attrs, sig.inputs[0].shape);
  return [=, threads = context.threads](const Operands& operands) {
    const int32_t* targets = operands.in<int32_t>(0);
    const int32_t* known = neighbours->known(operands);
    int32_t *next = operands.out<int32_t>(0), *all = operands.out<int32_t>(1);
    parallel_for(threads, rows, 4096, [&](int64_t begin, int64_t end) {
      for (int64_t n = begin; n < end; ++n) {
        const int64_t place = neighbours->after(n / length, n % length);
        const int32_t after = place < 0 ? kIgnoredTarget : known[place];
        next[n] = std::max(targets[n], 0);
        all[n] = targets[n];
        all[rows + n] = targets[n] < 0 || after < 0 ? kIgnoredTarget : further_target(after);
      }
    });
  };
}

CpuKernel prepare_stack_batch(const OpSig& sig, const CpuContext& context) {
  return [bytes = bytes_of(sig.inputs[0]), threads = context.threads](const Operands& operands) {
    parallel_copy(threads, operands.in<std::byte>(0), operands.out<std::byte>(0), bytes);
    parallel_copy(threads, operands.in<std::byte>(1), operands.out<std::byte>(0) + bytes, bytes);
  };
}

CpuKernel prepare_unstack_batch(const OpSig& sig, const CpuContext& context) {
  return [bytes = bytes_of(sig.outputs[0]), threads = context.threads](const Operands& operands) {
    parallel_copy(threads, operands.in<std::byte>(0), operands.out<std::byte>(0), bytes);
    parallel_copy(threads, operands.in<std::byte>(0) + bytes, operands.out<std::byte>(1), bytes);
  };
}

}  // namespace trireme
