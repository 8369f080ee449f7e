// The model FLOPs that MFU is stated in.
#pragma once
#include <string>

#include "config/model.h"
#include "model/model.h"

namespace trireme {

// Parameters that take part in a token's matrix products: all matrices but the embedding's and the positions'
// tables; the head's counts, tied or not, once for each token that is predicted; of E experts' matrices the
// top_k that a token goes to.
int64_t matmul_parameters(const ModelSpec& spec, const Model& model);

// Training FLOPs per token, 6 N_matmul + 12 L (H D) T (Chowdhery et al. 2022, PaLM, appendix B): forward and
// backward, attention over the whole square, recomputation not counted. Where value heads are not as wide as
// query heads, 6 L H (D + Dv) T stands for the second term.
double flops_per_token(const ModelSpec& spec, const Model& model, int64_t seq_len);

// "6 * 10,221,056 + 12 * 6 * 384 * 256": the formula with its numbers, for the log.
std::string flops_formula(const ModelSpec& spec, const Model& model, int64_t seq_len);

}  // namespace trireme
