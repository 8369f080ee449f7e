// Prices of blocks, which one layer of each kind is compiled for.
#include "plan/block_prices.h"

#include <gtest/gtest.h>

#include "hardware/catalog.h"
#include "model/model.h"
#include "plan/cases.h"

namespace trireme {
namespace {

// What one rank has of all blocks are the model's parameters, whatever is compiled.
TEST(BlockPrices, HaveEveryParameterOfEveryLayer) {
  const Hardware machine = load_hardware("h100-sxm");
  const std::vector<std::vector<std::string>> cases = {
      {},
      {"moe.experts=4", "moe.top_k=2", "moe.expert_ffn=64"},
      {"moe.experts=4", "moe.top_k=2", "moe.expert_ffn=64", "moe.first_dense=2"},
      {"moe.experts=4", "moe.top_k=2", "moe.expert_ffn=64", "moe.every=3"},
  };
  for (const auto& overrides : cases) {
    const RunSpec base = test::small_run(overrides);
    const BlockPrices prices = price_blocks(base, layout_of(base), cluster_of(machine, 1, 1));
    ASSERT_EQ(prices.blocks.size(), static_cast<size_t>(base.model.layers + 2));
    int64_t elements = 0;
    for (const BlockPrice& block : prices.blocks) {
      elements += block.elements + block.expert_elements;
      EXPECT_GT(block.forward_s, 0);
      EXPECT_GT(block.backward_s, 0);
    }
    const auto whole = static_cast<double>(parameter_count(whole_model(base)));
    EXPECT_NEAR(static_cast<double>(elements), whole, 0.02 * whole);  // groups are rounded up
    for (int64_t layer = 0; layer < base.model.layers; ++layer)
      EXPECT_EQ(prices.blocks[static_cast<size_t>(1 + layer)].expert_elements > 0,
                layer_kind(base.model, layer) == LayerKind::moe);
  }
}

}  // namespace
}  // namespace trireme
