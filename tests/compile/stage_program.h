// The program of a pipeline's middle stage, by hand: it receives, computes, sends and sums the loss.
#pragma once
#include "ir/program.h"

namespace trireme::test {

// Rank 1 of 3, with 10 elements in each transfer.
inline Program stage_program() {
  Program program;
  program.comms = {{"pp", 3, {0, 1, 2}}, {"0>1", 4, {0, 1}}, {"1>2", 4, {1, 2}}};
  program.codes.resize(1);
  program.units = {{.name = "layers.1", .code = CodeId(0), .bound = {}}};
  program.memory.buffers.resize(2);
  program.memory.buffers[0].name = "act/1";
  program.memory.buffers[1].name = "act/2";
  const auto transfer = [](CommOp op, int64_t comm, int64_t buffer) {
    Transfer moved{.op = op, .comm = CommId(comm), .from = {}, .to = {}, .count = 10};
    (op == CommOp::send ? moved.from : moved.to).buffer = BufferId(buffer);
    return moved;
  };
  Timeline timeline{.name = "train", .micro_batches = 1, .actions = std::vector<Action>(4)};
  timeline.actions[0] = {.kind = ActionKind::recv_act, .micro_batch = 0, .stream = Stream::p2p};
  timeline.actions[0].transfers = {transfer(CommOp::recv, 1, 0)};
  timeline.actions[1] = {.kind = ActionKind::forward, .unit = UnitId(0), .micro_batch = 0};
  timeline.actions[2] = {.kind = ActionKind::send_act, .micro_batch = 0, .stream = Stream::p2p};
  timeline.actions[2].transfers = {transfer(CommOp::send, 2, 1)};
  timeline.actions[3] = {.kind = ActionKind::reduce_loss, .stream = Stream::comm};
  timeline.actions[3].transfers = {transfer(CommOp::all_reduce, 0, 0)};
  program.timelines.push_back(timeline);
  return program;
}

}  // namespace trireme::test
