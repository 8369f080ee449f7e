// Shapes of experts and experts_grad: few tokens, more experts than rows, dropped choices, tails in every
// dim, and a layer of Mixtral's proportions.
#include <fmt/format.h>

#include "ops/experts/experts.h"

namespace trireme {
namespace {

struct Size {
  int64_t batch, tokens, experts, top_k, width, ffn;
  bool dropped = false;
};

OpCase make(std::string name, const Size& s) {
  OpCase c;
  c.name = std::move(name);
  c.kind = "experts";
  c.attrs = pack_attrs(
      ExpertsAttrs{.experts = s.experts, .top_k = s.top_k, .width = s.width, .ffn = s.ffn, .axis = {}});
  c.inputs = {{DType::f32, {s.batch, s.tokens, s.width}},
              {DType::i32, {s.batch, s.tokens, s.top_k}},
              {DType::f32, {s.batch, s.tokens, s.top_k}},
              {DType::f32, {s.experts, 2 * s.ffn, s.width}},
              {DType::f32, {s.experts, s.width, s.ffn}}};
  c.fills = {{}, {.kind = InputFill::Kind::ids, .limit = s.experts, .ignore = s.dropped}};
  return c;
}

}  // namespace

std::vector<OpCase> experts_cases() {
  std::vector<OpCase> cases = {make("small", {1, 3, 3, 2, 5, 4}), make("dropped", {2, 4, 3, 2, 4, 3, true})};
  for (OpCase& c : cases) c.finite_difference = true;
  cases.push_back(make("one", {1, 1, 1, 1, 1, 1}));
  cases.push_back(make("idle experts", {1, 7, 64, 1, 33, 17}));
  cases.push_back(make("one expert", {2, 61, 1, 1, 40, 70}));
  cases.push_back(make("tails", {2, 67, 5, 3, 67, 35}));
  cases.push_back(make("many dropped", {1, 130, 4, 4, 64, 96, true}));
  cases.push_back(make("mixtral", {4, 1024, 8, 2, 1024, 3584}));
  cases.back().bench = true;
  return cases;
}

std::vector<OpCase> experts_grad_cases() {
  std::vector<OpCase> cases = experts_cases();
  for (OpCase& c : cases) {
    const auto a = unpack_attrs<ExpertsAttrs>(c.attrs);
    const int64_t rows = count(c.inputs[1].shape);
    c.kind = "experts_grad";
    c.finite_difference = false;
    const TensorType x = c.inputs[0], gate_up = c.inputs[3], down = c.inputs[4];
    c.inputs.resize(3);
    c.inputs.push_back(absent_type());
    c.inputs.push_back({DType::f32, {rows, 2 * a.ffn}});
    c.inputs.push_back(gate_up);
    c.inputs.push_back(down);
    c.inputs.push_back(x);
  }
  return cases;
}

}  // namespace trireme
