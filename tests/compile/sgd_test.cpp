// Programs of SGD: one moment, which with the master weights is updated once, by as much decay as the
// parameter has.
#include <gtest/gtest.h>

#include <map>

#include "compile/specs.h"
#include "ir/text.h"
#include "lower/check.h"
#include "ops/sgd/sgd.h"

namespace trireme {
namespace {

RunSpec sgd_spec(const char* family) {
  RunSpec spec = test::spec_of({.family = family});
  spec.optimizer = {.kind = OptimizerKind::sgd, .lr = 0.1, .momentum = 0.9, .weight_decay = 0.01};
  return spec;
}

TEST(Sgd, KeepsOneMoment) {
  const Program program = compile(sgd_spec("gpt2"), {}).program;
  check_program(program);
  int64_t elements = 0, bytes = 0;
  for (const ParamGroup& group : program.groups) {
    EXPECT_TRUE(group.moment1.valid());
    EXPECT_FALSE(group.moment2.valid());
    elements += group.elements;
  }
  for (const Buffer& buffer : program.memory.buffers)
    if (buffer.cls == BufferClass::moment) bytes += buffer.bytes;
  EXPECT_EQ(bytes, 4 * elements);
  EXPECT_TRUE(parse_program(to_text(program)) == program);
}

TEST(Sgd, UpdatesEveryElementOnceWithItsDecay) {
  for (const char* family : {"gpt2", "llama"}) {
    const Program program = compile(sgd_spec(family), {}).program;
    std::map<BufferId, int64_t> updated;       // bytes
    std::map<double, int64_t> by_decay, want;  // elements
    for (const Action& action : find_timeline(program, "train")->actions) {
      if (action.kind != ActionKind::optimizer) continue;
      const Unit& unit = program.unit(action.unit);
      for (const Op& op : program.code(unit.code).forward) {
        ASSERT_EQ(op.kind, "sgd");
        const auto attrs = unpack_attrs<SgdAttrs>(op.attrs);
        EXPECT_EQ(attrs.momentum, 0.9);
        for (const ValueId id : op.outputs)
          updated[unit.bound[static_cast<size_t>(id.index)].buffer] +=
              bytes_of(program.code(unit.code).value(id).type);
        by_decay[attrs.weight_decay] += count(program.code(unit.code).value(op.outputs[0]).type.shape);
      }
    }
    for (const ParamGroup& group : program.groups) {
      EXPECT_EQ(updated[group.master], 4 * group.elements) << group.name;
      EXPECT_EQ(updated[group.moment1], 4 * group.elements) << group.name;
    }
    for (const Param& param : program.params)
      want[param.decay ? 0.01 : 0.0] +=
          (count(param.shape) + kParamAlignment - 1) / kParamAlignment * kParamAlignment;
    EXPECT_EQ(by_decay, want);
  }
}

}  // namespace
}  // namespace trireme
