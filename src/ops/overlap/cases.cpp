// Shapes of the products beside their collectives, of a rank that is alone; tails in every dim.
#include <fmt/format.h>

#include "ops/overlap/overlap.h"

namespace trireme {
namespace {

struct Form {
  int64_t batch, length, in, out, chunks;
};

std::vector<Form> forms() {
  return {{1, 1, 1, 1, 1}, {2, 3, 5, 7, 2}, {1, 36, 64, 257, 4}, {3, 22, 129, 65, 3}, {4, 64, 64, 192, 2}};
}

OverlapAttrs product_of(const Form& f, const char* use) {
  return {.on = {}, .use = use, .in = f.in, .out = f.out, .chunks = f.chunks};
}

// Of a product with a weight [out,in], whose x is so many rows.
OpCase make(const Form& f, std::string kind, Attrs attrs, const std::string& use, Shape rows) {
  rows.push_back(use == "forward" ? f.in : f.out);
  OpCase c;
  c.name = fmt::format("{}x{} {}->{} {} in {}", f.batch, f.length, f.in, f.out, use, f.chunks);
  c.kind = std::move(kind);
  c.attrs = std::move(attrs);
  c.inputs = {{DType::f32, std::move(rows)}, {DType::f32, {f.out, f.in}}};
  return c;
}

}  // namespace

std::vector<OpCase> gather_linear_cases() {
  std::vector<OpCase> cases;
  for (const Form& f : forms())
    for (const char* use : {"forward", "input_grad"})
      for (const int64_t keep : {0, 1}) {
        const GatherLinearAttrs attrs{.product = product_of(f, use), .batch = f.batch, .keep = keep};
        OpCase c = make(f, "gather_linear", pack_attrs(attrs), use, {1, f.batch * f.length});
        if (keep != 0) c.name += " kept";
        cases.push_back(c);
        if (attrs.product.use != "forward") continue;
        c.name += " bias";
        c.inputs.push_back({DType::f32, {f.out}});
        cases.push_back(c);
      }
  return cases;
}

std::vector<OpCase> linear_scatter_cases() {
  std::vector<OpCase> cases;
  for (const Form& f : forms())
    for (const char* use : {"forward", "input_grad"})
      cases.push_back(make(f, "linear_scatter", pack_attrs(product_of(f, use)), use, {f.batch, f.length}));
  return cases;
}

}  // namespace trireme
