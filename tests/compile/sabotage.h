// A sound program to break, and the expectation that check_program notices.
#pragma once
#include <gtest/gtest.h>

#include <utility>
#include <vector>

#include "lower/check.h"

namespace trireme::test {

struct SabotageBase {
  explicit SabotageBase(Program sound) : program(std::move(sound)) {}

  std::vector<Action>& actions() { return program.timelines.at(0).actions; }
  // The n-th action of a kind.
  size_t at(ActionKind kind, int n = 0) {
    for (size_t i = 0; i < actions().size(); ++i)
      if (actions()[i].kind == kind && n-- == 0) return i;
    ADD_FAILURE() << "no such action";
    return 0;
  }
  Action& action(ActionKind kind, int n = 0) { return actions()[at(kind, n)]; }
  Buffer& buffer(BufferId id) { return program.memory.buffers.at(static_cast<size_t>(id.index)); }

  Program program;
};

template <class Sabotage, class Break>
void expect_caught(const Break& breaks, const char* message) {
  Sabotage s;
  check_program(s.program);
  breaks(s);
  EXPECT_DEATH(check_program(s.program), message);
}

}  // namespace trireme::test
