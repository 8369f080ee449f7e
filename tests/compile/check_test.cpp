// check_program catches what a broken lowering or placement would do: each death is one kind of sabotage to a
// program that passes.
#include "lower/check.h"

#include <gtest/gtest.h>

#include <functional>

#include "compile/sabotage.h"
#include "compile/specs.h"

namespace trireme {
namespace {

using test::spec_of;

struct Sabotage : test::SabotageBase {
  Sabotage() : SabotageBase(compile(spec_of({}), {.threads = 2}).program) {}

  Unit& unit(const Action& a) { return program.units.at(static_cast<size_t>(a.unit.index)); }
};

void expect_caught(const std::function<void(Sabotage&)>& sabotage, const char* message) {
  test::expect_caught<Sabotage>(sabotage, message);
}

TEST(CheckProgram, Offsets) {
  expect_caught(
      [](Sabotage& s) {
        const Action& forward = s.action(ActionKind::forward, 1);
        s.buffer(forward.saved).offset = s.buffer(forward.workspace).offset;
      },
      "start at one place");
  expect_caught(
      [](Sabotage& s) {
        const Action& forward = s.action(ActionKind::forward, 1);
        s.buffer(forward.saved).offset = s.buffer(forward.workspace).offset + kBufferAlignment;
      },
      "overlap");
  expect_caught([](Sabotage& s) { s.buffer(s.program.groups[0].master).offset += 4; }, "offset");
  expect_caught([](Sabotage& s) { s.buffer(s.program.groups[0].master).offset = -kBufferAlignment; },
                "offset");
  expect_caught([](Sabotage& s) { s.program.memory.arena_bytes -= kBufferAlignment; }, "past the arena");
}

TEST(CheckProgram, Bindings) {
  const char* message = "has no memory";
  expect_caught([](Sabotage& s) { s.unit(s.action(ActionKind::optimizer)).bound[1] = {}; }, message);
  expect_caught([](Sabotage& s) { s.unit(s.action(ActionKind::forward, 1)).bound.assign(99, {}); }, message);
  expect_caught([](Sabotage& s) { s.action(ActionKind::forward, 2).inputs.clear(); }, message);
  expect_caught([](Sabotage& s) { s.action(ActionKind::backward, 1).saved = {}; }, message);
  // A later micro-batch is held to the same.
  expect_caught([](Sabotage& s) { s.action(ActionKind::forward, 6).outputs.clear(); }, message);
  expect_caught([](Sabotage& s) { s.action(ActionKind::forward, 6).workspace = {}; }, message);
  expect_caught([](Sabotage& s) { s.buffer(s.action(ActionKind::forward, 1).saved).bytes -= 64; },
                "reaches past");
  expect_caught([](Sabotage& s) { s.action(ActionKind::forward, 1).outputs[0].offset += 64; },
                "reaches past");
}

TEST(CheckProgram, Lifetimes) {
  const char* message = "outside its life";
  expect_caught([](Sabotage& s) { --s.buffer(s.action(ActionKind::forward, 1).saved).last.index; }, message);
  expect_caught([](Sabotage& s) { ++s.buffer(s.action(ActionKind::load, 1).batch).first.index; }, message);
  expect_caught([](Sabotage& s) { s.buffer(s.action(ActionKind::forward, 1).saved).timeline = 7; }, message);
}

TEST(CheckProgram, Contents) {
  const char* message = "read before it is written";
  // One layer's gradient is cleared twice and the other's never.
  expect_caught(
      [](Sabotage& s) {
        s.unit(s.action(ActionKind::zero, 3)).bound[0] = s.unit(s.action(ActionKind::zero, 2)).bound[0];
      },
      message);
  expect_caught([](Sabotage& s) { s.action(ActionKind::load, 0).batch = s.program.result; }, message);
}

TEST(CheckProgram, Order) {
  expect_caught(
      [](Sabotage& s) {
        std::swap(s.action(ActionKind::forward, 3).kind, s.action(ActionKind::backward, 0).kind);
      },
      "out of order");
  expect_caught([](Sabotage& s) { s.action(ActionKind::backward, 7).kind = ActionKind::prepare; },
                "has no backward");
  expect_caught([](Sabotage& s) { s.action(ActionKind::backward, 7) = s.action(ActionKind::backward, 6); },
                "out of order");
  expect_caught([](Sabotage& s) { s.action(ActionKind::forward, 1) = s.action(ActionKind::forward, 0); },
                "goes forward twice");
  expect_caught([](Sabotage& s) { s.action(ActionKind::load, 1) = s.action(ActionKind::load, 0); },
                "is loaded twice");
  expect_caught(
      [](Sabotage& s) { std::swap(s.actions()[s.at(ActionKind::load)], s.action(ActionKind::forward)); },
      "is not loaded");
}

TEST(CheckProgram, EveryCodeHasALayout) {
  expect_caught([](Sabotage& s) { s.program.layouts.pop_back(); }, "a code has no layout");
}

}  // namespace
}  // namespace trireme
