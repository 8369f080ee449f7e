// Shapes and settings of rope: both layouts, each scaling, grouped heads, given positions, odd head sizes.
#include "ops/op.h"
#include "ops/rope/rope.h"

namespace trireme {
namespace {

RopeAttrs attrs_of(int64_t heads, int64_t kv_heads, int64_t head_dim, const char* layout,
                   const char* scaling) {
  RopeAttrs attrs;
  attrs.heads = heads;
  attrs.kv_heads = kv_heads;
  attrs.head_dim = head_dim;
  attrs.layout = layout;
  attrs.scaling = scaling;
  if (attrs.scaling != "none") attrs.factor = 4;
  attrs.original_context = 32;
  return attrs;
}

OpCase make(const std::string& name, int64_t batch, int64_t length, const RopeAttrs& attrs) {
  OpCase c;
  c.name = name;
  c.kind = "rope";
  c.attrs = pack_attrs(attrs);
  const int64_t width = (attrs.heads + 2 * attrs.kv_heads) * attrs.head_dim;
  c.inputs = {{DType::f32, {batch, length, width}}, absent_type()};
  return c;
}

// Positions up to `limit`, some of them beyond the length of a row.
OpCase with_positions(OpCase c, int64_t limit) {
  c.inputs[1] = {DType::i32, {c.inputs[0].shape[0], c.inputs[0].shape[1]}};
  c.fills = {{}, {.kind = InputFill::Kind::positions, .limit = limit}};
  return c;
}

}  // namespace

std::vector<OpCase> rope_cases() {
  std::vector<OpCase> cases;
  for (const char* layout : {"half", "interleaved"}) {
    const std::string prefix = std::string(layout) + "_";
    for (const char* scaling : {"none", "linear", "ntk", "yarn", "llama3"})
      cases.push_back(make(prefix + scaling, 2, 40, attrs_of(4, 2, 32, layout, scaling)));
    cases.push_back(make(prefix + "tail", 1, 9, attrs_of(3, 1, 22, layout, "none")));
    cases.push_back(with_positions(make(prefix + "given", 2, 9, attrs_of(3, 1, 80, layout, "none")), 70));
    cases.push_back(make(prefix + "small", 1, 3, attrs_of(2, 1, 4, layout, "yarn")));
    cases.back().finite_difference = true;
    cases.push_back(make(prefix + "llama", 8, 1024, attrs_of(12, 4, 64, layout, "llama3")));
    cases.back().bench = true;
  }
  RopeAttrs inverse = attrs_of(4, 2, 64, "half", "none");
  inverse.inverse = 1;
  cases.push_back(make("inverse", 2, 17, inverse));
  cases.push_back(with_positions(make("small_given", 2, 3, attrs_of(1, 1, 6, "half", "llama3")), 50));
  cases.back().finite_difference = true;
  return cases;
}

}  // namespace trireme
