// Nothing may be missing from the op table: each op has its shape rule, cost, oracle, cases and CPU kernel.
#include <gtest/gtest.h>

#include <set>

#include "device/cpu/kernel.h"
#include "ops/op.h"

namespace trireme {
namespace {

TEST(OpTable, EveryOpIsWhole) {
  std::set<std::string_view> names;
  for (const OpEntry& op : op_table()) {
    SCOPED_TRACE(op.def.name);
    EXPECT_TRUE(names.insert(op.def.name).second) << "two ops of this name";
    EXPECT_NE(op.def.infer, nullptr);
    EXPECT_NE(op.def.cost, nullptr);
    EXPECT_NE(op.def.reduction, nullptr);
    EXPECT_FALSE(op.def.outputs.empty());
    EXPECT_NE(op.reference, nullptr);
    EXPECT_NE(op.cases, nullptr);
    EXPECT_NE(find_cpu_kernel(op.def.name), nullptr);
  }
  EXPECT_FALSE(names.empty());
}

TEST(OpTable, CasesBelongToTheirOpAndHaveNames) {
  for (const OpEntry& op : op_table()) {
    SCOPED_TRACE(op.def.name);
    ASSERT_NE(op.cases, nullptr);
    const std::vector<OpCase> cases = op.cases();
    EXPECT_FALSE(cases.empty());
    std::set<std::string> names;
    bool differentiated = false;
    for (const OpCase& c : cases) {
      EXPECT_EQ(c.kind, op.def.name);
      EXPECT_TRUE(names.insert(c.name).second) << c.name << " stands twice";
      EXPECT_LE(c.inputs.size(), op.def.inputs.size()) << c.name;
      differentiated |= c.finite_difference;
    }
    EXPECT_TRUE(differentiated || op.def.gradient == nullptr) << "no case for finite differences";
  }
}

TEST(OpTable, UnknownOpsAreNotFound) {
  EXPECT_EQ(find_op("no_such_op"), nullptr);
  EXPECT_EQ(find_cpu_kernel("no_such_op"), nullptr);
}

}  // namespace
}  // namespace trireme
