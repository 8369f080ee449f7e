// What each rank holds, by zero stage: the plan against the formulas, and the timelines that make them true.
#include <gtest/gtest.h>

#include <algorithm>

#include "compile/compile.h"
#include "dist/layout_run.h"
#include "ir/text.h"

namespace trireme {
namespace {

using test::Layout;
using test::name_of;
using test::RunForm;
using test::spec_of;

Program program_of(const RunForm& form, const Layout& layout, int rank) {
  CompileOptions options;
  options.rank = rank;
  options.eval_micro_batches = eval_micro_batches(spec_of(form, layout), 8);
  return compile(spec_of(form, layout), options).program;
}

// The most bytes of buffers of a class, with this in their names, that are alive at once in training.
int64_t most_alive(const Program& program, BufferClass cls, const std::string& part) {
  int64_t most = 0;
  const auto actions = static_cast<int32_t>(program.timelines.at(0).actions.size());
  for (int32_t now = 0; now < actions; ++now) {
    int64_t bytes = 0;
    for (const Buffer& b : program.memory.buffers)
      if (b.cls == cls && b.name.find(part) != std::string::npos &&
          (b.timeline < 0 || (b.timeline == 0 && b.first.index <= now && now <= b.last.index)))
        bytes += b.bytes;
    most = std::max(most, bytes);
  }
  return most;
}

struct Sizes {
  int64_t all = 0, largest = 0;  // elements of the groups, padded for the shards
  int64_t used = 0;              // the same, a group of two blocks twice: each has its own accumulator
};

Sizes sizes_of(const Program& program) {
  Sizes sizes;
  for (const ParamGroup& group : program.groups) {
    sizes.all += group.elements;
    sizes.used += group.name == "embed.weight" ? 2 * group.elements : group.elements;
    sizes.largest = std::max(sizes.largest, group.elements);
  }
  return sizes;
}

TEST(ShardedMemory, IsWhatTheFormulasSay) {
  for (const int64_t dp : {2, 4, 8})
    for (const int64_t zero : {0, 1, 2, 3})
      for (const int64_t sequences : {8, 16}) {
        const Layout layout{.shard = dp, .zero = zero, .lanes = dp};
        SCOPED_TRACE(name_of(layout));
        const bool accumulates = sequences > dp;
        for (int rank = 0; rank < dp; ++rank) {
          const Program p = program_of({.sequences = sequences}, layout, rank);
          const Sizes sizes = sizes_of(p);
          const int64_t part = zero > 0 ? dp : 1;
          EXPECT_EQ(most_alive(p, BufferClass::master, ""), 4 * sizes.all / part);
          EXPECT_EQ(most_alive(p, BufferClass::moment, ""), 8 * sizes.all / part);
          const int64_t shards = most_alive(p, BufferClass::gradient, "_shard");
          // Those of a last rank that are padding alone are not kept for the update.
          EXPECT_LE(shards, zero >= 2 ? 4 * sizes.used / dp : 0);
          if (rank == 0) {
            EXPECT_EQ(shards, zero >= 2 ? 4 * sizes.used / dp : 0);
          }
          const int64_t whole = most_alive(p, BufferClass::gradient, "") - shards;
          // Short-lived ones: a block's, the next one's, and a shared embedding's.
          const int64_t short_lived = 3 * 4 * sizes.largest;
          if (zero < 2) {
            EXPECT_EQ(whole, 4 * sizes.used);
          } else if (!accumulates) {
            EXPECT_LE(whole, short_lived);
          }
          if (zero == 3) {  // a step's weights, and those of the next one
            EXPECT_LE(most_alive(p, BufferClass::compute, ""), short_lived);
          }
        }
      }
}

// With it, accumulation keeps no whole gradient: shards alone, of the sum and of what was just reduced.
TEST(ShardedMemory, EachMicroBatchReducedKeepsNoWholeGradient) {
  const Layout layout{.shard = 4, .zero = 2, .lanes = 4, .each_micro_batch = true};
  const Program p = program_of({.sequences = 32}, layout, 0);
  const Sizes sizes = sizes_of(p);
  const int64_t shards = most_alive(p, BufferClass::gradient, "_shard");
  EXPECT_LE(shards, 4 * sizes.used / 4 + 4 * 4 * sizes.largest / 4);
  EXPECT_LE(most_alive(p, BufferClass::gradient, "") - shards, 3 * 4 * sizes.largest);
}

TEST(ShardedMemory, LanesCostALogarithmOfAccumulators) {
  const Program one = program_of({}, {.lanes = 1}, 0), eight = program_of({}, {.lanes = 8}, 0);
  EXPECT_EQ(most_alive(eight, BufferClass::gradient, ""), 4 * most_alive(one, BufferClass::gradient, ""));
}

TEST(ShardedPrograms, ParseBackEqualOnEveryRank) {
  for (const int64_t zero : {0, 1, 2, 3})
    for (int rank = 0; rank < 4; ++rank) {
      const Program p = program_of({.compute = "bf16"}, {.replicate = 2, .shard = 2, .zero = zero}, rank);
      EXPECT_TRUE(parse_program(to_text(p)) == p);
    }
}

// Shards are disjoint and together whole.
TEST(ShardedPrograms, ShardsCoverEveryGroupOnce) {
  for (const int64_t zero : {1, 2, 3}) {
    const Layout layout{.replicate = 2, .shard = 4, .zero = zero};
    std::vector<int64_t> next;
    for (int rank = 0; rank < 8; ++rank) {
      const Program p = program_of({}, layout, rank);
      if (rank % 4 == 0) next.assign(p.groups.size(), 0);
      for (size_t g = 0; g < p.groups.size(); ++g) {
        EXPECT_EQ(p.groups[g].shard_begin, next[g]);
        EXPECT_EQ(p.groups[g].shard_begin % kParamAlignment, 0);
        next[g] += p.groups[g].shard_elements;
        if (rank % 4 == 3) {
          EXPECT_EQ(next[g], p.groups[g].elements);
        }
      }
    }
  }
}

// The gather of a block's weights is on its way before the block ahead of it computes.
TEST(ShardedPrograms, GathersRunAStepAhead) {
  const Program p = program_of({}, {.shard = 2, .zero = 3}, 0);
  const std::vector<Action>& actions = p.timelines.at(0).actions;
  int overlapped = 0, gathers = 0;
  for (size_t i = 0; i < actions.size(); ++i) {
    if (actions[i].kind != ActionKind::gather_params) continue;
    ++gathers;
    for (size_t k = i + 1; k < actions.size(); ++k) {
      if (std::count(actions[k].waits.begin(), actions[k].waits.end(), ActionId(static_cast<int64_t>(i))) > 0)
        break;
      if (actions[k].kind != ActionKind::forward && actions[k].kind != ActionKind::backward) continue;
      ++overlapped;
      break;
    }
  }
  EXPECT_GT(gathers, 10);
  EXPECT_GE(overlapped, gathers - 2) << "but for the first step's own";
}

}  // namespace
}  // namespace trireme
