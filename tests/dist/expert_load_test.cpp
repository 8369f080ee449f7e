// How many tokens chose each expert is counted once, whatever ranks the tokens and the experts lie on.
#include <gtest/gtest.h>

#include <mutex>
#include <numeric>

#include "dist/parity_forms.h"
#include "train/expert_load.h"

namespace trireme {
namespace {

using test::Layout;
using test::name_of;
using test::RunForm;

constexpr double kStepTokens = 16 * 16;

// Of the first step, as each rank hears of it.
std::vector<ExpertLoad> loads_of(const RunForm& form, Layout layout) {
  layout.lanes = layout.replicate * layout.shard * (layout.schedule == "dualpipe" ? 2 : 1);
  std::vector<ExpertLoad> loads;
  std::mutex mutex;
  (void)run_layout(form, layout, {0, 2, [&](RankLink& link, Engine& engine, int64_t step) {
                                    if (step == 0) return;
                                    ExpertLoad load = expert_load(link, engine);
                                    const std::lock_guard lock(mutex);
                                    loads.push_back(std::move(load));
                                  }});
  return loads;
}

double chosen_in(const LayerLoad& layer) {
  return std::accumulate(layer.chosen.begin(), layer.chosen.end(), 0.0);
}

TEST(ExpertLoads, AreTheWholeStepsUnderEveryLayout) {
  const RunForm form = test::deepseek_form();  // its first layer has no experts
  const ExpertLoad alone = loads_of(form, {}).at(0);
  ASSERT_EQ(alone.layers.size(), 2u);
  EXPECT_EQ(alone.layers[0].layer, "1");
  EXPECT_EQ(alone.layers[1].layer, "2");
  for (const LayerLoad& layer : alone.layers) EXPECT_EQ(chosen_in(layer), 2 * kStepTokens);
  EXPECT_EQ(alone.dropped, 0);
  EXPECT_GT(alone.entropy, 0.5);
  EXPECT_LE(alone.entropy, 1.0);
  EXPECT_GE(alone.max_share, 1.0 / 8);
  for (const Layout& layout : {Layout{.replicate = 2}, Layout{.shard = 4, .zero = 2, .ep = 4},
                               Layout{.tp = 2}, Layout{.tp = 2, .sequence = false}, Layout{.cp = 2, .ep = 2},
                               Layout{.pp = 2}, Layout{.pp = 2, .schedule = "dualpipe"}}) {
    SCOPED_TRACE(name_of(layout));
    for (const ExpertLoad& load : loads_of(form, layout)) {
      ASSERT_EQ(load.layers.size(), 2u);
      for (size_t l = 0; l < 2; ++l) {
        EXPECT_EQ(load.layers[l].layer, alone.layers[l].layer);
        EXPECT_EQ(load.layers[l].chosen, alone.layers[l].chosen);
      }
    }
  }
}

// run_layout evaluates after the last step; what checkpoints then have is that step's.
TEST(ExpertLoads, EvaluationDoesNotCount) {
  const test::Trace trace = run_layout(test::mixtral_form(), {}, {0, 2, {}});
  const std::vector<float>& last = trace.state.at("moment1/layers.1.moe.balance");
  EXPECT_EQ(std::accumulate(last.begin(), last.end(), 0.0), 2 * kStepTokens);
}

TEST(ExpertLoads, DroppedChoicesAreCounted) {
  RunForm form = test::mixtral_form();
  form.more += "\ncapacity_factor = 0.6";
  for (const Layout& layout : {Layout{}, Layout{.shard = 2, .ep = 2}}) {
    const ExpertLoad load = loads_of(form, layout).at(0);
    for (const LayerLoad& layer : load.layers) {
      EXPECT_EQ(chosen_in(layer), 2 * kStepTokens) << "dropped ones included";
      EXPECT_GE(layer.dropped, static_cast<int64_t>(0.3 * 2 * kStepTokens));
      EXPECT_LT(layer.dropped, static_cast<int64_t>(2 * kStepTokens));
    }
  }
}

}  // namespace
}  // namespace trireme
