// [model]: what the family and the shape imply, and whether the shape divides.
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "base/error.h"
#include "config/fields.h"
#include "config/resolve_sections.h"
#include "config/toml_text.h"

namespace trireme {
namespace {

// The divisors of n near to `wanted`, at most four below and four above.
std::string divisors_near(int64_t n, int64_t wanted) {
  std::vector<int64_t> below, above;
  for (int64_t d = std::min(wanted, n); d >= 1 && below.size() < 4; --d)
    if (n % d == 0) below.insert(below.begin(), d);
  for (int64_t d = wanted + 1; d <= n && above.size() < 4; ++d)
    if (n % d == 0) above.push_back(d);
  below.insert(below.end(), above.begin(), above.end());
  return fmt::format("{}", fmt::join(below, ", "));
}

void require_shape(const RawConfig& raw) {
  const RawModel& m = raw.model;
  const auto require = [&](bool present, const char* key, const char* example) {
    if (!present)
      fail_missing(raw, std::string("model.") + key,
                   fmt::format("{} = {} under [model], or start from preset or hf", key, example));
  };
  require(m.family.has_value(), "family", "\"gpt2\"");
  require(m.layers.has_value(), "layers", "12");
  require(m.width.has_value(), "width", "768");
  require(m.heads.has_value(), "heads", "12");
  require(m.vocab.has_value(), "vocab", "50257");
  require(m.context.has_value(), "context", "1024");
}

// What a head consists of, and that nothing else says otherwise.
void resolve_mla(RawConfig& raw) {
  RawModel& m = raw.model;
  auto& mla = m.mla;
  if (*m.family != Family::deepseek) return;
  const auto require = [&](const std::optional<int64_t>& value, const char* key, const char* example) {
    if (!value)
      fail_missing(raw, std::string("model.mla.") + key,
                   fmt::format("mla = {{{} = {}}} under [model], or start from preset or hf", key, example));
  };
  require(mla.kv_rank, "kv_rank", "512");
  require(mla.nope_dim, "nope_dim", "128");
  require(mla.rope_dim, "rope_dim", "64");
  if (*mla.rope_dim % 2 != 0)
    fail_key(raw, "model.mla.rope_dim", "is odd, but rotary positions turn dims in pairs; use {} or {}",
             *mla.rope_dim - 1, *mla.rope_dim + 1);
  if (*mla.nope_dim % 2 != 0)
    fail_key(raw, "model.mla.nope_dim",
             "is odd, but the size of a head, nope_dim + rope_dim, is even; use {}",
             *mla.nope_dim == 1 ? "2" : fmt::format("{} or {}", *mla.nope_dim - 1, *mla.nope_dim + 1));
  if (!mla.v_dim) mla.v_dim = mla.nope_dim;
  const int64_t dim = *mla.nope_dim + *mla.rope_dim;
  if (*mla.v_dim > dim)
    fail_key(raw, "model.mla.v_dim",
             "is more than nope_dim + rope_dim = {}, which a head has; use at most {}", dim, dim);
  if (m.head_dim && *m.head_dim != dim)
    fail_key(raw, "model.head_dim", "is not mla.nope_dim + mla.rope_dim = {}; remove it", dim);
  m.head_dim = dim;
  if (m.kv_heads && *m.kv_heads != *m.heads)
    fail_key(raw, "model.kv_heads",
             "is not model.heads = {}, but each head has keys and values of its own here; remove it",
             *m.heads);
  if (*m.bias) fail_key(raw, "model.bias", "is not supported with model.family = \"deepseek\"; use false");
  if (*m.mtp > 0 && *m.tie_embeddings)
    fail_key(raw, "model.mtp", "needs model.tie_embeddings = false: its table and its head are two matrices");
}

void resolve_heads(RawConfig& raw) {
  RawModel& m = raw.model;
  if (!m.kv_heads) m.kv_heads = m.heads;
  if (*m.kv_heads > *m.heads || *m.heads % *m.kv_heads != 0)
    fail_key(raw, "model.kv_heads", "does not divide model.heads = {}; use one of {}", *m.heads,
             divisors_near(*m.heads, *m.kv_heads));
  if (!m.head_dim) {
    if (*m.width % *m.heads != 0)
      fail_key(raw, "model.heads", "does not divide model.width = {}; use one of {}, or set model.head_dim",
               *m.width, divisors_near(*m.width, *m.heads));
    m.head_dim = *m.width / *m.heads;
  }
  if (*m.heads * *m.head_dim > (1 << 24))
    fail_key(raw, "model.head_dim", "times model.heads = {} is more than {}; use fewer or smaller heads",
             *m.heads, 1 << 24);
  const int64_t dim = *m.head_dim;
  if (*m.family != Family::gpt2 && dim % 2 != 0)
    fail_key(raw, "model.head_dim", "is odd, but rotary positions turn dims in pairs; use {}",
             dim == 1 ? "2" : fmt::format("{} or {}", dim - 1, dim + 1));
}

void resolve_ffn(RawModel& m) {
  if (m.ffn) return;
  const int64_t gated = (8 * *m.width + 2) / 3;
  m.ffn = *m.activation == Activation::swiglu ? (gated + 63) / 64 * 64 : 4 * *m.width;
}

void resolve_rope_scaling(RawConfig& raw) {
  using enum RopeScalingKind;
  auto& s = raw.model.rope_scaling;
  auto& mla = raw.model.mla;
  const bool deepseek = *raw.model.family == Family::deepseek;
  if (deepseek && !mla.score_scale) {
    // DeepSeek stretches whole scores, where yarn as published stretches the rotated dims alone.
    const double stretch = *s.kind == yarn && s.factor ? 0.1 * std::log(*s.factor) + 1.0 : 1.0;
    mla.score_scale = stretch * stretch;
  }
  if (*raw.model.family == Family::gpt2 || *s.kind == none) return;
  if (!s.factor)
    fail_missing(raw, "model.rope_scaling.factor",
                 fmt::format("rope_scaling = {{kind = {}, factor = 4.0}}", toml_text(*s.kind)));
  const int64_t context = *raw.model.context;
  if (!s.original_context)
    s.original_context = std::max<int64_t>(1, std::llround(static_cast<double>(context) / *s.factor));
  if (!s.attention_factor) s.attention_factor = deepseek ? 1.0 : 0.1 * std::log(*s.factor) + 1.0;
  if (*s.kind == llama3 && *s.high_freq_factor <= *s.low_freq_factor)
    fail_key(raw, "model.rope_scaling.high_freq_factor", "must be above low_freq_factor = {}",
             *s.low_freq_factor);
  if (*s.kind == yarn && *s.beta_fast <= *s.beta_slow)
    fail_key(raw, "model.rope_scaling.beta_fast", "must be above beta_slow = {}", *s.beta_slow);
  if (*s.kind == ntk && (deepseek ? *mla.rope_dim : *raw.model.head_dim) < 4)
    fail_key(raw, deepseek ? "model.mla.rope_dim" : "model.head_dim",
             "is too small for rope_scaling.kind = \"ntk\", whose exponent is D / (D - 2); use at least 4");
}

}  // namespace

void resolve_model(RawConfig& raw) {
  require_shape(raw);
  RawModel& m = raw.model;
  const bool gpt2 = *m.family == Family::gpt2;
  if (!m.tie_embeddings) m.tie_embeddings = gpt2;
  if (!m.bias) m.bias = gpt2;
  if (!m.activation) m.activation = gpt2 ? Activation::gelu_tanh : Activation::swiglu;
  if (gpt2 && m.activation == Activation::swiglu)
    fail_key(raw, "model.activation",
             "needs a gate, which model.family = \"gpt2\" does not have; use gelu_tanh, gelu or relu2");
  resolve_mla(raw);
  resolve_heads(raw);
  resolve_ffn(m);
  resolve_rope_scaling(raw);
}

}  // namespace trireme
