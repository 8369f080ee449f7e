// Learned positions (GPT-2): y[b,t,:] = x[b,t,:] + table[p,:], where p = positions[b,t], or t without them.
//
//   positions(x[B,T,C], table[P,C], positions? i32[B,T]) -> y[B,T,C]      may be done in place
//   positions_grad(dy[B,T,C], positions? i32[B,T]){context} -> dtable f32[P,C] +=
//
// The gradient of x is dy itself.
#pragma once
#include <cstdint>

namespace trireme {

struct PositionsGradAttrs {
  int64_t context = 0;  // P: rows of the table, at least T

  template <class F>
  void fields(F&& f) {
    f("context", context);
  }
};

}  // namespace trireme
