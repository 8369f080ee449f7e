// Shapes of activation and activation_grad: each kind with a tail, with values far out, and of GPT-2 124M.
#include "ops/activation/activation.h"
#include "ops/op.h"

namespace trireme {
namespace {

std::vector<OpCase> cases_of(const std::string& op, size_t inputs) {
  std::vector<OpCase> cases;
  const auto add = [&](const std::string& kind, const std::string& what, const Shape& shape, float scale) {
    OpCase c;
    c.name = kind + "_" + what;
    c.kind = op;
    c.attrs = pack_attrs(ActivationAttrs{kind});
    c.inputs.assign(inputs, {DType::f32, shape});
    c.fills = {{.scale = scale}};
    c.finite_difference = what == "small";
    c.bench = what == "gpt2_124m";
    cases.push_back(c);
  };
  for (const char* kind : {"gelu_tanh", "gelu", "relu2"}) {
    add(kind, "small", {2, 3, 7}, 1.0f);
    add(kind, "wide_values", {3, 5, 131}, 6.0f);
    add(kind, "one", {1}, 1.0f);
    add(kind, "gpt2_124m", {4, 1024, 3072}, 1.0f);
  }
  return cases;
}

}  // namespace

std::vector<OpCase> activation_cases() { return cases_of("activation", 1); }

std::vector<OpCase> activation_grad_cases() {
  std::vector<OpCase> cases = cases_of("activation_grad", 2);
  for (OpCase& c : cases) c.finite_difference = false;
  return cases;
}

}  // namespace trireme
