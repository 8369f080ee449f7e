// Boxes of a rank's slice and shard, by hand. That all ranks of a layout together have every element, and
// write it once, is tests/dist/written_boxes_test.cpp.
#include "ir/state_boxes.h"

#include <gtest/gtest.h>

namespace trireme {
namespace {

// One parameter in a group of its own.
Program program_of(const ParamUse& use, const Shape& whole, const Mesh& mesh, int32_t rank) {
  Program program;
  program.mesh = mesh;
  program.rank = rank;
  const ParamAxes axes{.tp = mesh.tp,
                       .tp_rank = mesh.tp_index(rank),
                       .ep = mesh.ep,
                       .ep_rank = mesh.ep_index(rank),
                       .etp = mesh.etp};
  Param param{.name = "w", .shape = whole, .role = use.role, .cut = cut_param(use, whole, axes)};
  param.group = GroupId(0);
  ParamGroup group{.name = "g"};
  group.elements = group.shard_elements = count(param.cut.shape);
  program.params.push_back(param);
  program.groups.push_back(group);
  return program;
}

std::vector<StateBox> boxes(const Program& program) { return held_boxes(program, ParamId(0)); }

TEST(StateBoxes, AWholeParameterIsOneBox) {
  EXPECT_EQ(boxes(program_of({}, {4, 6}, {}, 0)), (std::vector<StateBox>{{{0, 0}, {4, 6}, 0, 24, 0}}));
}

TEST(StateBoxes, PartsThatAreCutByThemselvesAreBoxesOfTheirOwn) {
  const ParamUse qkv{ParamRole::column, {8, 4, 4}, 1};
  EXPECT_EQ(boxes(program_of(qkv, {16, 3}, {.tp = 2}, 1)),
            (std::vector<StateBox>{
                {{4, 0}, {4, 3}, 0, 12, 0}, {{10, 0}, {2, 3}, 0, 6, 12}, {{14, 0}, {2, 3}, 0, 6, 18}}));
}

TEST(StateBoxes, ColumnsOfARowCutAreOneBox) {
  EXPECT_EQ(boxes(program_of({ParamRole::row, {}, 1}, {4, 6}, {.tp = 2}, 1)),
            (std::vector<StateBox>{{{0, 3}, {4, 3}, 0, 12, 0}}));
}

TEST(StateBoxes, GateAndUpOfEveryExpertLieBetweenEachOther) {
  const ParamUse up{ParamRole::expert_column, {4, 4}, 1};
  const Program program = program_of(up, {4, 8, 2}, {.dp_shard = 2, .tp = 2, .ep = 2, .etp = 2}, 3);
  EXPECT_EQ(boxes(program), (std::vector<StateBox>{{{2, 2, 0}, {1, 2, 2}, 0, 4, 0},
                                                   {{2, 6, 0}, {1, 2, 2}, 0, 4, 4},
                                                   {{3, 2, 0}, {1, 2, 2}, 0, 4, 8},
                                                   {{3, 6, 0}, {1, 2, 2}, 0, 4, 12}}));
}

TEST(StateBoxes, RowsBeyondTheVocabularyAreNobodys) {
  const ParamUse table{ParamRole::vocabulary, {}, 1};
  EXPECT_EQ(boxes(program_of(table, {5, 2}, {.tp = 4}, 2)),
            (std::vector<StateBox>{{{4, 0}, {1, 2}, 0, 2, 0}}));
  EXPECT_TRUE(boxes(program_of(table, {5, 2}, {.tp = 4}, 3)).empty());
}

TEST(StateBoxes, AShardHasElementsOfBoxes) {
  Program program = program_of({ParamRole::column, {8, 4, 4}, 1}, {16, 3}, {.tp = 2}, 1);
  program.groups[0].shard_begin = 10;
  program.groups[0].shard_elements = 6;
  EXPECT_EQ(boxes(program), (std::vector<StateBox>{{{4, 0}, {4, 3}, 10, 12, 0}, {{10, 0}, {2, 3}, 0, 4, 2}}));
  program.groups[0].shard_elements = 0;
  EXPECT_TRUE(boxes(program).empty());
}

TEST(StateBoxes, ReplicasAreWhoHasTheSame) {
  const Mesh mesh{.pp = 2, .dp_replicate = 2, .dp_shard = 3, .cp = 2, .tp = 2, .ep = 3};
  const auto of = [&](const ParamUse& use, const Shape& shape, int32_t rank, int64_t parts) {
    Program program = program_of(use, shape, mesh, rank);
    program.groups[0].elements *= parts;  // a shard, where more than one
    return replicas_of(program, ParamId(0));
  };
  const ParamUse column{ParamRole::column, {}, 1}, expert{ParamRole::expert_column, {}, 1};
  EXPECT_EQ(of({}, {12}, 0, 1), (Replicas{24, 0}));
  EXPECT_EQ(of({}, {12}, 23, 1), (Replicas{24, 23}));
  EXPECT_EQ(of(column, {12}, 23, 1), (Replicas{12, 11}));
  EXPECT_EQ(of(column, {12}, 23, 6), (Replicas{2, 1}));
  EXPECT_EQ(of(expert, {3, 4, 2}, 0, 1), (Replicas{8, 0}));  // 2 x (6 shards / 3 in ep) x 2 of tp
  EXPECT_EQ(of(expert, {3, 4, 2}, 23, 1), (Replicas{8, 7}));
  EXPECT_EQ(of(expert, {3, 4, 2}, 23, 2), (Replicas{4, 3}));
}

TEST(StateBoxes, ReplicasShareWhatIsLargeAndTakeTurnsWithWhatIsSmall) {
  const Mesh mesh{.dp_replicate = 2};
  const Shape large{1 << 10, 1 << 10};
  for (const int32_t rank : {0, 1})
    EXPECT_EQ(
        written_boxes(program_of({}, large, mesh, rank), ParamId(0)),
        (std::vector<StateBox>{{{0, 0}, large, rank * (1 << 19), (rank + 1) * (1 << 19), rank * (1 << 19)}}));
  EXPECT_EQ(written_elements(program_of({}, {100}, mesh, 0)), 100);
  EXPECT_EQ(written_elements(program_of({}, {100}, mesh, 1)), 0);
}

}  // namespace
}  // namespace trireme
