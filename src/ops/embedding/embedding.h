// Token embedding: y[b,t,:] = table[tokens[b,t] - first,:]. The loader has refused ids outside [0, vocab). A
// table may be the part of a larger one that begins at row `first`: ids outside of it give zeros, and nothing
// is added for them.
//
//   embedding(tokens i32[B,T], table[V,C]){first} -> y[B,T,C]
//   embedding_grad(tokens i32[B,T], dy[B,T,C]){vocab, first} -> dtable f32[V,C] +=
#pragma once
#include <cstdint>

namespace trireme {

struct EmbeddingAttrs {
  int64_t first = 0;

  template <class F>
  void fields(F&& f) {
    f("first", first);
  }
};

struct EmbeddingGradAttrs {
  int64_t vocab = 0;  // V: rows of the table
  int64_t first = 0;

  template <class F>
  void fields(F&& f) {
    f("vocab", vocab);
    f("first", first);
  }
};

}  // namespace trireme
