// check_program catches what a broken lowering of communication would do.
#include "lower/check.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>

#include "compile/compile.h"
#include "compile/sabotage.h"
#include "dist/layout_run.h"

namespace trireme {
namespace {

Program sound() {
  return compile(test::spec_of({.compute = "bf16", .sequences = 8},
                               {.replicate = 2, .shard = 2, .zero = 3, .lanes = 4}),
                 {.rank = 1})
      .program;
}

struct Sabotage : test::SabotageBase {
  Sabotage() : SabotageBase(sound()) {}

  Transfer& transfer(ActionKind kind) { return action(kind, 1).transfers.at(0); }
  // Nothing waits for the comm action any more, nor for one after it.
  void forget(size_t comm) {
    for (Action& action : actions())
      std::erase_if(action.waits, [&](ActionId id) { return id.index >= static_cast<int32_t>(comm); });
  }
};

void expect_caught(const std::function<void(Sabotage&)>& sabotage, const char* message) {
  test::expect_caught<Sabotage>(sabotage, message);
}

TEST(CheckComm, WhatACommActionHasIsLeftAlone) {
  expect_caught([](Sabotage& s) { s.forget(s.at(ActionKind::gather_params, 1)); },
                "while a comm action has it");
  expect_caught([](Sabotage& s) { s.forget(s.at(ActionKind::gather_norm)); }, "while a comm action has it");
}

TEST(CheckComm, BuffersOutliveTheCommActionsThatHaveThem) {
  expect_caught(
      [](Sabotage& s) {
        const size_t reduce = s.at(ActionKind::reduce_grad, 1);
        s.buffer(s.actions()[reduce].transfers[0].from.buffer).last = ActionId(static_cast<int64_t>(reduce));
      },
      "dies before a comm action is done");
}

TEST(CheckComm, TransfersStayWithinMemoryThatWasWritten) {
  const auto gather = ActionKind::gather_params, reduce = ActionKind::reduce_grad;
  expect_caught([=](Sabotage& s) { s.transfer(gather).count *= 2; }, "reaches past");
  expect_caught([=](Sabotage& s) { s.transfer(gather).to.offset += 64; }, "reaches past");
  expect_caught([=](Sabotage& s) { s.transfer(reduce).count *= 2; }, "reaches past");
  expect_caught([=](Sabotage& s) { s.transfer(gather).from = {}; }, "has no memory");
  expect_caught([=](Sabotage& s) { s.transfer(gather).from.offset = 0; }, "read before it is written");
  expect_caught([=](Sabotage& s) { s.actions()[s.at(gather, 1)].transfers.clear(); },
                "not made of transfers");
}

TEST(CheckComm, OnlyEarlierCommActionsAreWaitedFor) {
  expect_caught([](Sabotage& s) { s.actions()[s.at(ActionKind::forward)].waits = {ActionId(0)}; },
                "no earlier comm action");
  expect_caught(
      [](Sabotage& s) {
        const auto norm = static_cast<int64_t>(s.at(ActionKind::gather_norm));
        s.actions()[s.at(ActionKind::forward)].waits = {ActionId(norm)};
      },
      "no earlier comm action");
}

}  // namespace
}  // namespace trireme
