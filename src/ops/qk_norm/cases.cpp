// Shapes of qk_norm and qk_norm_grad: grouped heads, head sizes with a tail, several chunks of tokens.
#include "ops/op.h"
#include "ops/qk_norm/qk_norm.h"

namespace trireme {
namespace {

OpCase make(const char* name, int64_t batch, int64_t length, const QkNormAttrs& attrs) {
  OpCase c;
  c.name = name;
  c.kind = "qk_norm";
  c.attrs = pack_attrs(attrs);
  const TensorType weight{DType::f32, {attrs.head_dim}};
  const int64_t width = (attrs.heads + 2 * attrs.kv_heads) * attrs.head_dim;
  c.inputs = {{DType::f32, {batch, length, width}}, weight, weight};
  return c;
}

}  // namespace

std::vector<OpCase> qk_norm_cases() {
  std::vector<OpCase> cases = {make("small", 1, 3, {2, 1, 5, 1e-6}), make("toy", 2, 64, {4, 2, 16, 1e-6}),
                               make("tail", 3, 7, {3, 1, 37, 1e-5}), make("wide", 1, 5, {2, 2, 128, 1e-6}),
                               make("qwen3", 2, 1024, {16, 8, 128, 1e-6})};
  cases[0].finite_difference = true;
  cases[4].bench = true;
  return cases;
}

std::vector<OpCase> qk_norm_grad_cases() {
  std::vector<OpCase> cases = qk_norm_cases();
  for (OpCase& c : cases) {
    const auto attrs = unpack_attrs<QkNormAttrs>(c.attrs);
    const Shape& qkv = c.inputs[0].shape;
    c.kind = "qk_norm_grad";
    c.finite_difference = false;
    c.inputs.push_back({DType::f32, {qkv[0], qkv[1], attrs.heads + attrs.kv_heads}});
    c.inputs.push_back(c.inputs[0]);
    c.fills = {{}, {}, {}, {.kind = InputFill::Kind::positive}};
  }
  return cases;
}

}  // namespace trireme
