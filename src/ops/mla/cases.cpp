// Shapes of the ops around latent attention: one head and many, tails in every dim, values as wide as heads
// and narrower, both layouts, given positions.
#include "ops/mla/mla.h"
#include "ops/op.h"

namespace trireme {
namespace {

struct Dims {
  int64_t heads, nope, rope, v;
};

OpCase make_qkv(const char* name, int64_t batch, int64_t length, const Dims& dims, const char* layout) {
  MlaQkvAttrs attrs;
  attrs.nope_dim = dims.nope;
  attrs.v_dim = dims.v;
  attrs.rope.heads = dims.heads;
  attrs.rope.kv_heads = 1;
  attrs.rope.head_dim = dims.rope;
  attrs.rope.layout = layout;
  OpCase c;
  c.name = name;
  c.kind = "mla_qkv";
  c.attrs = pack_attrs(attrs);
  const auto wide = [&](int64_t width) { return TensorType{DType::f32, {batch, length, width}}; };
  c.inputs = {wide(dims.heads * (dims.nope + dims.rope)), wide(dims.heads * (dims.nope + dims.v)),
              wide(dims.rope), absent_type()};
  return c;
}

OpCase with_positions(OpCase c, int64_t limit) {
  c.inputs[3] = {DType::i32, {c.inputs[0].shape[0], c.inputs[0].shape[1]}};
  c.fills = {{}, {}, {}, {.kind = InputFill::Kind::positions, .limit = limit}};
  return c;
}

OpCase make_values(const char* name, int64_t batch, int64_t length, const MlaValuesAttrs& attrs) {
  OpCase c;
  c.name = name;
  c.kind = "mla_values";
  c.attrs = pack_attrs(attrs);
  c.inputs = {{DType::f32, {batch, length, attrs.heads * attrs.head_dim}}};
  return c;
}

}  // namespace

std::vector<OpCase> mla_qkv_cases() {
  std::vector<OpCase> cases = {
      make_qkv("small", 1, 3, {2, 3, 2, 4}, "interleaved"),
      with_positions(make_qkv("small_given", 2, 2, {1, 2, 4, 2}, "half"), 50),
      make_qkv("toy", 2, 40, {4, 16, 8, 16}, "interleaved"),
      make_qkv("tail", 3, 7, {3, 19, 22, 41}, "half"),
      with_positions(make_qkv("given", 2, 9, {5, 33, 18, 20}, "interleaved"), 70),
      make_qkv("deepseek", 2, 512, {16, 128, 64, 128}, "interleaved"),
  };
  auto yarn = unpack_attrs<MlaQkvAttrs>(cases[2].attrs);
  yarn.rope.scaling = "yarn";
  yarn.rope.factor = 4;
  yarn.rope.original_context = 16;
  yarn.rope.attention_factor = 1.25;
  cases.push_back(cases[2]);
  cases.back().name = "yarn";
  cases.back().attrs = pack_attrs(yarn);
  cases[0].finite_difference = cases[1].finite_difference = true;
  cases[5].bench = true;
  return cases;
}

std::vector<OpCase> mla_qkv_grad_cases() {
  std::vector<OpCase> cases = mla_qkv_cases();
  for (OpCase& c : cases) {
    const TensorType positions = c.inputs[3];
    c.kind = "mla_qkv_grad";
    c.finite_difference = false;
    c.inputs[0].shape[2] *= 3;
    c.inputs = {c.inputs[0], positions};
    if (present(positions)) c.fills = {{}, c.fills[3]};
  }
  return cases;
}

std::vector<OpCase> mla_values_cases() {
  std::vector<OpCase> cases = {
      make_values("small", 1, 3, {2, 5, 3}),
      make_values("as_wide", 2, 9, {3, 16, 16}),
      make_values("tail", 3, 7, {3, 41, 37}),
      make_values("deepseek", 2, 512, {16, 192, 128}),
  };
  cases[0].finite_difference = true;
  cases[3].bench = true;
  return cases;
}

std::vector<OpCase> mla_values_grad_cases() {
  std::vector<OpCase> cases = mla_values_cases();
  for (OpCase& c : cases) {
    const auto attrs = unpack_attrs<MlaValuesAttrs>(c.attrs);
    c.kind = "mla_values_grad";
    c.finite_difference = false;
    c.inputs[0].shape[2] = attrs.heads * attrs.v_dim;
  }
  return cases;
}

}  // namespace trireme
