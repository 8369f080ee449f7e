// The parts are the plan's own buffers, each in one part.
#include "plan/rank_memory.h"

#include <gtest/gtest.h>

#include "plan/cases.h"
#include "sim/simulate.h"

namespace trireme {
namespace {

std::vector<Program> programs(const std::vector<std::string>& overrides) {
  CompileOptions options;
  options.weights = WeightForm::plain;
  return pipeline_programs(test::small_run(overrides), options);
}

int64_t of_class(const RankMemory& memory, BufferClass cls) {
  return memory.peak.bytes[static_cast<size_t>(cls)];
}

TEST(RankMemory, PartsAddUpToArenaAndOverhead) {
  for (const auto& overrides :
       std::vector<std::vector<std::string>>{{},
                                             {"precision.compute=fp32"},
                                             {"parallel.dp_shard=4", "parallel.zero=3"},
                                             {"parallel.pp=4", "parallel.schedule=zb_h1"},
                                             {"parallel.pp=2", "parallel.tp=2", "parallel.recompute=full"},
                                             {"checkpoint.async=false"}})
    for (const Program& program : programs(overrides)) {
      const RankMemory memory = memory_of(program, 1000);
      EXPECT_EQ(memory.total_bytes(), program.memory.arena_bytes + 1000);
      EXPECT_EQ(memory.part(MemoryPart::overhead), 1000);
      EXPECT_EQ(memory.part(MemoryPart::master), of_class(memory, BufferClass::master));
      EXPECT_EQ(memory.part(MemoryPart::moments), of_class(memory, BufferClass::moment));
      EXPECT_EQ(memory.part(MemoryPart::gradients), of_class(memory, BufferClass::gradient));
      EXPECT_EQ(memory.part(MemoryPart::saved),
                of_class(memory, BufferClass::saved) + of_class(memory, BufferClass::held));
      EXPECT_EQ(memory.part(MemoryPart::activations) + memory.part(MemoryPart::communication),
                of_class(memory, BufferClass::activation));
      EXPECT_GE(memory.part(MemoryPart::gaps), 0);
      EXPECT_EQ(memory.rank, program.rank);
    }
}

TEST(RankMemory, StagesTalkAndOneRankDoesNot) {
  EXPECT_EQ(memory_of(programs({})[0], 0).part(MemoryPart::communication), 0);
  int64_t most = 0;
  for (const Program& program : programs({"parallel.pp=4"}))
    most = std::max(most, memory_of(program, 0).part(MemoryPart::communication));
  EXPECT_GT(most, 0);
  EXPECT_EQ(memory_of(programs({"parallel.pp=4"})[3], 0).stage_rank, 3);
}

TEST(RankMemory, SaysWhenItIsFullest) {
  const RankMemory memory = memory_of(programs({})[0], 0);
  EXPECT_NE(memory.when.find("timeline train, action "), std::string::npos) << memory.when;
  EXPECT_NE(memory.when.find("backward"), std::string::npos) << memory.when;
}

TEST(RankMemory, StagingGoesWithAsynchronousSaves) {
  EXPECT_GT(memory_of(programs({})[0], 0).part(MemoryPart::staging), 0);
  EXPECT_EQ(memory_of(programs({"checkpoint.async=false"})[0], 0).part(MemoryPart::staging), 0);
}

}  // namespace
}  // namespace trireme
