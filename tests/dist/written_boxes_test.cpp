// All ranks of a layout together: who has what of the state, and who writes it.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "compile/compile.h"
#include "dist/layout_run.h"
#include "dist/parity_forms.h"
#include "io/checkpoint/box_runs.h"
#include "ir/state_boxes.h"

namespace trireme::test {
namespace {

// How many ranks write an element, of every parameter; and how many bytes each rank does.
void expect_each_element_once(const RunForm& form, const Layout& layout) {
  SCOPED_TRACE(name_of(layout));
  const RunSpec spec = spec_of(form, layout);
  std::vector<std::vector<int>> writers;
  std::vector<std::vector<int>> holders;
  std::vector<int64_t> elements;
  for (int rank = 0; rank < layout.ranks(); ++rank) {
    const Program program = compile(spec, {.rank = rank, .threads = 1}).program;
    writers.resize(program.params.size());
    holders.resize(program.params.size());
    elements.push_back(written_elements(program));
    const int64_t staging = program.staging.valid() ? program.buffer(program.staging).bytes : 0;
    EXPECT_EQ(staging, 3 * 4 * elements.back());
    for (size_t i = 0; i < program.params.size(); ++i) {
      const Shape& shape = program.params[i].shape;
      const auto add = [&](std::vector<int>& counts, const std::vector<StateBox>& boxes) {
        counts.resize(static_cast<size_t>(count(shape)));
        for (const StateBox& box : boxes)
          for (const BoxRun& run : overlap_of({box.offset, box.shape, box.first, box.last}, whole_of(shape)))
            for (int64_t e = run.to; e < run.to + run.count; ++e) ++counts[static_cast<size_t>(e)];
      };
      add(writers[i], written_boxes(program, ParamId(static_cast<int64_t>(i))));
      add(holders[i], held_boxes(program, ParamId(static_cast<int64_t>(i))));
    }
  }
  for (const std::vector<int>& counts : writers)
    EXPECT_TRUE(std::ranges::all_of(counts, [](int n) { return n == 1; }));
  for (const std::vector<int>& counts : holders)
    EXPECT_TRUE(std::ranges::all_of(counts, [](int n) { return n >= 1; }));
}

TEST(WrittenBoxes, EveryElementOnceUnderDataParallelAndPipelines) {
  for (const char* family : {"gpt2", "llama"})
    for (const int64_t zero : {0, 1, 3}) {
      expect_each_element_once({.family = family}, {.replicate = 2, .shard = 2, .zero = zero});
      expect_each_element_once({.family = family}, {.shard = 2, .zero = zero, .pp = 2});
      expect_each_element_once({.family = family, .layers = 6},
                               {.shard = 2, .zero = zero, .pp = 2, .schedule = "dualpipe"});
    }
}

TEST(WrittenBoxes, EveryElementOnceInsideLayers) {
  expect_each_element_once(deepseek_form(), {.shard = 2, .zero = 1, .pp = 2, .ep = 2});
  for (const int64_t zero : {0, 1, 3}) {
    expect_each_element_once({}, {.shard = 2, .zero = zero, .pp = 2, .tp = 2});
    expect_each_element_once({.family = "llama"}, {.zero = zero, .tp = 2, .cp = 2});
    for (const int64_t etp : {1, 2})
      expect_each_element_once(mixtral_form(),
                               {.replicate = 2, .shard = 4, .zero = zero, .tp = 2, .ep = 2, .etp = etp});
  }
}

TEST(WrittenBoxes, ReplicasWriteAlike) {
  const RunSpec spec = parse_config(
      "[model]\npreset = \"gpt2-124m\"\n[data]\ntrain = [\"x\"]\nseq_len = 64\n[batch]\nsequences = 8\nmicro "
      "= 1\n"
      "[optimizer]\nlr = 1e-3\n[run]\nname = \"a\"\nsteps = 1\n[parallel]\ndp_replicate = 4\n",
      "test");
  std::vector<int64_t> elements;
  for (int rank = 0; rank < 4; ++rank)
    elements.push_back(written_elements(compile(spec, {.rank = rank, .threads = 1}).program));
  const auto [least, most] = std::ranges::minmax(elements);
  EXPECT_LT(static_cast<double>(most - least), 0.01 * static_cast<double>(most));
}

}  // namespace
}  // namespace trireme::test
