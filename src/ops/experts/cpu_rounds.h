// What forward and backward have in common: the rows of a rank's tokens, sorted by expert, are worked off
// where they lie, or travel to their experts' ranks in rounds.
#pragma once
#include <algorithm>
#include <string_view>
#include <vector>

#include "comm/axis_comm.h"
#include "ops/experts/cpu_exchange.h"
#include "ops/experts/cpu_rows.h"

namespace trireme {

class ExpertRounds {
 public:
  ExpertRounds(const ExpertsSizes& sizes, const ExpertsSpace& space, const CpuContext& context)
      : s_(sizes),
        space_(space),
        threads_(context.threads),
        kernels_(pick_gate_kernels(sizes.dtype, context.isa)),
        rounds_(s_),
        exchange_(s_, rounds_),
        rows_of_expert_(static_cast<size_t>(sizes.owned)) {}
  ExpertRounds(const ExpertRounds&) = delete;  // the exchange points at the rest
  ExpertRounds& operator=(const ExpertRounds&) = delete;

 protected:
  using In = ExpertsIn;  // the first operands of backward too, with dy in x's place

  Slots sorted(const Operands& o, int32_t* counts) const {
    const Slots slots{scratch_at<int32_t>(o, space_.slot_of_choice),
                      scratch_at<int32_t>(o, space_.choice_of_slot), scratch_at<int32_t>(o, space_.starts)};
    sort_choices(s_, o.in<int32_t>(In::ids), slots, counts);
    return slots;
  }

  // All rows of a rank that is alone.
  RoundRows rows_here(const Operands& o, const Slots& slots, const int32_t* counts) {
    std::copy(counts, counts + s_.owned, rows_of_expert_.begin());
    return {.from = o.in<std::byte>(In::x),
            .source = slots.choice_of_slot,
            .divisor = s_.top_k,
            .weights = o.in<float>(In::weights),
            .weight_source = slots.choice_of_slot};
  }

  // Rows that travel, by slot where they leave from and as they arrive; in scratch.
  struct Travel {
    std::byte *out = nullptr, *arrived = nullptr;
    float *weights_out = nullptr, *weights = nullptr;
    Gather tokens;  // what lies at `out`, by slot
  };
  Travel pack_up(const Operands& o, const Slots& slots, const int32_t* plan) {
    rounds_.set_plan(plan);
    const int64_t mine = rounds_.first_slot(s_.rank, s_.ranks);
    const Travel travel{
        .out = scratch_at<std::byte>(o, space_.slots),
        .arrived = scratch_at<std::byte>(o, space_.arrived),
        .weights_out = scratch_at<float>(o, space_.slot_weights),
        .weights = scratch_at<float>(o, space_.arrived_weights),
        .tokens = {o.in<std::byte>(In::x), slots.choice_of_slot, s_.top_k, mine, s_.row_bytes()}};
    gather_rows(travel.tokens, travel.out, threads_);
    for (int64_t i = 0; i < mine; ++i)
      travel.weights_out[i] = o.in<float>(In::weights)[slots.choice_of_slot[i]];
    return travel;
  }
  RoundRows receive(const Operands& o, const Travel& travel, int64_t round, std::string_view what) {
    Communicator& ranks = *o.comm->ranks;
    exchange_.send(ranks, round, travel.out, travel.arrived, s_.row_bytes(), what);
    exchange_.send(ranks, round, travel.weights_out, travel.weights, 4, "weights to experts");
    auto* source = scratch_at<int32_t>(o, space_.source);
    rounds_.sort_arrived(round, rows_of_expert_.data(), source);
    return {travel.arrived, source, 1, travel.weights, source};
  }

  ExpertsSizes s_;
  ExpertsSpace space_;
  int threads_;
  GateKernels kernels_;
  Rounds rounds_;
  RowExchange exchange_;
  std::vector<int64_t> rows_of_expert_;  // of the round at hand
};

}  // namespace trireme
