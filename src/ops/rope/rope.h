// Rotary positions (Su et al. 2021, "RoFormer") on the query and key heads of a fused projection:
//
//   rope(x[B,T,(H+2K)*D], positions? i32[B,T]){...} -> y      v is copied; may be done in place
//
// A pair (a, b) of a head's dims turns by the angle p * frequency: a cos - b sin, b cos + a sin, where
// p = positions[b,t], or t without them. The gradient is the same op with `inverse` flipped: the transpose,
// sin negated. Scalings stretch the frequencies to contexts longer than the original one:
//
//   none     theta^(-2i/D)
//   linear   divided by factor (Chen et al. 2023, "Extending Context Window ... Position Interpolation")
//   ntk      theta * factor^(D/(D-2)) in place of theta ("NTK-aware", as Hugging Face's dynamic form computes
//   it) yarn     a ramp between the two over the number of turns (Peng et al. 2023, "YaRN", section 3.2), and
//            cos and sin times attention_factor
//   llama3   a ramp over the wavelength (the Llama 3.1 release's formula)
#pragma once
#include <cstdint>
#include <string>
#include <vector>

namespace trireme {

struct RopeAttrs {
  int64_t heads = 0;             // H
  int64_t kv_heads = 0;          // K
  int64_t head_dim = 0;          // D, even
  std::string layout = "half";   // half: dim d with d + D/2 | interleaved: 2i with 2i + 1
  double theta = 10000;          // base
  std::string scaling = "none";  // none | linear | ntk | yarn | llama3
  double factor = 1;             // all but none
  double low_freq_factor = 1;    // llama3
  double high_freq_factor = 4;   // llama3, above low_freq_factor
  int64_t original_context = 0;  // tokens; yarn, llama3
  double beta_fast = 32;         // turns over original_context; yarn
  double beta_slow = 1;          // likewise
  double attention_factor = 0;   // yarn; 0: 0.1 ln(factor) + 1
  int64_t inverse = 0;           // 1: the transpose

  template <class F>
  void fields(F&& f) {
    f("heads", heads);
    f("kv_heads", kv_heads);
    f("head_dim", head_dim);
    f("layout", layout);
    f("theta", theta);
    f("scaling", scaling);
    f("factor", factor);
    f("low_freq_factor", low_freq_factor);
    f("high_freq_factor", high_freq_factor);
    f("original_context", original_context);
    f("beta_fast", beta_fast);
    f("beta_slow", beta_slow);
    f("attention_factor", attention_factor);
    f("inverse", inverse);
  }
};

// The angle per position of each of the D/2 pairs, in radians.
std::vector<double> rope_frequencies(const RopeAttrs& attrs);

// What cos and sin are multiplied by.
double rope_amplitude(const RopeAttrs& attrs);

}  // namespace trireme
