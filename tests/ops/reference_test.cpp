// Every CPU kernel against its oracle: all cases, f32 and bf16, plain and packed weights, in place, on each
// instruction set up to the machine's best; with the same bits on one and two threads (and three, on the
// best).
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "device/cpu/isa.h"
#include "ops/harness/tolerance.h"
#include "ops/harness/variant.h"

namespace trireme {
namespace {

class Reference : public testing::TestWithParam<std::string_view> {};

// Realistic sizes are for the benchmark; those cheap enough for a plain loop are checked as well.
bool too_long(const OpDef& def, const OpVariant& v) {
  const Cost operands = traffic(v.sig);  // the cost of a look-up leaves out most of its table
  return def.cost(v.sig).flops > 30'000'000 || operands.bytes_read + operands.bytes_written > 2'000'000;
}

bool is_half(const OpVariant& v) {
  const auto bf16 = [](const TensorType& type) { return type.dtype == DType::bf16; };
  return std::any_of(v.sig.inputs.begin(), v.sig.inputs.end(), bf16);
}

// Ops that are several products in a row round what goes from one to the next.
int roundings_between(std::string_view op) { return op == "experts" ? 2 : op == "experts_grad" ? 3 : 1; }

void check_outputs(const OpEntry& op, const OpVariant& v, const OpRun& got, const OpRun& want) {
  EXPECT_EQ(got.fault, "");
  for (size_t i = 0; i < want.outputs.size(); ++i) {
    const Tolerance tolerance = tolerance_of(v.sig.outputs[i].dtype, is_half(v), op.def.reduction(v.sig),
                                             roundings_between(op.def.name));
    EXPECT_EQ(compare(got.outputs[i], want.outputs[i], tolerance), "") << "output " << op.def.outputs[i].name;
  }
}

void check_variant(const OpEntry& op, const OpVariant& v) {
  const std::vector<Values> start = starting_values(v);
  const OpRun want = run_reference(op, v, start);
  EXPECT_EQ(want.fault, "") << "the oracle";
  for (int isa = 0; isa <= static_cast<int>(detect_isa()); ++isa) {
    CpuContext context{.threads = 1, .isa = static_cast<CpuIsa>(isa)};
    SCOPED_TRACE(name_of(context.isa));
    const OpRun one = run_kernel(op, v, start, context);
    check_outputs(op, v, one, want);
    for (context.threads = 2; context.threads <= (context.isa == detect_isa() ? 3 : 2); ++context.threads) {
      const OpRun more = run_kernel(op, v, start, context);
      EXPECT_EQ(more.fault, "") << context.threads << " threads";
      EXPECT_TRUE(more.bytes == one.bytes) << "other bits on " << context.threads << " threads";
    }
  }
}

TEST_P(Reference, KernelsAgree) {
  const OpEntry& op = *find_op(GetParam());
  if (find_cpu_kernel(op.def.name) == nullptr) GTEST_SKIP() << "no CPU kernel";
  if (op.def.name == "pack")
    GTEST_SKIP() << "the packed layout is the backend's own; its readers are checked";
  for (const OpCase& c : op.cases())
    for (const OpVariant& v : variants_of(op.def, c)) {
      if (too_long(op.def, v)) continue;
      SCOPED_TRACE(v.name);
      check_variant(op, v);
      if (HasFailure()) return;  // the first says enough
    }
}

std::vector<std::string_view> names() {
  std::vector<std::string_view> names;
  for (const OpEntry& op : op_table()) names.push_back(op.def.name);
  return names;
}

INSTANTIATE_TEST_SUITE_P(Ops, Reference, testing::ValuesIn(names()),
                         [](const auto& instance) { return std::string(instance.param); });

}  // namespace
}  // namespace trireme
