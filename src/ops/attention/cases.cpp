// Shapes and attributes that the checks and the benchmark run: heads that share keys, dims and lengths that
// no block divides, windows, documents, softcap.
#include "ops/attention/attention.h"

namespace trireme {
namespace {

struct Setting {
  const char* name;
  int64_t B, T;
  AttentionAttrs attrs;
  bool documents = false;
  bool finite_difference = false;
  bool bench = false;
};

std::vector<Setting> settings() {
  return {
      {"one", 1, 1, {.heads = 1, .kv_heads = 1, .head_dim = 8}, false, true},
      {"small", 2, 7, {.heads = 2, .kv_heads = 1, .head_dim = 4}, false, true},
      {"small_softcap", 1, 6, {.heads = 2, .kv_heads = 2, .head_dim = 5, .softcap = 2.0}, false, true},
      {"small_window", 1, 9, {.heads = 2, .kv_heads = 1, .head_dim = 4, .window = 3}, false, true},
      {"small_documents", 2, 8, {.heads = 2, .kv_heads = 2, .head_dim = 4, .scale = 0.7}, true, true},
      {"multi_head", 2, 96, {.heads = 3, .kv_heads = 3, .head_dim = 64}},
      {"grouped", 1, 130, {.heads = 6, .kv_heads = 2, .head_dim = 64}},
      {"multi_query", 2, 77, {.heads = 4, .kv_heads = 1, .head_dim = 128}},
      {"dim_80", 1, 150, {.heads = 2, .kv_heads = 2, .head_dim = 80}},
      {"dim_96", 1, 65, {.heads = 2, .kv_heads = 1, .head_dim = 96}},
      {"dim_odd", 1, 45, {.heads = 2, .kv_heads = 1, .head_dim = 37}},
      {"dim_256", 1, 40, {.heads = 1, .kv_heads = 1, .head_dim = 256}},
      {"window", 1, 300, {.heads = 2, .kv_heads = 1, .head_dim = 32, .window = 70}},
      {"window_one", 1, 40, {.heads = 2, .kv_heads = 2, .head_dim = 16, .window = 1}},
      {"documents", 2, 200, {.heads = 2, .kv_heads = 1, .head_dim = 64}, true},
      {"softcap", 1, 90, {.heads = 2, .kv_heads = 1, .head_dim = 64, .softcap = 5.0}},
      {"everything", 2, 170, {4, 2, 48, 50, 3.0, 0.3}, true},
      {"gpt2", 4, 1024, {.heads = 12, .kv_heads = 12, .head_dim = 64}, false, false, true},
      {"llama", 1, 4096, {.heads = 8, .kv_heads = 2, .head_dim = 128}, false, false, true},
  };
}

TensorType f32(Shape shape) { return {DType::f32, std::move(shape)}; }

}  // namespace

std::vector<OpCase> attention_cases() {
  std::vector<OpCase> cases;
  for (const Setting& s : settings()) {
    const TensorType doc_start = s.documents ? TensorType{DType::i32, {s.B, s.T}} : absent_type();
    cases.push_back({.name = s.name,
                     .kind = "attention",
                     .attrs = pack_attrs(s.attrs),
                     .inputs = {f32({s.B, s.T, qkv_width(s.attrs)}), doc_start},
                     .fills = {{}, {.kind = InputFill::Kind::doc_starts}},
                     .finite_difference = s.finite_difference,
                     .bench = s.bench});
  }
  return cases;
}

// y and lse need not belong to qkv: the formula is defined for any, and the gradient of whole attention is
// checked through finite differences of the op above.
std::vector<OpCase> attention_grad_cases() {
  std::vector<OpCase> cases;
  for (const Setting& s : settings()) {
    const TensorType doc_start = s.documents ? TensorType{DType::i32, {s.B, s.T}} : absent_type();
    const TensorType y = f32({s.B, s.T, s.attrs.heads * s.attrs.head_dim});
    cases.push_back(
        {.name = s.name,
         .kind = "attention_grad",
         .attrs = pack_attrs(s.attrs),
         .inputs = {f32({s.B, s.T, qkv_width(s.attrs)}), y, f32({s.B, s.attrs.heads, s.T}), y, doc_start},
         .fills = {{},
                   {},
                   {.kind = InputFill::Kind::positive, .scale = 3.0f},
                   {},
                   {.kind = InputFill::Kind::doc_starts}},
         .bench = s.bench});
  }
  return cases;
}

std::vector<OpCase> cached_attention_cases() {
  struct Cached {
    const char* name;
    int64_t B, T, context;
    AttentionAttrs attrs;
    bool bench = false;
  };
  const std::vector<Cached> list = {
      {"first_token", 1, 1, 1, {.heads = 2, .kv_heads = 1, .head_dim = 8}},
      {"step", 2, 1, 50, {.heads = 4, .kv_heads = 2, .head_dim = 64}},
      {"step_odd", 1, 1, 67, {.heads = 3, .kv_heads = 3, .head_dim = 37, .softcap = 4.0}},
      {"chunk", 1, 19, 150, {.heads = 4, .kv_heads = 1, .head_dim = 32, .window = 20}},
      {"prefill", 1, 64, 64, {.heads = 2, .kv_heads = 2, .head_dim = 64}},
      {"generate", 1, 1, 1024, {.heads = 12, .kv_heads = 12, .head_dim = 64}, true},
  };
  std::vector<OpCase> cases;
  for (const Cached& c : list)
    cases.push_back({.name = c.name,
                     .kind = "cached_attention",
                     .attrs = pack_attrs(CachedAttentionAttrs{c.attrs, c.context}),
                     .inputs = {f32({c.B, c.T, qkv_width(c.attrs)}), {DType::i32, {1}}},
                     .fills = {{}, {.kind = InputFill::Kind::ids, .limit = c.context - c.T + 1}},
                     .bench = c.bench});
  return cases;
}

}  // namespace trireme
