// experts_grad on the CPU: the rounds of forward once more, with the gradients of outputs as rows. The first
// round finds its rows and hidden kept (on one rank, rows in x); later ones send x again and compute them.
#include <algorithm>
#include <memory>

#include "device/cpu/kernels.h"
#include "device/cpu/row_product.h"
#include "ops/experts/cpu_rounds.h"
#include "ops/linear/linear.h"

namespace trireme {
namespace {

using Out = ExpertsGradOut;

class Backward : ExpertRounds {
 public:
  Backward(const OpSig& sig, const CpuContext& context)
      : Backward(sig, experts_sizes(unpack_attrs<ExpertsAttrs>(sig.attrs), sig.inputs[In::dy]), context) {}

  void run(const Operands& o) {
    const Slots slots = sorted(o, counts_.data());
    std::fill_n(o.out<float>(Out::dweights), s_.choices(), 0.0f);
    if (s_.ranks == 1)
      run_round(o, {.dy = rows_here(o, slots, counts_.data()), .dweights = o.out<float>(Out::dweights)});
    else
      run_together(o, slots);
    sum_choices(s_, space_, kernels_, o, o.out<std::byte>(Out::dx), threads_);
  }

 private:
  using In = ExpertsGradIn;

  Backward(const OpSig& sig, const ExpertsSizes& sizes, const CpuContext& context)
      : ExpertRounds(sizes, experts_grad_space(sizes, context.threads), context),
        gate_up_bytes_(bytes_of(sig.inputs[In::gate_up]) / s_.owned),
        down_bytes_(bytes_of(sig.inputs[In::down]) / s_.owned),
        to_rows_({2 * s_.ffn, s_.width, s_.dtype, WeightUse::input_grad}, is_packed(sig.inputs[In::gate_up]),
                 s_.room, context),
        to_gated_({s_.width, s_.ffn, s_.dtype, WeightUse::input_grad}, is_packed(sig.inputs[In::down]),
                  s_.room, context),
        dgate_up_({block_rows(), 2 * s_.ffn, s_.width, s_.dtype}, context),
        ddown_({block_rows(), s_.width, s_.ffn, s_.dtype}, context),
        counts_(static_cast<size_t>(s_.experts)) {
    if (!s_.rounds) return;
    gate_up_forward_bytes_ = bytes_of(sig.inputs[In::gate_up_forward]) / s_.owned;
    gate_up_.emplace(WeightSpec{2 * s_.ffn, s_.width, s_.dtype, WeightUse::forward},
                     is_packed(sig.inputs[In::gate_up_forward]), s_.room, context);
  }

  int64_t block_rows() const { return std::min(s_.room, kExpertRows); }

  // The gradients of weights are written to `dweights` in the order of `weight_source`.
  struct Round {
    RoundRows dy;
    float* dweights = nullptr;
    int64_t number = 0;
  };

  void run_together(const Operands& o, const Slots& slots) {
    Communicator& ranks = *o.comm->ranks;
    const Travel travel = pack_up(o, slots, o.in<int32_t>(In::plan));
    if (rounds_.count() > 1) {
      Gather of_x = travel.tokens;
      of_x.from = o.in<std::byte>(In::x);
      gather_rows(of_x, scratch_at<std::byte>(o, space_.x_slots), threads_);
    }
    for (int64_t round = 0; round < rounds_.count(); ++round) {
      const RoundRows dy = receive(o, travel, round, "gradients to experts");
      if (round > 0)
        exchange_.send(ranks, round, scratch_at<std::byte>(o, space_.x_slots),
                       scratch_at<std::byte>(o, space_.x_arrived), s_.row_bytes(), "rows to experts again");
      run_round(o, {.dy = dy, .dweights = travel.weights, .number = round});
      exchange_.send_back(ranks, round, travel.arrived, travel.out, s_.row_bytes(),
                          "gradients of experts' rows");
      exchange_.send_back(ranks, round, travel.weights, travel.weights_out, 4, "gradients of weights");
    }
    for (int64_t i = 0; i < travel.tokens.rows; ++i)
      o.out<float>(Out::dweights)[slots.choice_of_slot[i]] = travel.weights_out[i];
  }

  // A block's rows and hidden: kept, found in x, or made again.
  struct Kept {
    const std::byte *rows, *hidden;
  };
  Kept rows_and_hidden(const Operands& o, const Round& round, const RowBlock& block) const {
    std::byte *rows = scratch_at<std::byte>(o, space_.rows),
              *hidden = scratch_at<std::byte>(o, space_.hidden);
    if (s_.ranks == 1) {
      gather_rows(
          {o.in<std::byte>(In::x), round.dy.source + block.first, s_.top_k, block.rows, s_.row_bytes()}, rows,
          threads_);
      return {rows, o.in<std::byte>(In::hidden) + block.first * 2 * s_.gated_bytes()};
    }
    if (round.number == 0)
      return {o.in<std::byte>(In::rows) + block.first * s_.row_bytes(),
              o.in<std::byte>(In::hidden) + block.first * 2 * s_.gated_bytes()};
    gather_rows({scratch_at<std::byte>(o, space_.x_arrived), round.dy.source + block.first, 1, block.rows,
                 s_.row_bytes()},
                rows, threads_);
    gate_up_->run(rows, o.in<std::byte>(In::gate_up_forward) + block.expert * gate_up_forward_bytes_, hidden,
                  block.rows, scratch_at<std::byte>(o, space_.product));
    return {rows, hidden};
  }

  // Leaves the gradients of rows in the slots, or, with several ranks, where dy's rows arrived.
  void run_round(const Operands& o, const Round& round) const {
    const RoundRows& dy = round.dy;
    for_each_block(rows_of_expert_.data(), s_.owned, [&](const RowBlock& block) {
      const Kept kept = rows_and_hidden(o, round, block);
      std::byte *doutputs = scratch_at<std::byte>(o, space_.outputs),
                *gated = scratch_at<std::byte>(o, space_.gated),
                *dgated = scratch_at<std::byte>(o, space_.dgated),
                *dhidden = scratch_at<std::byte>(o, space_.dhidden),
                *product = scratch_at<std::byte>(o, space_.product);
      gather_rows({dy.from, dy.source + block.first, dy.divisor, block.rows, s_.row_bytes()}, doutputs,
                  threads_);
      to_gated_.run(doutputs, o.in<std::byte>(In::down) + block.expert * down_bytes_, dgated, block.rows,
                    product);
      parallel_for(threads_, block.rows, 4, [&](int64_t begin, int64_t end) {
        for (int64_t i = begin; i < end; ++i) {
          const int32_t weight = dy.weight_source[block.first + i];
          round.dweights[weight] = kernels_.backward(
              kept.hidden + i * 2 * s_.gated_bytes(), dgated + i * s_.gated_bytes(), dy.weights[weight],
              gated + i * s_.gated_bytes(), dhidden + i * 2 * s_.gated_bytes(), s_.ffn);
        }
      });
      const int64_t weights = s_.width * s_.ffn;
      if (auto* ddown = o.out<float>(Out::ddown); ddown != nullptr)
        ddown_.run(doutputs, gated, ddown + block.expert * weights, block.rows, product);
      if (auto* dgate_up = o.out<float>(Out::dgate_up); dgate_up != nullptr)
        dgate_up_.run(dhidden, kept.rows, dgate_up + block.expert * 2 * weights, block.rows, product);
      std::byte* drows =
          s_.ranks == 1 ? scratch_at<std::byte>(o, space_.slots) + block.first * s_.row_bytes() : doutputs;
      to_rows_.run(dhidden, o.in<std::byte>(In::gate_up) + block.expert * gate_up_bytes_, drows, block.rows,
                   product);
      if (s_.ranks > 1)
        scatter_rows(drows, dy.source + block.first, block.rows, s_.row_bytes(),
                     scratch_at<std::byte>(o, space_.arrived), threads_);
    });
  }

  int64_t gate_up_bytes_, down_bytes_, gate_up_forward_bytes_ = 0;  // of one expert
  RowProduct to_rows_, to_gated_;
  RowGradient dgate_up_, ddown_;
  std::optional<RowProduct> gate_up_;  // with rounds
  std::vector<int32_t> counts_;
};

}  // namespace

CpuKernel prepare_experts_grad(const OpSig& sig, const CpuContext& context) {
  // std::function copies its target: the copies share the products.
  const auto backward = std::make_shared<Backward>(sig, context);
  return [backward](const Operands& operands) { backward->run(operands); };
}

}  // namespace trireme
