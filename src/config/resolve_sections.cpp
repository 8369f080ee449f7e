// Sections other than [model]: run, data, batch, lr, eval. And how a failed check is said.
#include "config/resolve_sections.h"

#include <algorithm>
#include <cmath>

#include "base/error.h"
#include "config/fields.h"
#include "config/toml_text.h"

namespace trireme {
namespace {

std::string number(double x) {
  return std::abs(x) < 1e18 && x == std::floor(x) ? fmt::format("{:.0f}", x) : fmt::format("{}", x);
}

// The key's value as TOML, or "" when it has none.
std::string value_text(const RawConfig& raw, const std::string& key) {
  std::string text;
  visit_keys(raw, [&](std::string_view section, const auto& member, const Field& f, const auto&...) {
    if (member && key == fmt::format("{}.{}", section, f.key)) text = toml_text(*member);
  });
  return text;
}

// "8 or 12": the multiples of `step` around `value`, at least one step.
std::string nearest_multiples(int64_t value, int64_t step) {
  const int64_t below = value / step * step;
  return below == 0 ? fmt::format("{}", step) : fmt::format("{} or {}", below, below + step);
}

void check_run_name(const RawConfig& raw) {
  const std::string& name = *raw.run.name;
  const bool control =
      std::any_of(name.begin(), name.end(), [](unsigned char c) { return c < 0x20 || c == 0x7f; });
  if (name.empty() || name == "." || name == ".." || name.find('/') != std::string::npos || control ||
      name.size() > 200)
    fail_key(raw, "run.name", "must be a folder's name: 1 to 200 bytes, no slash, not . or ..");
  if (raw.run.dir->empty())
    fail_key(raw, "run.dir", "is empty; write \".\" for the folder where the command runs");
}

// DualPipe has two copies of each stage, which sum the gradients of half the micro-batches each.
bool sums_halves_apart(const RawConfig& raw) {
  const RawParallel& parallel = raw.parallel;
  return *parallel.pp > 1 && !parallel.schedule_file && *parallel.schedule == PipelineSchedule::dualpipe;
}

// The least that the catalog of schedules asks for.
int64_t least_virtual_stages(PipelineSchedule schedule) {
  using enum PipelineSchedule;
  switch (schedule) {
    case interleaved:
    case looped_bfs:
    case interleaved_zb:
    case zbv:
    case dualpipev:
      return 2;
    default:
      return 1;
  }
}

// Micro-batches split evenly over lanes, and lanes over the data-parallel ranks; lanes are summed in a binary
// tree.
void resolve_lanes(RawConfig& raw) {
  RawBatch& batch = raw.batch;
  const int64_t ranks = *raw.parallel.dp_replicate * *raw.parallel.dp_shard;
  const int64_t micro_batches = *batch.sequences / *batch.micro;
  if (micro_batches % ranks != 0)
    fail_key(raw, "batch.sequences",
             "makes {} micro-batches of batch.micro = {}, which {} data-parallel ranks "
             "(parallel.dp_replicate = {} x dp_shard = {}) cannot share evenly; use {} sequences",
             micro_batches, *batch.micro, ranks, *raw.parallel.dp_replicate, *raw.parallel.dp_shard,
             nearest_multiples(*batch.sequences, ranks * *batch.micro));
  const bool halves = sums_halves_apart(raw) && micro_batches % (2 * ranks) == 0;
  const int64_t usual = halves ? 2 * ranks : ranks;
  if (!batch.lanes) batch.lanes = usual;
  const int64_t lanes = *batch.lanes;
  if (lanes != usual && raw.parallel.reduce_each_micro_batch.value_or(false) &&
      raw.parallel.zero.value_or(0) >= 2)
    fail_key(
        raw, "batch.lanes",
        "fixes an order of sums that parallel.reduce_each_micro_batch = true does not keep; use one of them");
  const int64_t per_rank = lanes / ranks;
  if (lanes % ranks != 0 || (per_rank & (per_rank - 1)) != 0)
    fail_key(raw, "batch.lanes", "must be {} data-parallel ranks times a power of two; use {}", ranks, usual);
  if (micro_batches % lanes != 0)
    fail_key(
        raw, "batch.lanes",
        "does not divide the {} micro-batches of a step (batch.sequences = {}, batch.micro = {}); use {}",
        micro_batches, *batch.sequences, *batch.micro, usual);
}

}  // namespace

std::string range_text(const Range& range) {
  const bool has_min = range.min > -std::numeric_limits<double>::infinity();
  const bool has_max = range.max < std::numeric_limits<double>::infinity();
  const std::string low = (range.min_open ? "above " : has_max ? "from " : "at least ") + number(range.min);
  const std::string high = (range.max_open ? "below " : has_min ? "" : "at most ") + number(range.max);
  if (has_min && has_max)
    return low + (range.min_open ? " and " + (range.max_open ? high : "at most " + high) : " to " + high);
  return has_min ? low : has_max ? high : "";
}

void fail_at(const RawConfig& raw, const std::string& key, const std::string& wrong) {
  const auto place = raw.where.find(key);
  const std::string value = value_text(raw, key);
  fail_user("{}: {}{} {}", place == raw.where.end() ? raw.name : place->second, key,
            value.empty() ? "" : " = " + value, wrong);
}

void fail_missing(const RawConfig& raw, const std::string& key, const std::string& example) {
  fail_user("{}: {} is missing; write it like {}", raw.name, key, example);
}

void resolve_run(RawConfig& raw) {
  if (!raw.run.name) fail_missing(raw, "run.name", "name = \"demo\" under [run]");
  if (!raw.run.steps) fail_missing(raw, "run.steps", "steps = 1000 under [run]");
  if (!raw.optimizer.lr) fail_missing(raw, "optimizer.lr", "lr = 6e-4 under [optimizer]");
  check_run_name(raw);
  if (raw.run.device == DeviceKind::automatic) raw.run.device = DeviceKind::cpu;
}

void resolve_data(RawConfig& raw) {
  RawData& data = raw.data;
  if (!data.train) fail_missing(raw, "data.train", "train = [\"shards/train*.bin\"] under [data]");
  if (data.train->empty())
    fail_key(raw, "data.train", "names no shards; write it like [\"shards/train*.bin\"]");
  double total = 0;
  for (const DataSet& set : *data.train) total += set.weight;
  if (total == 0)
    fail_key(raw, "data.train", "has no set with a weight above 0; weights are relative, use ones around 1");
  if (total > 1e300)
    fail_key(raw, "data.train",
             "has weights whose sum is not finite; weights are relative, use ones around 1");
  if (data.tokenizer && data.tokenizer->empty())
    fail_key(raw, "data.tokenizer", "is empty; name a tokenizer.json or remove it");
  if (!data.seed) data.seed = raw.run.seed;
  if (!data.seq_len) data.seq_len = raw.model.context;
  if (*data.seq_len > *raw.model.context)
    fail_key(raw, "data.seq_len",
             "is longer than model.context = {}; use at most {} or a larger model.context",
             *raw.model.context, *raw.model.context);
}

void resolve_batch(RawConfig& raw) {
  RawBatch& batch = raw.batch;
  const int64_t seq_len = *raw.data.seq_len;
  if (batch.sequences && batch.tokens)
    fail_key(raw, "batch.tokens", "and batch.sequences = {} both give the batch; remove one of them",
             *batch.sequences);
  if (!batch.sequences && !batch.tokens)
    fail_missing(raw, "batch.sequences (or batch.tokens)", "sequences = 8 under [batch]");
  if (batch.tokens) {
    if (*batch.tokens % seq_len != 0)
      fail_key(raw, "batch.tokens", "is not a multiple of data.seq_len = {}; use {}", seq_len,
               nearest_multiples(*batch.tokens, seq_len));
    batch.sequences = *batch.tokens / seq_len;
  }
  const int64_t micro = *batch.micro;
  if (*batch.sequences % micro != 0) {
    const std::string derived =
        batch.tokens ? fmt::format(" (batch.tokens = {} over data.seq_len = {})", *batch.tokens, seq_len)
                     : "";
    fail_key(raw, "batch.sequences",
             "is not a multiple of batch.micro = {}{}; use {} sequences, or a micro that divides {}", micro,
             derived, nearest_multiples(*batch.sequences, micro), *batch.sequences);
  }
  resolve_lanes(raw);
  int64_t tokens = 0;
  if (__builtin_mul_overflow(*batch.sequences * seq_len, *raw.run.steps, &tokens))
    fail_key(raw, "run.steps", "of {} tokens each are more than 2^63 tokens; use fewer",
             *batch.sequences * seq_len);
}

void resolve_parallel(RawConfig& raw) {
  RawParallel& parallel = raw.parallel;
  if (!parallel.zero) parallel.zero = *parallel.dp_shard > 1 ? 1 : 0;
  int64_t ranks = 1;
  for (const int64_t size :
       {*parallel.pp, *parallel.dp_replicate, *parallel.dp_shard, *parallel.cp, *parallel.tp})
    ranks = size > kMostRanks / ranks ? kMostRanks + 1 : size * ranks;
  if (ranks > kMostRanks)
    fail_key(
        raw, "parallel.pp",
        "x parallel.dp_replicate = {} x dp_shard = {} x cp = {} x tp = {} make more than {} ranks; use fewer",
        *parallel.dp_replicate, *parallel.dp_shard, *parallel.cp, *parallel.tp, kMostRanks);
  if (*parallel.pp == 1) return;
  if (parallel.schedule_file && parallel.schedule_file->empty())
    fail_key(raw, "parallel.schedule_file", "is empty; name a file or remove it");
  if (!parallel.virtual_stages && !parallel.schedule_file)
    parallel.virtual_stages = least_virtual_stages(*parallel.schedule);
}

void resolve_lr(RawConfig& raw) {
  RawLr& lr = raw.lr;
  const int64_t warmup = *lr.warmup_steps;
  const bool constant = *lr.kind == LrKind::constant;
  if (constant && warmup > *raw.run.steps)
    fail_key(raw, "lr.warmup_steps",
             "is more than run.steps = {}, so the peak would not be reached; use at most {}", *raw.run.steps,
             *raw.run.steps);
  if (!lr.decay_steps) lr.decay_steps = *raw.run.steps;
  if (!constant && warmup > *lr.decay_steps)
    fail_key(raw, "lr.warmup_steps",
             "is more than lr.decay_steps = {}{}, so the peak would not be reached; use at most {}",
             *lr.decay_steps, raw.where.count("lr.decay_steps") != 0 ? "" : " (run.steps)", *lr.decay_steps);
  const int64_t left = *lr.decay_steps - warmup;
  if (!lr.cooldown_steps) lr.cooldown_steps = std::min(std::max<int64_t>(*lr.decay_steps / 5, 1), left);
  if (*lr.kind == LrKind::wsd && *lr.cooldown_steps > left)
    fail_key(
        raw, "lr.cooldown_steps",
        "is more than the {} steps that lr.warmup_steps = {} leaves of lr.decay_steps = {}; use at most {}",
        left, warmup, *lr.decay_steps, left);
}

void resolve_eval(RawConfig& raw) {
  const bool has_val = !raw.data.val->empty();
  if (!raw.eval.every_steps) raw.eval.every_steps = has_val ? 250 : 0;
  if (!has_val && *raw.eval.every_steps > 0)
    fail_key(raw, "eval.every_steps", "needs validation data; set data.val, or eval.every_steps = 0");
}

}  // namespace trireme
