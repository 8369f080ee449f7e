// Cutting and joining of operands.
#include "ops/ranks/context_ranks.h"

#include "ops/attention/context_rows.h"
#include "ops/ranks/rank_lists.h"

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

// What each rank's op makes.
std::vector<std::vector<Values>> run(std::vector<RankList> ranks, const CpuContext& context) {
  run_on_ranks(ranks, context);
  std::vector<std::vector<Values>> made;
  for (const RankList& list : ranks) {
    std::vector<Values>& outputs = made.emplace_back();
    for (const ValueId id : list.ops[0].outputs) outputs.push_back(contents_of(list, id));
  }
  return made;
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
  std::vector<RankList> lists;
  for (int64_t rank = 0; rank < c.ranks; ++rank)
    lists.push_back(list_of(context_sig(c, false, !doc_start.empty(), rank),
                            {cut(qkv, rows_of_batch(c, qkv_width(c.attrs)), rows(c, rank)),
                             cut(doc_start, rows_of_batch(c, 1), rows(c, rank))}));
  const auto made = run(std::move(lists), context);
  ForwardResult whole;
  for (int64_t rank = 0; rank < c.ranks; ++rank) {
    const std::vector<Values>& mine = made[static_cast<size_t>(rank)];
    join(mine[0], rows_of_batch(c, c.attrs.heads * c.attrs.head_dim), rows(c, rank), whole.y);
    join(mine[1], lse_dim(c), lse_ranges(c, rank), whole.lse);
  }
  return whole;
}

Values differentiate_on_ranks(const ContextCall& c, const CpuContext& context, const Values& qkv,
                              const ForwardResult& forward, const Values& dy, const Values& doc_start) {
  const CutDim qkv_dim = rows_of_batch(c, qkv_width(c.attrs));
  const CutDim y_dim = rows_of_batch(c, c.attrs.heads * c.attrs.head_dim);
  std::vector<RankList> lists;
  for (int64_t rank = 0; rank < c.ranks; ++rank) {
    const std::vector<RowRange> mine = rows(c, rank);
    lists.push_back(list_of(context_sig(c, true, !doc_start.empty(), rank),
                            {cut(qkv, qkv_dim, mine), cut(forward.y, y_dim, mine),
                             cut(forward.lse, lse_dim(c), lse_ranges(c, rank)), cut(dy, y_dim, mine),
                             cut(doc_start, rows_of_batch(c, 1), mine)}));
  }
  const auto made = run(std::move(lists), context);
  Values whole;
  for (int64_t rank = 0; rank < c.ranks; ++rank)
    join(made[static_cast<size_t>(rank)][0], qkv_dim, rows(c, rank), whole);
  return whole;
}

ForwardResult attend_whole(const ContextCall& c, const CpuContext& context, const Values& qkv,
                           const Values& doc_start) {
  const auto made = run({list_of(plain_sig(c, false, !doc_start.empty()), {qkv, doc_start})}, context);
  return {made[0][0], made[0][1]};
}

Values differentiate_whole(const ContextCall& c, const CpuContext& context, const Values& qkv,
                           const ForwardResult& forward, const Values& dy, const Values& doc_start) {
  return run({list_of(plain_sig(c, true, !doc_start.empty()), {qkv, forward.y, forward.lse, dy, doc_start})},
             context)[0][0];
}

}  // namespace trireme
