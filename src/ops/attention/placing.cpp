// How attention is cut. tp: by heads, where the projection arrives so. cp: by rows, as one of the ops that
// talk over the axis. ep: not at all.
#include <fmt/format.h>

#include <stdexcept>

#include "ops/attention/context.h"
#include "ops/attention/context_rows.h"

namespace trireme {
namespace {

constexpr int32_t kRowDim = 1, kHeadsOfQkv = 2, kHeadsOfLse = 1, kRowsOfLse = 2;

void require_heads_divide(const PlaceQuery& query, const AttentionAttrs& a, const char* op) {
  if (a.heads % query.ranks != 0 || a.kv_heads % query.ranks != 0)
    throw std::invalid_argument(fmt::format("{}: {} ranks of {} must divide heads = {} and kv_heads = {}", op,
                                            query.ranks, name_of(query.axis), a.heads, a.kv_heads));
}

Cut cut_heads(const PlaceQuery& query) {
  auto a = unpack_attrs<AttentionAttrs>(query.op.attrs);
  require_heads_divide(query, a, "attention");
  a.heads /= query.ranks, a.kv_heads /= query.ranks;
  return {{shard_of(kHeadsOfQkv), kReplicate},
          {shard_of(kHeadsOfQkv), shard_of(kHeadsOfLse)},
          query.op.kind,
          pack_attrs(a)};
}

Cut cut_rows(const PlaceQuery& query) {
  const auto a = unpack_attrs<AttentionAttrs>(query.op.attrs);
  const ContextRows rows = context_rows_of(query.cp_mode);
  const int64_t whole = query.inputs[0].shape[1] * query.ranks;
  (void)context_rows(whole, query.ranks, query.rank, rows);  // throws where they do not divide
  const bool by_heads = rows == ContextRows::contiguous;
  if (by_heads) require_heads_divide(query, a, "ulysses_attention");
  const char* kind = by_heads                       ? "ulysses_attention"
                     : query.cp_mode == "allgather" ? "gather_attention"
                                                    : "ring_attention";
  return {{shard_of(kRowDim), shard_of(kRowDim)},
          {shard_of(kRowDim), shard_of(by_heads ? kHeadsOfLse : kRowsOfLse)},
          kind,
          pack_attrs(ContextAttrs{a, axis_attrs(query)})};
}

}  // namespace

Cut place_attention(const PlaceQuery& query) {
  const Placement& qkv = query.placed[0];
  if (query.axis == BlockAxis::tp && qkv == shard_of(kHeadsOfQkv)) return cut_heads(query);
  if (query.axis == BlockAxis::cp && qkv == shard_of(kRowDim)) return cut_rows(query);
  return place_whole(query);
}

}  // namespace trireme
