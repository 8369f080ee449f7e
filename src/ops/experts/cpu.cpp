// experts on the CPU: sort, send, then for each block of an expert's rows gate_up, swiglu and down while they
// are near; send back, sum each token's outputs.
#include <memory>

#include "device/cpu/kernels.h"
#include "device/cpu/row_product.h"
#include "ops/experts/cpu_rounds.h"
#include "ops/experts/simd_kernels.h"
#include "ops/linear/linear.h"

namespace trireme {

GateKernels gate_kernels_baseline(DType dtype) { return gate_kernels_here(dtype); }

GateKernels pick_gate_kernels(DType dtype, CpuIsa isa) {
  if (isa >= CpuIsa::avx512_bf16) return gate_kernels_avx512_bf16(dtype);
  if (isa >= CpuIsa::avx512) return gate_kernels_avx512(dtype);
  return isa >= CpuIsa::avx2 ? gate_kernels_avx2(dtype) : gate_kernels_baseline(dtype);
}

namespace {

using Out = ExpertsOut;

class Forward : ExpertRounds {
 public:
  Forward(const OpSig& sig, const CpuContext& context)
      : Forward(sig, experts_sizes(unpack_attrs<ExpertsAttrs>(sig.attrs), sig.inputs[In::x]), context) {}

  void run(const Operands& o) {
    auto* plan = o.out<int32_t>(Out::plan);
    int32_t* counts = plan + s_.rank * s_.experts;
    const Slots slots = sorted(o, counts);
    if (s_.ranks == 1)
      run_round(o, rows_here(o, slots, counts), 0);
    else
      run_together(o, slots, plan);
    sum_choices(s_, space_, kernels_, o, o.out<std::byte>(Out::y), threads_);
  }

 private:
  Forward(const OpSig& sig, const ExpertsSizes& sizes, const CpuContext& context)
      : ExpertRounds(sizes, experts_space(sizes, context.threads), context),
        gate_up_bytes_(bytes_of(sig.inputs[In::gate_up]) / s_.owned),
        down_bytes_(bytes_of(sig.inputs[In::down]) / s_.owned),
        gate_up_({2 * s_.ffn, s_.width, s_.dtype, WeightUse::forward}, is_packed(sig.inputs[In::gate_up]),
                 s_.room, context),
        down_({s_.width, s_.ffn, s_.dtype, WeightUse::forward}, is_packed(sig.inputs[In::down]), s_.room,
              context) {}

  void run_together(const Operands& o, const Slots& slots, int32_t* plan) {
    Communicator& ranks = *o.comm->ranks;
    exchange_.share_counts(ranks, plan);
    const Travel travel = pack_up(o, slots, plan);
    for (int64_t round = 0; round < rounds_.count(); ++round) {
      run_round(o, receive(o, travel, round, "rows to experts"), round);
      exchange_.send_back(ranks, round, travel.arrived, travel.out, s_.row_bytes(), "outputs of experts");
    }
  }

  // Leaves outputs in the slots, or, with several ranks, where their rows arrived.
  void run_round(const Operands& o, const RoundRows& in, int64_t round) {
    for_each_block(rows_of_expert_.data(), s_.owned, [&](const RowBlock& block) {
      std::byte* rows = s_.ranks > 1 && round == 0
                            ? o.out<std::byte>(Out::rows) + block.first * s_.row_bytes()
                            : scratch_at<std::byte>(o, space_.rows);
      std::byte* hidden = round == 0 ? o.out<std::byte>(Out::hidden) + block.first * 2 * s_.gated_bytes()
                                     : scratch_at<std::byte>(o, space_.hidden);
      std::byte *gated = scratch_at<std::byte>(o, space_.gated),
                *product = scratch_at<std::byte>(o, space_.product);
      std::byte* outputs = s_.ranks == 1
                               ? scratch_at<std::byte>(o, space_.slots) + block.first * s_.row_bytes()
                               : scratch_at<std::byte>(o, space_.outputs);
      gather_rows({in.from, in.source + block.first, in.divisor, block.rows, s_.row_bytes()}, rows, threads_);
      gate_up_.run(rows, o.in<std::byte>(In::gate_up) + block.expert * gate_up_bytes_, hidden, block.rows,
                   product);
      gate(in, block, hidden, gated);
      down_.run(gated, o.in<std::byte>(In::down) + block.expert * down_bytes_, outputs, block.rows, product);
      if (s_.ranks > 1)
        scatter_rows(outputs, in.source + block.first, block.rows, s_.row_bytes(),
                     scratch_at<std::byte>(o, space_.arrived), threads_);
    });
  }

  void gate(const RoundRows& in, const RowBlock& block, const std::byte* hidden, std::byte* gated) const {
    parallel_for(threads_, block.rows, 4, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i)
        kernels_.forward(hidden + i * 2 * s_.gated_bytes(), in.weights[in.weight_source[block.first + i]],
                         gated + i * s_.gated_bytes(), s_.ffn);
    });
  }

  int64_t gate_up_bytes_, down_bytes_;  // of one expert
  RowProduct gate_up_, down_;
};

}  // namespace

CpuKernel prepare_experts(const OpSig& sig, const CpuContext& context) {
  // std::function copies its target: the copies share the products.
  const auto forward = std::make_shared<Forward>(sig, context);
  return [forward](const Operands& operands) { forward->run(operands); };
}

}  // namespace trireme
