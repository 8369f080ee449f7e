// Routers: each way of scoring, choosing and dropping; widths with tails; the sizes of Mixtral and of
// DeepSeek-V3's experts.
#include <algorithm>

#include "ops/router/router.h"

namespace trireme {
namespace {

struct Size {
  int64_t batch, tokens, width;
};

OpCase make(std::string name, const Size& s, const RouterAttrs& attrs, bool state = false) {
  OpCase c;
  c.name = std::move(name);
  c.kind = "router";
  c.attrs = pack_attrs(attrs);
  c.inputs = {{DType::f32, {s.batch, s.tokens, s.width}}, {DType::f32, {attrs.experts, s.width}}};
  if (state) c.inputs.push_back({DType::f32, {2, attrs.experts}});
  c.fills = {{}, {.scale = 0.5f}, {.scale = 0.2f}};
  return c;
}

}  // namespace

std::vector<OpCase> router_cases() {
  const RouterAttrs four{.experts = 4, .top_k = 2}, eight{.experts = 8, .top_k = 2};
  const auto with = [](RouterAttrs a, auto&& change) {
    change(a);
    return a;
  };
  std::vector<OpCase> cases = {
      make("softmax", {1, 2, 5}, four),
      make("mixtral", {2, 2, 5}, with(four, [](RouterAttrs& a) { a.softmax_after = 1; })),
      make("qwen", {1, 1, 6}, with(eight, [](RouterAttrs& a) { a.normalize = 1, a.top_k = 3; })),
      make("sigmoid", {1, 3, 6}, with(eight, [](RouterAttrs& a) { a.score = "sigmoid", a.scale = 2.5; })),
      make("deepseek", {1, 1, 6},
           with(eight,
                [](RouterAttrs& a) {
                  a.score = "sigmoid", a.normalize = 1, a.groups = 4, a.top_groups = 2, a.scale = 2.5;
                }),
           true),
      make("z_loss", {1, 2, 5}, with(four, [](RouterAttrs& a) { a.z_loss = 0.25; })),
      make("sigmoid z_loss", {1, 2, 5},
           with(four, [](RouterAttrs& a) { a.score = "sigmoid", a.normalize = 1, a.z_loss = 0.25; })),
      make("capacity", {1, 6, 5},
           with(four, [](RouterAttrs& a) { a.normalize = 1, a.capacity_factor = 0.5; })),
  };
  for (OpCase& c : cases) c.finite_difference = true;
  cases.push_back(make("one expert", {1, 1, 1}, {.experts = 1, .top_k = 1}));
  cases.push_back(make("narrow", {1, 3, 1}, {.experts = 3, .top_k = 2}));
  cases.push_back(make("all experts", {3, 7, 37}, {.experts = 5, .top_k = 5, .normalize = 1}));
  cases.push_back(
      make("sequence", {3, 19, 64}, with(eight, [](RouterAttrs& a) { a.counts_per = "sequence"; })));
  cases.push_back(
      make("state", {2, 33, 130},
           with(eight,
                [](RouterAttrs& a) { a.score = "sigmoid", a.normalize = 1, a.groups = 2, a.top_groups = 1; }),
           true));
  cases.push_back(make("dropped", {2, 50, 70}, {.experts = 13, .top_k = 3, .capacity_factor = 0.75}, true));
  cases.push_back(make("wide z_loss", {1, 37, 200}, {.experts = 20, .top_k = 4, .z_loss = 1e-3}));
  cases.push_back(
      make("mixtral 8x2", {4, 1024, 1024}, with(eight, [](RouterAttrs& a) { a.softmax_after = 1; })));
  cases.push_back(make("deepseek 256x8", {1, 2048, 2048},
                       {.experts = 256,
                        .top_k = 8,
                        .score = "sigmoid",
                        .normalize = 1,
                        .groups = 8,
                        .top_groups = 4,
                        .scale = 2.5},
                       true));
  cases[cases.size() - 2].bench = cases.back().bench = true;
  return cases;
}

std::vector<OpCase> router_grad_cases() {
  std::vector<OpCase> cases = router_cases();
  std::erase_if(cases,
                [](const OpCase& c) { return c.name == "one expert"; });  // its gradient is 0, all noise
  for (OpCase& c : cases) {
    const auto a = unpack_attrs<RouterAttrs>(c.attrs);
    const auto per_token = [&](DType dtype, int64_t n) {
      return TensorType{dtype, {c.inputs[0].shape[0], c.inputs[0].shape[1], n}};
    };
    const TensorType scores = per_token(DType::f32, a.experts);
    c.kind = "router_grad";
    c.finite_difference = false;
    c.inputs.resize(2);
    c.inputs.push_back(per_token(DType::i32, a.top_k));
    c.inputs.push_back(scores);
    c.inputs.push_back(c.name == "softmax" ? absent_type() : per_token(DType::f32, a.top_k));
    c.inputs.push_back(c.name == "qwen" || c.name == "dropped" ? absent_type() : scores);
    // Scores that are no softmax: what the kernel makes of them holds for any numbers.
    const float size = std::min(0.4f, 1.0f / static_cast<float>(a.experts));
    c.fills = {{},
               {.scale = 0.5f},
               {.kind = InputFill::Kind::ids, .limit = a.experts, .ignore = a.capacity_factor > 0},
               {.kind = InputFill::Kind::positive, .scale = size}};
  }
  return cases;
}

}  // namespace trireme
