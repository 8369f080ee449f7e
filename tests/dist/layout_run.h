// The one harness of the bit-equality and parity tests: the same small training run under any layout, on rank
// threads.
#pragma once
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "config/run_spec.h"
#include "io/store/byte_store.h"
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
  int64_t tp = 1;
  bool sequence = true;
  int64_t tp_chunks = 1;
  int64_t cp = 1;
  std::string cp_mode = "ring";
  int64_t ep = 1, etp = 1;
  std::string recompute = "none";
  int64_t ranks() const { return pp * replicate * shard * cp * tp; }
};

std::string name_of(const Layout& layout);

struct RunForm {
  std::string family = "gpt2";  // gpt2 ties its embeddings, llama does not
  std::string compute = "fp32";
  int64_t sequences = 16;  // of 16 tokens, in micro-batches of one
  int64_t layers = 3;
  int64_t micro = 1;
  int64_t kv_heads = 2;  // of 4 heads, in llama
  double lr = 1e-2;
  double clip_norm = 0.5;
  std::string optimizer;   // further lines of [optimizer]
  bool documents = false;  // each row holds several, and attention stays inside of one
  std::string more;        // further lines of [model]
  std::string sections;    // further sections
};

RunSpec spec_of(const RunForm& form, const Layout& layout);

// What must not depend on the layout.
struct Trace {
  std::vector<bool> skipped;
  std::vector<double> loss, grad_norm;              // by step
  int64_t counted = 0;                              // tokens of the last step
  double eval_loss = 0;                             // sum over a fixed set, after the last step
  std::map<std::string, std::vector<float>> state;  // "params/NAME", "moment1/NAME", ...
};

struct Span {
  int64_t begin = 0, end = 10;  // steps
  // Called by every rank before each of its steps.
  std::function<void(RankLink&, Engine&, int64_t step)> before;
  // Goes on from this store's checkpoint of step `begin`; saves one of step `end`.
  const ByteStore* from = nullptr;
  ByteStore* to = nullptr;
};

// Draws the weights, or goes on from `from`'s.
Trace run_layout(const RunForm& form, const Layout& layout, const Span& steps = {},
                 const Trace* from = nullptr);

// Loss, norm and state to the bit.
void expect_same(const Trace& a, const Trace& b);

// What cutting the inside of a layer leaves: sums in another order. Loss and grad norm to a relative 1e-4.
void expect_close(const Trace& a, const Trace& b);
// The weights to 1e-5, of each parameter's largest magnitude or 1.
void expect_close_weights(const Trace& a, const Trace& b);

}  // namespace trireme::test
