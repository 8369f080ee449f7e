// Shapes of add.
#include "ops/op.h"

namespace trireme {

std::vector<OpCase> add_cases() {
  const auto make = [](const char* name, Shape shape) {
    const TensorType type{DType::f32, std::move(shape)};
    return OpCase{.name = name, .kind = "add", .inputs = {type, type}};
  };
  std::vector<OpCase> cases = {make("one", {1, 1, 1}), make("small", {2, 3, 5}), make("tail", {1, 7, 33}),
                               make("threads", {2, 33, 515}), make("gpt2_124m", {4, 1024, 768})};
  cases[1].finite_difference = true;
  cases[4].bench = true;
  return cases;
}

}  // namespace trireme
