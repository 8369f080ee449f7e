// The drawing of hand-made steps, cell by cell.
#include "sim/draw.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace trireme {
namespace {

using testing::HasSubstr;

struct Drawn {
  SimulationInput input;
  StepSimulation step;
};

struct Piece {
  ActionKind kind;
  int32_t micro_batch;
  double start_s, end_s;
  Stream stream = Stream::compute;
};

void add_rank(Drawn& drawn, const std::vector<Piece>& pieces) {
  Program program;
  program.units = {{.name = "layers.0", .code = {}, .bound = {}}};
  Timeline timeline{.name = "train", .micro_batches = 1, .actions = {}};
  SimRank rank{.rank = static_cast<int32_t>(drawn.step.ranks.size()), .program = drawn.input.programs.size()};
  for (const Piece& piece : pieces) {
    rank.spans.push_back({timeline.actions.size(), piece.start_s, piece.end_s, piece.start_s});
    timeline.actions.push_back(
        {.kind = piece.kind, .unit = UnitId(0), .micro_batch = piece.micro_batch, .stream = piece.stream});
  }
  program.timelines.push_back(timeline);
  drawn.input.programs.push_back(program);
  drawn.step.ranks.push_back(rank);
}

constexpr ActionKind kForward = ActionKind::forward, kBackward = ActionKind::backward;

// Two ranks in 33 columns of a second each.
Drawn two_ranks() {
  Drawn drawn;
  drawn.step.step_s = 33;
  add_rank(drawn, {{kForward, 0, 0, 3},
                   {kForward, 0, 3, 5},  // of its second layer
                   {kForward, 12, 5, 10},
                   {ActionKind::recv_grad, 0, 16, 18, Stream::p2p},
                   {kBackward, 0, 18, 26},
                   {ActionKind::norm_partial, -1, 26, 28},
                   {ActionKind::optimizer, -1, 28, 33}});
  add_rank(drawn, {{ActionKind::load, 0, 0, 1},
                   {kForward, 0, 6, 10},
                   {ActionKind::backward_input, 0, 10, 13},
                   {ActionKind::backward_weight, 1, 13, 16},
                   {ActionKind::backward_input, 2, 16, 18},
                   {ActionKind::backward_weight, 2, 18, 20}});
  return drawn;
}

TEST(SimulatedDrawing, OneColumnPerPartOfTheStep) {
  const Drawn drawn = two_ranks();
  EXPECT_EQ(draw(drawn.input, drawn.step, {.columns = 40}),
            "rank 0 F0---F12--......::B0======U######\n"
            "rank 1 +.....F0--I0=W1~B2==.............\n"
            "F- forward  B= backward  I= backward's input part  W~ its weight part  U# norm and update  "
            "++ other  :: communication alone  .. waits for another rank\n");
}

TEST(SimulatedDrawing, WhatIsTooShortForItsNumberHasItsLetter) {
  Drawn drawn;
  drawn.step.step_s = 33;
  add_rank(drawn, {{kForward, 10, 0, 2}, {kForward, 11, 2, 33}});
  EXPECT_THAT(draw(drawn.input, drawn.step, {.columns = 40}), HasSubstr("rank 0 F-F11--"));
}

TEST(SimulatedDrawing, WhatIsTooShortForAColumnDoesNotCutAStretch) {
  Drawn drawn;
  drawn.step.step_s = 33;
  add_rank(
      drawn,
      {{kForward, 0, 0, 3}, {ActionKind::prepare, -1, 3, 3.1}, {kForward, 0, 3.1, 6}, {kForward, 1, 6, 33}});
  EXPECT_THAT(draw(drawn.input, drawn.step, {.columns = 40}), HasSubstr("rank 0 F0----F1--"));
}

TEST(SimulatedDrawing, AColumnShowsWhatMostOfItGoesTo) {
  Drawn drawn;
  drawn.step.step_s = 33;
  add_rank(drawn, {{kForward, 0, 0, 0.6}, {kBackward, 0, 0.6, 1.4}, {kForward, 1, 1.4, 33}});
  EXPECT_THAT(draw(drawn.input, drawn.step, {.columns = 40}), HasSubstr("rank 0 FF1--"));
}

TEST(SimulatedDrawing, OfManyMicroBatchesTheBeginningAndTheEnd) {
  Drawn drawn;
  drawn.step.step_s = 1000;
  std::vector<Piece> pieces;
  for (int32_t mb = 0; mb < 100; ++mb) {
    pieces.push_back({kForward, mb, 10.0 * mb, 10.0 * mb + 4});
    pieces.push_back({kBackward, mb, 10.0 * mb + 4, 10.0 * mb + 10});
  }
  add_rank(drawn, pieces);
  EXPECT_THAT(draw(drawn.input, drawn.step, {.columns = 40}),
              testing::StartsWith("from 0 to 33 s of 1000:\n"
                                  "rank 0 F0--B0====F1--B1====F2--B2====F3-\n"
                                  "from 967 to 1000 s of 1000:\n"
                                  "rank 0 B96F97-B97===F98-B98===F99-B99===\n"));
}

TEST(SimulatedDrawing, Colors) {
  const Drawn drawn = two_ranks();
  EXPECT_THAT(draw(drawn.input, drawn.step, {.columns = 40, .paint = Paint::colors}),
              HasSubstr("rank 0 \x1b[34mF0---\x1b[0m\x1b[34mF12--\x1b[0m\x1b[90m......\x1b[0m"));
}

TEST(SimulatedDrawing, TheTableHasWhatSomeRankHas) {
  Drawn drawn = two_ranks();
  drawn.step.ranks[0].stands_for = 4;
  drawn.step.ranks[0].parts[static_cast<size_t>(TimePart::compute)] = 0.5 * 33;
  drawn.step.ranks[1].parts[static_cast<size_t>(TimePart::bubble)] = 0.25 * 33;
  EXPECT_EQ(rank_table(drawn.input, drawn.step),
            "  rank of ranks    compute     bubble  in flight    activations\n"
            "     0        4     50.0 %      0.0 %          2        0.00 GB\n"
            "     1        1      0.0 %     25.0 %          1        0.00 GB\n");
}

}  // namespace
}  // namespace trireme
