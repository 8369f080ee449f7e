// Runs attention over the context axis on rank threads: the operands of `attention` or `attention_grad` of
// whole sequences are cut as the axis does it, each rank runs its op, and what they made is put together
// again.
#pragma once
#include <string>
#include <vector>

#include "device/cpu/kernel.h"
#include "ops/attention/context.h"
#include "ops/harness/values.h"

namespace trireme {

struct ContextCall {
  std::string mode;  // ring | gather | ulysses
  int64_t ranks = 1;
  AttentionAttrs attrs;
  DType dtype = DType::f32;
  int64_t B = 1, T = 64;  // of the whole
};

struct ForwardResult {
  Values y, lse;
};

// The op that call.mode names, on rank `rank`.
OpSig context_sig(const ContextCall& call, bool grad, bool documents, int64_t rank);

// doc_start: empty for none. Values are in f64 and rounded to the dtype by the caller.
ForwardResult attend_on_ranks(const ContextCall& call, const CpuContext& context, const Values& qkv,
                              const Values& doc_start);
Values differentiate_on_ranks(const ContextCall& call, const CpuContext& context, const Values& qkv,
                              const ForwardResult& forward, const Values& dy, const Values& doc_start);

// The same by plain `attention` on one rank.
ForwardResult attend_whole(const ContextCall& call, const CpuContext& context, const Values& qkv,
                           const Values& doc_start);
Values differentiate_whole(const ContextCall& call, const CpuContext& context, const Values& qkv,
                           const ForwardResult& forward, const Values& dy, const Values& doc_start);

}  // namespace trireme
