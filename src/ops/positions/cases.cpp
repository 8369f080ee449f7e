// Shapes of positions and positions_grad, with given positions and without.
#include "ops/op.h"
#include "ops/positions/positions.h"

namespace trireme {
namespace {

enum class Given : bool { no, yes };

TensorType positions_type(Given given, const Shape& x) {
  return given == Given::yes ? TensorType{DType::i32, {x[0], x[1]}} : absent_type();
}

}  // namespace

std::vector<OpCase> positions_cases() {
  const auto make = [](const char* name, Shape x, int64_t context, Given given) {
    OpCase c;
    c.name = name;
    c.kind = "positions";
    c.inputs = {{DType::f32, x}, {DType::f32, {context, x[2]}}, positions_type(given, x)};
    c.fills = {{}, {}, {.kind = InputFill::Kind::positions, .limit = context}};
    return c;
  };
  std::vector<OpCase> cases = {
      make("toy", {2, 64, 64}, 64, Given::no),        make("given", {2, 17, 37}, 20, Given::yes),
      make("longer_table", {3, 5, 19}, 9, Given::no), make("small", {2, 3, 4}, 5, Given::no),
      make("small_given", {2, 3, 4}, 5, Given::yes),  make("gpt2_124m", {24, 1024, 768}, 1024, Given::no)};
  cases[3].finite_difference = cases[4].finite_difference = true;
  cases[5].bench = true;
  return cases;
}

std::vector<OpCase> positions_grad_cases() {
  const auto make = [](const char* name, Shape dy, int64_t context, Given given) {
    OpCase c;
    c.name = name;
    c.kind = "positions_grad";
    c.attrs = pack_attrs(PositionsGradAttrs{context});
    c.inputs = {{DType::f32, dy}, positions_type(given, dy)};
    c.fills = {{}, {.kind = InputFill::Kind::positions, .limit = context}};
    return c;
  };
  std::vector<OpCase> cases = {
      make("toy", {2, 64, 64}, 64, Given::no), make("given", {4, 17, 37}, 20, Given::yes),
      make("longer_table", {3, 5, 19}, 9, Given::no), make("gpt2_124m", {24, 1024, 768}, 1024, Given::no),
      make("gpt2_124m_given", {24, 1024, 768}, 1024, Given::yes)};
  cases[3].bench = cases[4].bench = true;
  return cases;
}

}  // namespace trireme
