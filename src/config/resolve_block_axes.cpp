// Whether the axes that cut the inside of a block divide what they cut. What does not is refused with the
// numbers that would do.
#include <numeric>

#include "base/error.h"
#include "config/resolve_sections.h"

namespace trireme {
namespace {

// "1, 2 or 4": the divisors of n, as few as are read at a glance.
std::string divisors_text(int64_t n) {
  constexpr size_t kShown = 8;
  std::vector<int64_t> divisors;
  for (int64_t d = 1; d <= n && divisors.size() < kShown; ++d)
    if (n % d == 0) divisors.push_back(d);
  std::string text;
  for (size_t i = 0; i < divisors.size(); ++i)
    text += (i == 0 ? "" : i + 1 == divisors.size() ? " or " : ", ") + std::to_string(divisors[i]);
  return text;
}

void require_divides(const RawConfig& raw, const std::string& key, int64_t ranks, std::string_view what,
                     int64_t size, int64_t all) {
  if (size % ranks != 0)
    fail_key(raw, key, "does not divide {} = {}; use {}", what, size, divisors_text(all));
}

bool has_experts(const RawConfig& raw) { return raw.model.moe.experts.value_or(0) > 0; }

void check_tensor(const RawConfig& raw) {
  const int64_t tp = *raw.parallel.tp;
  const RawModel& m = raw.model;
  const bool moe = has_experts(raw), dense = !moe || *m.moe.first_dense > 0 || *m.moe.every > 1;
  std::vector<std::pair<std::string_view, int64_t>> sizes = {{"model.heads", *m.heads},
                                                             {"model.kv_heads", *m.kv_heads}};
  if (dense) sizes.push_back({"model.ffn", *m.ffn});
  if (moe && *m.moe.shared_ffn > 0) sizes.push_back({"moe.shared_ffn", *m.moe.shared_ffn});
  if (moe && *raw.parallel.etp > 1) sizes.push_back({"moe.expert_ffn", *m.moe.expert_ffn});
  int64_t all = 0;
  for (const auto& [what, size] : sizes) all = std::gcd(all, size);
  for (const auto& [what, size] : sizes) require_divides(raw, "parallel.tp", tp, what, size, all);
}

void check_context(const RawConfig& raw) {
  const int64_t cp = *raw.parallel.cp, seq_len = *raw.data.seq_len;
  if (has_experts(raw) && *raw.model.moe.capacity_factor > 0)
    fail_key(raw, "moe.capacity_factor",
             "drops choices in the order of tokens, which parallel.cp = {} keeps on different ranks; use "
             "capacity_factor = 0, or cp = 1",
             cp);
  if (*raw.parallel.cp_mode != ContextMode::ulysses) {
    if (seq_len % (2 * cp) != 0)
      fail_key(raw, "parallel.cp",
               "cuts a sequence into 2 x {} chunks, which do not divide data.seq_len = {}; use {}", cp,
               seq_len, seq_len % 2 == 0 ? divisors_text(seq_len / 2) : "an even data.seq_len");
    return;
  }
  require_divides(raw, "parallel.cp", cp, "data.seq_len", seq_len, seq_len);
  const int64_t tp = *raw.parallel.tp;
  const int64_t heads = *raw.model.heads / tp, kv_heads = *raw.model.kv_heads / tp;
  for (const auto& [what, size] : {std::pair("model.heads", heads), std::pair("model.kv_heads", kv_heads)})
    if (size % cp != 0)
      fail_key(raw, "parallel.cp",
               "with cp_mode = \"ulysses\" does not divide {} / tp = {}; use {}, or cp_mode = \"ring\"", what,
               size, divisors_text(std::gcd(heads, kv_heads)));
}

// Rows of a micro-batch on a context rank, cut once more by tp.
void check_sequence(const RawConfig& raw) {
  const int64_t tp = *raw.parallel.tp, cp = *raw.parallel.cp;
  const int64_t rows = *raw.batch.micro * *raw.data.seq_len / cp;
  if (rows % tp != 0)
    fail_key(
        raw, "parallel.tp",
        "does not divide the {} tokens of a micro-batch (batch.micro = {} x data.seq_len = {} / cp = {}), "
        "which parallel.sequence = true cuts; use a multiple of {} for batch.micro, or sequence = false",
        rows, *raw.batch.micro, *raw.data.seq_len, cp, tp / std::gcd(tp, *raw.data.seq_len / cp));
  const int64_t own = rows / tp;
  if (own % *raw.parallel.tp_chunks != 0)
    fail_key(raw, "parallel.tp_chunks",
             "does not divide the {} tokens that a tp rank has of a micro-batch (batch.micro = {} x "
             "data.seq_len = {} / cp = {} / tp = {}); use {}",
             own, *raw.batch.micro, *raw.data.seq_len, cp, tp, divisors_text(own));
}

void check_experts(RawConfig& raw) {
  RawParallel& parallel = raw.parallel;
  if (!parallel.etp) parallel.etp = *parallel.tp;
  if (*parallel.etp != 1 && *parallel.etp != *parallel.tp)
    fail_key(raw, "parallel.etp", "must be 1 or parallel.tp = {}", *parallel.tp);
  if (*parallel.ep == 1) return;
  if (!has_experts(raw)) fail_key(raw, "parallel.ep", "needs experts; set moe.experts, or parallel.ep = 1");
  require_divides(raw, "parallel.ep", *parallel.ep, "moe.experts", *raw.model.moe.experts,
                  *raw.model.moe.experts);
  const int64_t ranks = *parallel.dp_shard * *parallel.cp;
  if (ranks % *parallel.ep != 0)
    fail_key(raw, "parallel.ep",
             "does not divide the ranks it is a part of (parallel.dp_shard = {} x cp = {}); use {}",
             *parallel.dp_shard, *parallel.cp, divisors_text(ranks));
}

// The counts of choices per expert are summed over tp and cp in slices of their own.
void check_counts(const RawConfig& raw) {
  const int64_t cp = *raw.parallel.cp, experts = *raw.model.moe.experts;
  if (experts % cp != 0)
    fail_key(raw, "parallel.cp",
             "with parallel.tp = {} and sequence = true does not divide moe.experts = {}; use {}, or "
             "sequence = false",
             *raw.parallel.tp, experts, divisors_text(experts));
}

}  // namespace

void resolve_block_axes(RawConfig& raw) {
  check_experts(raw);
  if (*raw.parallel.tp > 1) check_tensor(raw);
  if (*raw.parallel.cp > 1) check_context(raw);
  if (*raw.parallel.tp > 1 && *raw.parallel.sequence) check_sequence(raw);
  if (*raw.parallel.tp > 1 && *raw.parallel.sequence && has_experts(raw)) check_counts(raw);
}

}  // namespace trireme
