// The next token from logits.
#pragma once
#include <cstdint>
#include <span>
#include <vector>

#include "base/random.h"

namespace trireme {

struct SamplerOptions {
  double temperature = 1.0;  // 0: always the likeliest
  int64_t top_k = 0;         // only the k likeliest; 0: all
  double top_p = 1.0;        // only the likeliest that together reach p (Holtzman et al. 2020)
  uint64_t seed = 1;
};

class Sampler {
 public:
  explicit Sampler(const SamplerOptions& options) : options_(options), random_(options.seed, "generate") {}

  // Number `index` of the sequence, a pure function of (options, index, logits). Equal logits: the lower id
  // first.
  uint32_t sample(std::span<const float> logits, int64_t index);

 private:
  SamplerOptions options_;
  RandomStream random_;
  std::vector<uint32_t> order_;
  std::vector<double> weights_;
};

}  // namespace trireme
