// Token embedding: y[b,t,:] = table[tokens[b,t],:]. The loader has refused ids outside [0, vocab).
//
//   embedding(tokens i32[B,T], table[V,C]) -> y[B,T,C]
//   embedding_grad(tokens i32[B,T], dy[B,T,C]){vocab} -> dtable f32[V,C] +=
#pragma once
#include <cstdint>

namespace trireme {

struct EmbeddingGradAttrs {
  int64_t vocab = 0;  // V: rows of the table

  template <class F>
  void fields(F&& f) {
    f("vocab", vocab);
  }
};

}  // namespace trireme
