// Shapes of the collectives. Those that talk are alone here; slice, which does not, has ranks.
#include <fmt/format.h>

#include "ops/collectives/collectives.h"

namespace trireme {
namespace {

struct Form {
  Shape whole;
  std::string cut;
  int64_t dim, row_dims;
};

std::vector<Form> forms() {
  return {{{2, 3, 5}, "rows", 0, 2},    {{6, 5}, "rows", 0, 1},     {{2, 3, 4}, "shard", 2, 2},
          {{2, 6, 4}, "shard", 1, 2},   {{4, 3, 7}, "shard", 0, 2}, {{3, 128, 65}, "rows", 0, 2},
          {{3, 66, 130}, "shard", 2, 2}};
}

OpCase make(const Form& form, const char* kind, Attrs attrs) {
  OpCase c;
  c.name = fmt::format("{} {} {} {}", to_string(form.whole), form.cut, form.dim, form.row_dims);
  c.kind = kind;
  c.attrs = std::move(attrs);
  c.inputs = {{DType::f32, form.whole}};
  return c;
}

Attrs slice_attrs(const Form& form, const AxisAttrs& on) {
  const SliceAttrs attrs{.on = on, .to = form.cut, .dim = form.dim, .row_dims = form.row_dims};
  return pack_attrs(attrs);
}

Attrs gather_attrs(const Form& form) {
  GatherAttrs attrs;
  attrs.from = form.cut;
  attrs.dim = form.dim;
  attrs.batch = form.whole[0];
  attrs.row_dims = form.row_dims;
  return pack_attrs(attrs);
}

// The same with numbers of `dtype`.
OpCase with(OpCase c, DType dtype) {
  c.name += fmt::format(" {}", name_of(dtype));
  c.inputs[0].dtype = dtype;
  c.bf16 = c.finite_difference = c.bench = false;
  if (dtype == DType::i32) c.fills = {{.kind = InputFill::Kind::ids, .limit = 1000, .ignore = true}};
  return c;
}

}  // namespace

std::vector<OpCase> all_gather_cases() {
  std::vector<OpCase> cases;
  for (const Form& form : forms()) {
    Form alone = form;
    if (form.cut == "rows" && form.row_dims == 2)
      alone.whole = {1, form.whole[0] * form.whole[1], form.whole[2]};
    cases.push_back(make(alone, "all_gather", gather_attrs(form)));
    cases.back().finite_difference = count(form.whole) < 100;
  }
  cases.push_back(with(cases[0], DType::i32));
  cases.push_back(with(cases[2], DType::f64));
  return cases;
}

std::vector<OpCase> slice_cases() {
  std::vector<OpCase> cases;
  for (const Form& form : forms()) {
    cases.push_back(make(form, "slice", slice_attrs(form, {})));
    cases.back().finite_difference = count(form.whole) < 100;
    cases.push_back(make(form, "slice", slice_attrs(form, {"tp", 2, 1})));
    cases.back().name += " of 2";
  }
  cases.push_back(with(cases[1], DType::i32));
  cases.push_back(with(cases[5], DType::f64));
  return cases;
}

std::vector<OpCase> reduce_scatter_cases() {
  std::vector<OpCase> cases;
  for (const Form& form : forms()) {
    cases.push_back(make(form, "reduce_scatter", slice_attrs(form, {})));
    cases.back().finite_difference = count(form.whole) < 100;
  }
  cases.push_back(with(cases[0], DType::f64));
  return cases;
}

std::vector<OpCase> all_reduce_cases() {
  std::vector<OpCase> cases;
  for (const Shape& shape : {Shape{2, 3, 5}, Shape{3, 128, 65}}) {
    cases.push_back(make({shape, "whole", 0, 0}, "all_reduce", pack_attrs(AxisAttrs{})));
    cases.back().finite_difference = count(shape) < 100;
  }
  cases.push_back(with(cases[0], DType::f64));
  return cases;
}

}  // namespace trireme
