// Shapes of swiglu and swiglu_grad: widths with a tail, large gates, a feed-forward width of 2048.
#include "ops/op.h"

namespace trireme {
namespace {

OpCase make(const char* name, Shape gate_up, float scale) {
  OpCase c;
  c.name = name;
  c.kind = "swiglu";
  c.inputs = {{DType::f32, std::move(gate_up)}};
  c.fills = {{.scale = scale}};
  return c;
}

}  // namespace

std::vector<OpCase> swiglu_cases() {
  std::vector<OpCase> cases = {make("small", {2, 3, 10}, 1.0f), make("tail", {2, 5, 2 * 37}, 1.0f),
                               make("large_gates", {3, 2 * 48}, 8.0f), make("one", {1, 2}, 1.0f),
                               make("llama", {4, 1024, 2 * 2048}, 1.0f)};
  cases[0].finite_difference = true;
  cases[4].bench = true;
  return cases;
}

std::vector<OpCase> swiglu_grad_cases() {
  std::vector<OpCase> cases = swiglu_cases();
  for (OpCase& c : cases) {
    c.kind = "swiglu_grad";
    c.finite_difference = false;
    TensorType dy = c.inputs[0];
    dy.shape.back() /= 2;
    c.inputs.push_back(dy);
  }
  return cases;
}

}  // namespace trireme
