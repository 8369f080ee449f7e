// What predicting a further token (multi-token prediction, DeepSeek-V3, section 2.2) needs besides a layer
// and the head: the tokens that are known then, and a head that sees both kinds of rows in one call.
//
//   mtp_targets(targets i32[B,T]) -> next_ids i32[B,T], all i32[2B,T]
//     next_ids: the target, id 0 where it is not counted
//     all: the targets, then as further ones (ops/head/head.h) the tokens after them, targets[b,t+1]; not
//     counted in the last column and where targets[b,t] or targets[b,t+1] is not. Where sequences are cut
//     over the ranks of cp, a rank's T rows are those of context_rows, and their neighbours are asked for.
//   stack_batch(a[B,...], b[B,...]) -> [2B,...]
//   unstack_batch(y[2B,...]) -> a, b       its gradient
#pragma once
#include <string>

#include "ops/op.h"

namespace trireme {

struct MtpTargetsAttrs {
  std::string cp_mode;  // whose rows a rank has (ops/attention/context_rows.h); "": all of them
  AxisAttrs axis;
  template <class F>
  void fields(F&& f) {
    f("cp_mode", cp_mode);
    axis.fields(f);
  }
};

}  // namespace trireme
