// Training FLOPs per token: 6 N_matmul + 12 L d T, of a shape given by numbers or by a config.
#pragma once
#include <cstdint>
#include <string>

#include "config/run_spec.h"
#include "model/model.h"

namespace trireme {

// Parameters that a token uses: of E experts' the top_k that it goes to, of all others all. Routers' state,
// which nothing trains, is not counted.
int64_t active_parameters(const ModelSpec& spec, const Model& model);

struct TokenFlops {
  double products = 0;   // 6 N: forward 2 N, backward 4 N
  double attention = 0;  // 12 L d T: scores and values over the whole square; 0: not counted
  std::string formula, numbers;
  double all() const { return products + attention; }
};

struct ModelSizes {
  double parameters = 0;                   // that take part in a token's products
  int64_t layers = 0, width = 0, seq = 0;  // all 0: attention is not counted
  std::string symbol = "N";                // of the parameters, in the formula
};
// Chowdhery et al. 2022 (PaLM), appendix B; without the second term Kaplan et al. 2020.
TokenFlops token_flops(const ModelSizes& sizes);
// As MFU of a run is stated: model/flops.h.
TokenFlops token_flops(const RunSpec& spec);

}  // namespace trireme
