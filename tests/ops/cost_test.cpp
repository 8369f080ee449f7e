// Costs against what the operands say: every input is read once and every output written once; accumulators
// and outputs that are updated in place are read as well. Ops that move less say so here.
#include <gtest/gtest.h>

#include <map>

#include "ops/harness/variant.h"

namespace trireme {
namespace {

// Ops whose traffic is not that of their operands, and why.
const std::map<std::string_view, std::string_view>& exceptions() {
  static const std::map<std::string_view, std::string_view> list = {
      {"embedding", "reads only the rows of the table that occur"},
      {"embedding_grad", "touches only the rows that occur"},
      {"positions", "reads only the rows that occur"},
      {"positions_grad", "touches only the rows that occur"},
      {"cached_attention", "reads the cache up to the length, writes the new positions"},
      {"head_logits", "reads the last position of x alone"},
      {"mla_qkv_grad", "reads no gradient of padding"},
      {"mla_values", "reads no padding"},
      {"grad_norm", "rewrites some slots of the scalars"},
      {"slice", "reads only its slice"},
      {"balance", "passes the weights on; the rest is for its gradient"},
      {"zero", "reads nothing"},
  };
  return list;
}

Cost expected_traffic(const OpDef& def, const OpSig& sig) {
  Cost cost = traffic(sig);
  for (size_t i = 0; i < sig.outputs.size(); ++i)
    if (starts_filled(def, i)) cost.bytes_read += bytes_of(sig.outputs[i]);
  return cost;
}

TEST(OpCost, BytesAreTheTrafficOfTheOperands) {
  for (const OpEntry& op : op_table()) {
    if (exceptions().contains(op.def.name)) continue;
    SCOPED_TRACE(op.def.name);
    for (const OpCase& c : op.cases())
      for (const OpVariant& v : variants_of(op.def, c)) {
        const Cost cost = op.def.cost(v.sig), plain = expected_traffic(op.def, v.plain);
        EXPECT_EQ(cost.bytes_read, plain.bytes_read) << v.name;
        EXPECT_EQ(cost.bytes_written, plain.bytes_written) << v.name;
        if (HasFailure()) return;
      }
  }
}

TEST(OpCost, ExceptionsStayBelowTheTraffic) {
  for (const OpEntry& op : op_table()) {
    if (!exceptions().contains(op.def.name)) continue;
    SCOPED_TRACE(op.def.name);
    for (const OpCase& c : op.cases())
      for (const OpVariant& v : variants_of(op.def, c)) {
        const Cost cost = op.def.cost(v.sig), most = expected_traffic(op.def, v.plain);
        EXPECT_LE(cost.bytes_read, most.bytes_read) << v.name;
        EXPECT_LE(cost.bytes_written, most.bytes_written) << v.name;
        EXPECT_GT(cost.bytes_written, 0) << v.name;
      }
  }
}

TEST(OpCost, WorkDoesNotDependOnDTypeOrLayout) {
  for (const OpEntry& op : op_table()) {
    SCOPED_TRACE(op.def.name);
    for (const OpCase& c : op.cases()) {
      const std::vector<OpVariant> variants = variants_of(op.def, c);
      for (const OpVariant& v : variants) {
        EXPECT_EQ(op.def.cost(v.sig).flops, op.def.cost(variants[0].sig).flops) << v.name;
        EXPECT_GE(op.def.cost(v.sig).flops, 0) << v.name;
      }
    }
  }
}

}  // namespace
}  // namespace trireme
