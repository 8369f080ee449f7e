// Shapes for the linear ops: small ones with tails in every dim, and those of GPT-2 124M and Llama.
#include <fmt/format.h>

#include "ops/linear/linear.h"

namespace trireme {
namespace {

struct Size {
  Shape rows;
  int64_t in, out;
  bool bench;
};

std::vector<Size> sizes() {
  return {{{1, 1}, 1, 1, false},      {{2, 3}, 5, 7, false},       {{1, 37}, 64, 257, false},
          {{3, 33}, 129, 65, false},  {{4, 64}, 64, 192, false},   {{1, 130}, 320, 96, false},
          {{4, 256}, 768, 768, true}, {{4, 256}, 768, 3072, true}, {{4, 256}, 3072, 768, true}};
}

TensorType rows_by(const Size& s, int64_t width) {
  Shape shape = s.rows;
  shape.push_back(width);
  return {DType::f32, shape};
}

std::string name_of_size(const Size& s) { return fmt::format("{}x{}->{}", count(s.rows), s.in, s.out); }

OpCase make(const Size& s, std::string kind, Attrs attrs, std::vector<TensorType> inputs) {
  OpCase c;
  c.name = name_of_size(s);
  c.kind = std::move(kind);
  c.attrs = std::move(attrs);
  c.inputs = std::move(inputs);
  c.bench = s.bench;
  c.finite_difference = count(s.rows) * s.in * s.out < 1000;
  return c;
}

}  // namespace

std::vector<OpCase> pack_cases() {
  std::vector<OpCase> cases;
  for (const Size& s : sizes())
    for (const char* use : {"forward", "input_grad"}) {
      cases.push_back(make(s, "pack", pack_attrs(PackAttrs{use}), {{DType::f32, {s.out, s.in}}}));
      cases.back().name += fmt::format(" {}", use);
      cases.back().finite_difference = false;
    }
  return cases;
}

std::vector<OpCase> linear_cases() {
  std::vector<OpCase> cases;
  for (const Size& s : sizes())
    for (const bool bias : {false, true}) {
      const TensorType b = bias ? TensorType{DType::f32, {s.out}} : absent_type();
      cases.push_back(make(s, "linear", pack_attrs(LinearAttrs{s.in, s.out}),
                           {rows_by(s, s.in), {DType::f32, {s.out, s.in}}, b}));
      if (bias) cases.back().name += " bias";
    }
  return cases;
}

std::vector<OpCase> linear_grad_input_cases() {
  std::vector<OpCase> cases;
  for (const Size& s : sizes())
    cases.push_back(make(s, "linear_grad_input", pack_attrs(LinearAttrs{s.in, s.out}),
                         {rows_by(s, s.out), {DType::f32, {s.out, s.in}}}));
  for (OpCase& c : cases) c.finite_difference = false;
  return cases;
}

std::vector<OpCase> linear_grad_weight_cases() {
  std::vector<OpCase> cases;
  for (const Size& s : sizes())
    for (const int64_t bias : {0, 1}) {
      cases.push_back(make(s, "linear_grad_weight", pack_attrs(LinearGradWeightAttrs{s.in, s.out, bias}),
                           {rows_by(s, s.in), rows_by(s, s.out)}));
      cases.back().finite_difference = false;
      if (bias != 0) cases.back().name += " bias";
    }
  return cases;
}

}  // namespace trireme
