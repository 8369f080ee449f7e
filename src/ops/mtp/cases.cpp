// Shapes of mtp_targets, stack_batch and unstack_batch.
#include "ops/mtp/mtp.h"

namespace trireme {
namespace {

OpCase make(const char* name, const char* kind, std::vector<TensorType> inputs) {
  OpCase c;
  c.name = name;
  c.kind = kind;
  c.inputs = std::move(inputs);
  return c;
}

OpCase targets(const char* name, int64_t batch, int64_t length, int64_t vocab) {
  OpCase c = make(name, "mtp_targets", {{DType::i32, {batch, length}}});
  c.attrs = pack_attrs(MtpTargetsAttrs{});
  c.fills = {{.kind = InputFill::Kind::ids, .limit = vocab, .ignore = true}};
  c.bf16 = false;
  return c;
}

}  // namespace

std::vector<OpCase> mtp_targets_cases() {
  return {targets("one", 1, 1, 5), targets("small", 3, 7, 11), targets("rows", 8, 1024, 50257)};
}

std::vector<OpCase> stack_batch_cases() {
  std::vector<OpCase> cases;
  for (const auto& [name, shape] :
       {std::pair<const char*, Shape>{"small", {2, 3, 2}}, {"tail", {1, 7, 37}}, {"rows", {4, 512, 768}}})
    cases.push_back(make(name, "stack_batch", {{DType::f32, shape}, {DType::f32, shape}}));
  cases[0].finite_difference = true;
  return cases;
}

std::vector<OpCase> unstack_batch_cases() {
  return {make("small", "unstack_batch", {{DType::f32, {4, 3, 2}}}),
          make("tail", "unstack_batch", {{DType::f32, {2, 7, 37}}}),
          make("rows", "unstack_batch", {{DType::f32, {8, 512, 768}}})};
}

}  // namespace trireme
