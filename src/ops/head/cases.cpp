// Shapes for the head: vocabularies with tails and padding, ignored targets, z-loss, softcap; and GPT-2's.
#include <fmt/format.h>

#include <cmath>

#include "ops/head/head.h"

namespace trireme {
namespace {

struct Size {
  int64_t batch, length, width, vocab;
  double z_loss, softcap;
  bool bench;
  int64_t padding = 0;
  double further_weight = 0.0;
};

std::vector<Size> sizes() {
  return {{1, 1, 4, 3, 0.0, 0.0, false},          {2, 3, 5, 7, 0.0, 0.0, false},
          {2, 3, 5, 7, 1e-2, 0.0, false},         {2, 3, 5, 7, 1e-2, 1.5, false},
          {2, 40, 64, 257, 0.0, 0.0, false},      {3, 33, 33, 1000, 1e-3, 5.0, false},
          {1, 64, 32, 263000, 0.0, 0.0, false},   {4, 256, 768, 50257, 0.0, 0.0, true},
          {2, 3, 5, 9, 1e-2, 1.5, false, 2},      {2, 40, 64, 261, 1e-3, 0.0, false, 4},
          {2, 3, 5, 7, 1e-2, 1.5, false, 0, 0.3}, {4, 40, 64, 257, 1e-3, 0.0, false, 0, 0.3}};
}

InputFill targets_fill(const Size& s) {
  return {.kind = InputFill::Kind::ids,
          .limit = s.vocab - s.padding,
          .ignore = true,
          .further = s.further_weight != 0.0};
}

// Logits of size 1: in bf16 they are stored rounded.
InputFill weight_fill(const Size& s) {
  return {.kind = InputFill::Kind::normal, .scale = 1.0f / std::sqrt(static_cast<float>(s.width))};
}

OpCase make(const Size& s, const char* kind) {
  OpCase c;
  c.name =
      fmt::format("{}x{}x{} vocab {} z {} cap {}", s.batch, s.length, s.width, s.vocab, s.z_loss, s.softcap);
  if (s.further_weight > 0) c.name += fmt::format(" further {}", s.further_weight);
  if (s.padding > 0) c.name += fmt::format(" padding {}", s.padding);
  c.kind = kind;
  c.attrs = pack_attrs(HeadLossAttrs{s.vocab, s.width, s.z_loss, s.softcap, s.padding, {}, s.further_weight});
  c.bench = s.bench;
  return c;
}

TensorType x_type(const Size& s) { return {DType::f32, {s.batch, s.length, s.width}}; }
TensorType weight_type(const Size& s) { return {DType::f32, {s.vocab, s.width}}; }
TensorType targets_type(const Size& s) { return {DType::i32, {s.batch, s.length}}; }

}  // namespace

std::vector<OpCase> head_loss_cases() {
  std::vector<OpCase> cases;
  for (const Size& s : sizes()) {
    OpCase& c = cases.emplace_back(make(s, "head_loss"));
    c.inputs = {x_type(s), weight_type(s), targets_type(s)};
    c.fills = {{}, weight_fill(s), targets_fill(s)};
    c.finite_difference = s.vocab < 10;
  }
  return cases;
}

std::vector<OpCase> head_loss_grad_cases() {
  std::vector<OpCase> cases;
  for (const Size& s : sizes()) {
    OpCase& c = cases.emplace_back(make(s, "head_loss_grad"));
    c.inputs = {x_type(s), weight_type(s), weight_type(s), targets_type(s)};
    c.fills = {{}, weight_fill(s), weight_fill(s), targets_fill(s)};
  }
  return cases;
}

std::vector<OpCase> head_logits_cases() {
  std::vector<OpCase> cases;
  for (const Size& s : sizes()) {
    OpCase& c = cases.emplace_back(make(s, "head_logits"));
    c.attrs = pack_attrs(HeadLogitsAttrs{s.vocab, s.width, s.softcap});
    c.inputs = {x_type(s), weight_type(s)};
    c.fills = {{}, weight_fill(s)};
  }
  return cases;
}

}  // namespace trireme
