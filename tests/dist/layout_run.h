// The one harness of the bit-equality tests: the same small training run under any layout, on rank threads.
#pragma once
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "config/run_spec.h"
#include "train/ranks.h"

namespace trireme::test {

struct Layout {
  int64_t replicate = 1, shard = 1, zero = 0;
  int64_t lanes = 8;
  bool reshard = true;
  bool each_micro_batch = false;
  int64_t prefetch = 1;
  int64_t pp = 1;
  std::string schedule = "1f1b";
  int64_t virtual_stages = 1;
  int64_t ranks() const { return pp * replicate * shard; }
};

std::string name_of(const Layout& layout);

struct RunForm {
  std::string family = "gpt2";  // gpt2 ties its embeddings, llama does not
  std::string compute = "fp32";
  int64_t sequences = 16;  // of 16 tokens, in micro-batches of one
  int64_t layers = 3;
};

RunSpec spec_of(const RunForm& form, const Layout& layout);

// What must not depend on the layout.
struct Trace {
  std::vector<bool> skipped;
  std::vector<double> loss, grad_norm;              // by step
  double eval_loss = 0;                             // sum over a fixed set, after the last step
  std::map<std::string, std::vector<float>> state;  // "params/NAME", "moment1/NAME", ...
};

struct Span {
  int64_t begin = 0, end = 10;  // steps
  // Called by every rank before each of its steps.
  std::function<void(const RankLink&, Engine&, int64_t step)> before;
};

// Draws the weights, or goes on from `from`'s.
Trace run_layout(const RunForm& form, const Layout& layout, const Span& steps = {},
                 const Trace* from = nullptr);

// Loss, norm and state to the bit.
void expect_same(const Trace& a, const Trace& b);

}  // namespace trireme::test
