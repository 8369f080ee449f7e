// Cutting and joining of operands, and a rank's call.
#include "ops/ranks/context_ranks.h"

#include <gtest/gtest.h>

#include <memory>

#include "comm/axis_comm.h"
#include "comm/rank_threads.h"
#include "ops/attention/context_rows.h"
#include "ops/harness/guarded_buffer.h"

namespace trireme {
namespace {

// A tensor of whole sequences seen as [outer, cut, inner]: one of its dims is dealt out in ranges.
struct CutDim {
  int64_t outer = 1, size = 1, inner = 1;
};

CutDim rows_of_batch(const ContextCall& c, int64_t width) { return {c.B, c.T, width}; }

// How lse [B,H,T] is cut: by rows, or by heads for ulysses.
CutDim lse_dim(const ContextCall& c) {
  if (c.mode == "ulysses") return {c.B, c.attrs.heads, c.T};
  return {c.B * c.attrs.heads, c.T, 1};
}

std::vector<RowRange> rows(const ContextCall& c, int64_t rank) {
  return context_rows(c.T, c.ranks, rank, context_rows_of(c.mode));
}
std::vector<RowRange> lse_ranges(const ContextCall& c, int64_t rank) {
  if (c.mode != "ulysses") return rows(c, rank);
  const int64_t heads = c.attrs.heads / c.ranks;
  return {{rank * heads, heads}};
}

template <class F>
void each_element(const CutDim& dim, const std::vector<RowRange>& ranges, const F& f) {
  size_t part = 0;
  for (int64_t o = 0; o < dim.outer; ++o)
    for (const RowRange& range : ranges)
      for (int64_t i = range.begin; i < range.begin + range.count; ++i)
        for (int64_t k = 0; k < dim.inner; ++k)
          f(static_cast<size_t>((o * dim.size + i) * dim.inner + k), part++);
}

Values cut(const Values& whole, const CutDim& dim, const std::vector<RowRange>& ranges) {
  Values part;
  if (whole.empty()) return part;
  each_element(dim, ranges, [&](size_t w, size_t) { part.push_back(whole[w]); });
  return part;
}

void join(const Values& part, const CutDim& dim, const std::vector<RowRange>& ranges, Values& whole) {
  whole.resize(static_cast<size_t>(dim.outer * dim.size * dim.inner));
  each_element(dim, ranges, [&](size_t w, size_t p) { whole[w] = part.at(p); });
}

// One call with guarded operands; empty inputs are absent.
std::vector<Values> run_op(const OpSig& sig, const CpuContext& context, const std::vector<Values>& in,
                           const AxisComm* comm) {
  std::vector<std::unique_ptr<GuardedBuffer>> buffers;
  const auto buffer = [&](int64_t bytes) {
    buffers.push_back(std::make_unique<GuardedBuffer>(bytes));
    return buffers.back()->data();
  };
  std::vector<void*> inputs, outputs;
  for (size_t i = 0; i < in.size(); ++i) {
    inputs.push_back(in[i].empty() ? nullptr : buffer(bytes_of(sig.inputs[i])));
    if (!in[i].empty()) encode(in[i], sig.inputs[i].dtype, static_cast<std::byte*>(inputs[i]));
  }
  for (const TensorType& type : sig.outputs) outputs.push_back(buffer(bytes_of(type)));
  std::byte* scratch = buffer(op_def(sig.kind).scratch_bytes(sig, context.threads));
  find_cpu_kernel(sig.kind)(sig, context)({inputs, outputs, scratch, comm});
  for (const auto& b : buffers) EXPECT_TRUE(b->intact()) << sig.kind << " wrote outside its buffers";
  std::vector<Values> made;
  for (size_t i = 0; i < outputs.size(); ++i)
    made.push_back(
        decode(static_cast<std::byte*>(outputs[i]), sig.outputs[i].dtype, count(sig.outputs[i].shape)));
  return made;
}

template <class Body>
void on_ranks(int64_t ranks, const Body& body) {
  LocalWorld world({.ranks = static_cast<int>(ranks), .timeout_s = 60});
  const std::vector<std::string> errors = run_ranks(world, static_cast<int>(ranks), [&](int rank) {
    const auto communicator = world.communicator(all_ranks(static_cast<int>(ranks)), rank, 0);
    CommWorker queue;
    const AxisComm comm{communicator.get(), &queue};
    body(rank, &comm);
  });
  for (const std::string& error : errors) EXPECT_EQ(error, "");
}

OpSig plain_sig(const ContextCall& c, bool grad, bool documents) {
  OpSig sig = context_sig({"ring", 1, c.attrs, c.dtype, c.B, c.T}, grad, documents, 0);
  sig.kind = grad ? "attention_grad" : "attention";
  sig.attrs = pack_attrs(c.attrs);
  return sig;
}

}  // namespace

OpSig context_sig(const ContextCall& c, bool grad, bool documents, int64_t rank) {
  const int64_t T = c.T / c.ranks;
  const TensorType qkv{c.dtype, {c.B, T, qkv_width(c.attrs)}};
  const TensorType docs = documents ? TensorType{DType::i32, {c.B, T}} : absent_type();
  OpSig sig;
  sig.kind = c.mode + "_attention";
  sig.attrs = pack_attrs(ContextAttrs{c.attrs, {c.ranks > 1 ? "cp" : "", c.ranks, rank}});
  sig.inputs = {qkv, docs};
  sig.outputs = op_def(sig.kind).infer(sig.attrs, sig.inputs);
  if (!grad) return sig;
  sig.inputs = {qkv, sig.outputs[0], sig.outputs[1], sig.outputs[0], docs};
  sig.kind += "_grad";
  sig.outputs = op_def(sig.kind).infer(sig.attrs, sig.inputs);
  return sig;
}

ForwardResult attend_on_ranks(const ContextCall& c, const CpuContext& context, const Values& qkv,
                              const Values& doc_start) {
  ForwardResult whole;
  std::mutex joining;
  on_ranks(c.ranks, [&](int rank, const AxisComm* comm) {
    const std::vector<Values> made = run_op(context_sig(c, false, !doc_start.empty(), rank), context,
                                            {cut(qkv, rows_of_batch(c, qkv_width(c.attrs)), rows(c, rank)),
                                             cut(doc_start, rows_of_batch(c, 1), rows(c, rank))},
                                            comm);
    const std::lock_guard lock(joining);
    join(made[0], rows_of_batch(c, c.attrs.heads * c.attrs.head_dim), rows(c, rank), whole.y);
    join(made[1], lse_dim(c), lse_ranges(c, rank), whole.lse);
  });
  return whole;
}

Values differentiate_on_ranks(const ContextCall& c, const CpuContext& context, const Values& qkv,
                              const ForwardResult& forward, const Values& dy, const Values& doc_start) {
  Values whole;
  std::mutex joining;
  const CutDim qkv_dim = rows_of_batch(c, qkv_width(c.attrs));
  const CutDim y_dim = rows_of_batch(c, c.attrs.heads * c.attrs.head_dim);
  on_ranks(c.ranks, [&](int rank, const AxisComm* comm) {
    const std::vector<RowRange> mine = rows(c, rank);
    const std::vector<Values> made = run_op(context_sig(c, true, !doc_start.empty(), rank), context,
                                            {cut(qkv, qkv_dim, mine), cut(forward.y, y_dim, mine),
                                             cut(forward.lse, lse_dim(c), lse_ranges(c, rank)),
                                             cut(dy, y_dim, mine), cut(doc_start, rows_of_batch(c, 1), mine)},
                                            comm);
    const std::lock_guard lock(joining);
    join(made[0], qkv_dim, mine, whole);
  });
  return whole;
}

ForwardResult attend_whole(const ContextCall& c, const CpuContext& context, const Values& qkv,
                           const Values& doc_start) {
  std::vector<Values> made =
      run_op(plain_sig(c, false, !doc_start.empty()), context, {qkv, doc_start}, nullptr);
  return {std::move(made[0]), std::move(made[1])};
}

Values differentiate_whole(const ContextCall& c, const CpuContext& context, const Values& qkv,
                           const ForwardResult& forward, const Values& dy, const Values& doc_start) {
  return run_op(plain_sig(c, true, !doc_start.empty()), context, {qkv, forward.y, forward.lse, dy, doc_start},
                nullptr)[0];
}

}  // namespace trireme
