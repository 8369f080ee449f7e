// The shapes that all norms are checked and timed on.
#pragma once
#include <string>
#include <vector>

#include "ops/op.h"

namespace trireme {

struct NormSize {
  std::string name;
  Shape x;
  bool finite_difference = false, bench = false;
};

// Tails of rows and of widths, chunks of rows that do not divide, GPT-2 124M and Llama 3 8B.
inline std::vector<NormSize> norm_sizes() {
  return {{"one", {1, 1, 2}},
          {"small", {2, 3, 5}, true},
          {"tail", {1, 7, 33}},
          {"toy", {2, 64, 64}},
          {"chunks", {3, 89, 100}},
          {"many_chunks", {2, 1100, 17}},
          {"gpt2_124m", {4, 1024, 768}, false, true},
          {"llama3_8b", {1, 2048, 4096}, false, true}};
}

}  // namespace trireme
