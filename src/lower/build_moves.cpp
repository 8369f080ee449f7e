// Sends and receives between stages, as stage_moves.h has found them.
#include <fmt/format.h>

#include "base/error.h"
#include "lower/timeline_builder.h"

namespace trireme {

void TimelineBuilder::start_moves(const Schedule& schedule) { moves_ = moves_of(schedule, plan_.map.rank); }

// The block whose output passes, or whose output's gradient.
size_t TimelineBuilder::boundary_of(const Move& move) const {
  return plan_.map.stages[static_cast<size_t>(move.stage)].end - 1;
}

ActionId TimelineBuilder::move(ActionKind kind, CommOp op, int32_t peer, int32_t micro_batch,
                               const Location& at, const TensorType& type) {
  const std::pair link =
      op == CommOp::send ? std::pair(plan_.map.rank, peer) : std::pair(peer, plan_.map.rank);
  Action action;
  action.kind = kind;
  action.stream = Stream::p2p;
  action.micro_batch = micro_batch;
  action.transfers = {{.op = op,
                       .comm = plan_.comms.links.at(link),
                       .from = at,
                       .to = at,
                       .count = count(type.shape),
                       .dtype = type.dtype}};
  std::vector<Action>& actions = program_.timelines[static_cast<size_t>(timeline_)].actions;
  actions.push_back(std::move(action));
  return ActionId(static_cast<int64_t>(actions.size()) - 1);
}

void TimelineBuilder::ask(size_t row) {
  for (const Move& asked : moves_[row].asks) {
    const size_t b = boundary_of(asked);
    const bool output = asked.kind == Move::Kind::output;
    // Named and typed by the block on this side of the boundary.
    const ChainBlock& block = (*chain_)[output ? b + 1 : b];
    const ValueRole role = output ? ValueRole::input : ValueRole::output_grad;
    MicroBatch& mb = micro_batches_[static_cast<size_t>(asked.micro_batch)];
    std::vector<Location>& places = output ? mb.activations[b] : mb.gradients[b];
    places =
        boundary(fmt::format("{}.{}/{}", block.name, asked.micro_batch, output ? "input" : "output_grad"),
                 block.code, role);
    const Code& code = program_.code(block.code);
    const std::vector<ValueId> values = values_with(code.values, role);
    for (size_t i = 0; i < places.size(); ++i)
      mb.arriving[{asked.kind, b}].push_back(move(output ? ActionKind::recv_act : ActionKind::recv_grad,
                                                  CommOp::recv, asked.peer, asked.micro_batch, places[i],
                                                  code.value(values[i]).type));
  }
}

void TimelineBuilder::send(size_t row) {
  for (const SendMove& sent : moves_[row].sends) {
    const size_t b = boundary_of(sent);
    const bool output = sent.kind == Move::Kind::output;
    const MicroBatch& mb = micro_batches_[static_cast<size_t>(sent.micro_batch)];
    const Code& code = program_.code((*chain_)[output ? b : b + 1].code);
    const std::vector<ValueId> values =
        values_with(code.values, output ? ValueRole::output : ValueRole::input_grad);
    const std::vector<Location>& places = output ? mb.activations[b] : mb.gradients[b];
    for (size_t i = 0; i < places.size(); ++i)
      sent_.push_back({move(output ? ActionKind::send_act : ActionKind::send_grad, CommOp::send, sent.peer,
                            sent.micro_batch, places[i], code.value(values[i]).type),
                       sent.joined});
  }
}

// All rows are over: whoever is to receive comes to it without this rank.
void TimelineBuilder::finish_moves() { take_due(sent_, moves_.size()); }

}  // namespace trireme
