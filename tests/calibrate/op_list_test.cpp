// What is measured covers what runs: every op of a training step of the repository's configs has its curve,
// and curves of several dims are full grids.
#include "calibrate/op_list.h"

#include <gtest/gtest.h>

#include <map>
#include <set>
#include <string>

#include "compile/compile.h"
#include "ops/op_axis.h"
#include "sim/op_size.h"

namespace trireme {
namespace {

std::string key_of(const OpSig& sig) { return curve_of_op(sig) + " " + std::string(dtype_of_op(sig)); }

constexpr DType kComputes[] = {DType::f32, DType::bf16};

std::set<std::string> missing(const std::string& config, const std::vector<std::string>& overrides,
                              const std::set<std::string>& known) {
  const RunSpec spec = load_config(std::string(TRIREME_SOURCE_DIR) + "/configs/" + config, overrides);
  const Program program = compile(spec, {}).program;
  std::set<std::string> missed;
  for (const Action& action : find_timeline(program, "train")->actions) {
    if (!action.unit.valid()) continue;
    const Code& code = program.code(program.unit(action.unit).code);
    for (const Op* op : ops_of(code, section_of(action.kind))) {
      const OpSig sig = signature(*op, code.values);
      const bool moves_only =
          op->kind == "all_gather" || op->kind == "all_reduce" || op->kind == "reduce_scatter";
      if (!moves_only && !known.contains(key_of(sig))) missed.insert(key_of(sig));
    }
  }
  return missed;
}

TEST(OpList, EveryOpOfATrainingStepHasACurve) {
  std::set<std::string> known;
  for (const DType compute : kComputes) {
    const OpListOptions options{compute, Extent::quick, 1};
    for (const OpSig& sig : grid_ops(options)) known.insert(key_of(sig));
    for (const OpSig& sig : program_ops(options)) {
      EXPECT_FALSE(on_grid(sig)) << key_of(sig);
      known.insert(key_of(sig));
    }
  }
  const std::vector<std::vector<std::string>> layouts = {{},
                                                         {"precision.compute=fp32"},
                                                         {"parallel.dp_shard=2", "parallel.zero=3"},
                                                         {"parallel.pp=2", "parallel.schedule=zb_h1"}};
  for (const char* config : {"tiny.toml", "gpt2-124m.toml", "llama-small.toml", "qwen3-0.6b.toml",
                             "moe-tiny.toml", "deepseek-tiny.toml"})
    for (const auto& layout : layouts)
      EXPECT_EQ(missing(config, layout, known), std::set<std::string>()) << config;
  for (const char* parallel : {"parallel.tp=2", "parallel.cp=2"})
    for (const char* config : {"gpt2-124m.toml", "llama-small.toml", "moe-tiny.toml"})
      EXPECT_EQ(missing(config, {parallel}, known), std::set<std::string>()) << config << " " << parallel;
}

TEST(OpList, GridsAreFullAndNoSizeStandsTwice) {
  std::map<std::string, std::set<std::vector<int64_t>>> sizes;
  for (const DType compute : kComputes)
    for (const OpSig& sig : grid_ops({compute, Extent::full, 1})) {
      EXPECT_TRUE(on_grid(sig)) << key_of(sig);
      EXPECT_TRUE(sizes[key_of(sig)].insert(size_of_op(sig)).second) << key_of(sig);
    }
  for (const OpSig& sig : program_ops({DType::bf16, Extent::full, 1}))
    EXPECT_FALSE(on_grid(sig)) << key_of(sig);
  EXPECT_GE(sizes.size(), 14u);
  for (const auto& [key, points] : sizes) {
    std::vector<std::set<int64_t>> values(points.begin()->size());
    for (const auto& point : points)
      for (size_t d = 0; d < values.size(); ++d) values[d].insert(point[d]);
    size_t cells = 1;
    for (const auto& of_dim : values) cells *= of_dim.size();
    EXPECT_EQ(cells, points.size()) << key;
  }
}

}  // namespace
}  // namespace trireme
