// Shapes of add_bias and add_bias_grad.
#include "ops/op.h"

namespace trireme {
namespace {

struct Size {
  const char* name;
  Shape x;
};

std::vector<Size> sizes() {
  return {{"one", {1, 1, 1}},
          {"small", {2, 3, 5}},
          {"tail", {7, 33}},
          {"threads", {2, 33, 515}},
          {"gpt2_124m", {4, 1024, 768}}};
}

}  // namespace

std::vector<OpCase> add_bias_cases() {
  std::vector<OpCase> cases;
  for (const Size& s : sizes())
    cases.push_back(
        {.name = s.name, .kind = "add_bias", .inputs = {{DType::f32, s.x}, {DType::f32, {s.x.back()}}}});
  cases[1].finite_difference = true;
  cases[4].bench = true;
  return cases;
}

std::vector<OpCase> add_bias_grad_cases() {
  std::vector<OpCase> cases;
  for (const Size& s : sizes())
    cases.push_back({.name = s.name, .kind = "add_bias_grad", .inputs = {{DType::f32, s.x}}});
  cases[4].bench = true;
  return cases;
}

}  // namespace trireme
