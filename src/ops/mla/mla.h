// What multi-head latent attention (DeepSeek-V2, section 2.1) needs around plain attention. A head of D dims
// is dn dims without positions, then dr rotated ones; keys' rotated dims are the same for all heads; values
// are dv <= D dims wide, and are padded with zeros so that one attention kernel serves all:
//
//   mla_qkv(q[B,T,H*D], kv[B,T,H*(dn+dv)], k_rope[B,T,dr], positions? i32[B,T]){...} -> qkv[B,T,3*H*D]
//     q head h: q's, its last dr dims rotated; k head h: kv's first dn dims of head h, then k_rope rotated;
//     v head h: kv's last dv dims of head h, then zeros
//   mla_qkv_grad(dqkv, positions?){...} -> dq, dkv, dk_rope      dk_rope sums over the heads
//   mla_values(y[B,T,H*D]){...} -> [B,T,H*dv]                    the dims of each head that are no padding
//   mla_values_grad(dy[B,T,H*dv]){...} -> [B,T,H*D]              the rest has no gradient: zeros
//
// The rotation is that of ops/rope/rope.h, positions included.
#pragma once
#include <cstdint>

#include "ops/rope/rope.h"

namespace trireme {

// mla_qkv, mla_qkv_grad. rope.heads is H, rope.head_dim is dr; rope.kv_heads is 1 and rope.inverse 0.
struct MlaQkvAttrs {
  int64_t nope_dim = 0, v_dim = 0;  // dn, dv
  RopeAttrs rope;

  int64_t head_dim() const { return nope_dim + rope.head_dim; }

  template <class F>
  void fields(F&& f) {
    f("nope_dim", nope_dim);
    f("v_dim", v_dim);
    rope.fields(f);
  }
};

// mla_values, mla_values_grad
struct MlaValuesAttrs {
  int64_t heads = 0, head_dim = 0, v_dim = 0;  // H, D, dv

  template <class F>
  void fields(F&& f) {
    f("heads", heads);
    f("head_dim", head_dim);
    f("v_dim", v_dim);
  }
};

}  // namespace trireme
