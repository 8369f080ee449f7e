// Position -> (source, epoch, window) -> row. The order of samples is a function of (seed, source, epoch)
// alone.
#include "io/data/dataset.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "base/error.h"
#include "base/random.h"
#include "io/data/mixture.h"
#include "io/data/permutation.h"
#include "io/data/token_source.h"

namespace trireme {

struct Dataset::State {
  DataOptions options;
  Mixture mixture;
  std::vector<TokenSource> sources;
  std::vector<int64_t> windows;  // of each source; 0 for a source of weight 0
  RandomStream epoch_keys;
  int64_t all_windows = 0;
};

namespace {

std::vector<double> checked_weights(const DataOptions& options) {
  std::vector<double> weights;
  for (size_t i = 0; i < options.sources.size(); ++i) {
    const double weight = options.sources[i].weight;
    if (!(weight >= 0) || !std::isfinite(weight)) {
      fail_user("{}: the weight {} of set {} is not a finite number >= 0", options.key, weight, i + 1);
    }
    weights.push_back(weight);
  }
  if (!(std::accumulate(weights.begin(), weights.end(), 0.0) > 0)) {
    fail_user("{}: no set has a weight above 0, so there is nothing to read", options.key);
  }
  return weights;
}

void check_count(const DataOptions& options, const TokenSource& source, size_t number) {
  const int64_t needed = options.seq_len + 1;
  if (source.tokens() >= needed) return;
  fail_user("{}: set {} ({}, {} file{}) has {} tokens; data.seq_len = {} needs at least {}", options.key,
            number + 1, source.shards.front().path, source.shards.size(),
            source.shards.size() == 1 ? "" : "s", source.tokens(), options.seq_len, needed);
}

void check_documents(const DataOptions& options, const TokenSource& source) {
  for (const TokenShard& shard : source.shards) {
    const ShardLayout& layout = shard.layout;
    if (layout.has_documents || delimiter(layout, options.eot, options.vocab)) continue;
    fail_user(
        "{}: data.packing = \"document\" needs to know where documents end, but {} ({} format) keeps no "
        "document index "
        "and no end-of-text id below model.vocab = {} is known; name the tokenizer in data.tokenizer or use "
        "\"stream\"",
        options.key, shard.path, name_of(layout.format), options.vocab);
  }
}

}  // namespace

Dataset::Dataset(DataOptions options) {
  CHECK(options.seq_len > 0 && options.vocab > 0, "seq_len {}, vocab {}", options.seq_len, options.vocab);
  if (options.sources.empty()) fail_user("{} names no files", options.key);
  Mixture mixture(checked_weights(options));
  auto state = std::make_unique<State>(State{.options = std::move(options),
                                             .mixture = std::move(mixture),
                                             .sources = {},
                                             .windows = {},
                                             .epoch_keys = RandomStream(0, "data/epoch")});
  const DataOptions& o = state->options;
  state->epoch_keys.seed = o.seed;
  for (size_t i = 0; i < o.sources.size(); ++i) {
    TokenSource source = open_source(o.sources[i].patterns, o.key);
    const bool read = o.sources[i].weight > 0;
    if (read) check_count(o, source, i);
    if (read && o.packing == RowPacking::document) check_documents(o, source);
    state->windows.push_back(read ? (source.tokens() - 1) / o.seq_len : 0);
    state->all_windows += state->windows.back();
    state->sources.push_back(std::move(source));
  }
  state_ = std::move(state);
}

Dataset::Dataset(Dataset&&) noexcept = default;
Dataset::~Dataset() = default;

const DataOptions& Dataset::options() const { return state_->options; }
int64_t Dataset::samples_per_epoch() const { return state_->all_windows; }

SampleId Dataset::where(int64_t position) const {
  const State& s = *state_;
  CHECK(position >= 0, "position {}", position);
  if (s.options.order == SampleOrder::fixed) {
    CHECK(position < s.all_windows, "position {} of {}", position, s.all_windows);
    int32_t source = 0;
    for (; position >= s.windows[static_cast<size_t>(source)]; ++source) {
      position -= s.windows[static_cast<size_t>(source)];
    }
    return {source, 0, position};
  }
  const Mixture::Place place = s.mixture.at(position);
  const int64_t windows = s.windows[static_cast<size_t>(place.source)];
  const int64_t epoch = place.index / windows;
  const uint64_t key =
      s.epoch_keys.bits((static_cast<uint64_t>(place.source) << 48) ^ static_cast<uint64_t>(epoch));
  const uint64_t window =
      permuted(static_cast<uint64_t>(place.index % windows), static_cast<uint64_t>(windows), key);
  return {place.source, epoch, static_cast<int64_t>(window)};
}

bool Dataset::begins_new_epoch(int64_t position) const {
  if (state_->options.order == SampleOrder::fixed) return false;
  const Mixture::Place place = state_->mixture.at(position);
  return place.index > 0 && place.index % state_->windows[static_cast<size_t>(place.source)] == 0;
}

int64_t Dataset::sample(int64_t position, const SampleRow& row) const {
  const DataOptions& o = state_->options;
  const auto length = static_cast<size_t>(o.seq_len);
  CHECK(row.tokens.size() == length && row.targets.size() == length, "a row of {} and {} for seq_len {}",
        row.tokens.size(), row.targets.size(), length);
  CHECK((row.positions.empty() || row.positions.size() == length) &&
            (row.doc_start.empty() || row.doc_start.size() == length),
        "positions {}, doc_start {} for seq_len {}", row.positions.size(), row.doc_start.size(), length);
  const SampleId id = where(position);
  const TokenSource& source = state_->sources[static_cast<size_t>(id.source)];
  const int64_t first = id.window * o.seq_len;
  std::vector<int32_t> ids(length + 1);
  read_stream(source, first, ids, o.vocab, o.key);
  std::copy_n(ids.begin(), length, row.tokens.begin());
  std::copy_n(ids.begin() + 1, length, row.targets.begin());

  std::vector<int32_t> starts;
  if (o.packing == RowPacking::document) find_document_starts(source, first, ids, o.eot, o.vocab, starts);
  int64_t counted = o.seq_len;
  for (const int32_t b : starts) {
    int32_t& target = row.targets[static_cast<size_t>(b - 1)];
    counted -= target != -1;
    target = -1;
  }
  int32_t begin = 0;
  size_t next = 0;
  for (size_t i = 0; i < length; ++i) {
    while (next < starts.size() && static_cast<size_t>(starts[next]) <= i) begin = starts[next++];
    if (!row.doc_start.empty()) row.doc_start[i] = begin;
    if (!row.positions.empty()) row.positions[i] = static_cast<int32_t>(i) - begin;
  }
  return counted;
}

std::vector<std::string> Dataset::describe(int64_t samples) const {
  const State& s = *state_;
  const int64_t length = s.options.seq_len;
  std::vector<std::string> lines;
  for (size_t i = 0; i < s.sources.size(); ++i) {
    const TokenSource& source = s.sources[i];
    const int64_t windows = s.windows[i];
    std::string line = fmt::format("{} set {}: {} tokens in {} file{}, {} windows of {}", s.options.key,
                                   i + 1, source.tokens(), source.shards.size(),
                                   source.shards.size() == 1 ? "" : "s", windows, length);
    if (windows > 0)
      line += fmt::format(", {} tokens at the end left over", source.tokens() - 1 - windows * length);
    if (s.options.order == SampleOrder::shuffled) {
      const auto number = static_cast<int32_t>(i);
      if (s.sources.size() > 1) {
        line += fmt::format("; weight {} is {:.6g} of all samples", s.options.sources[i].weight,
                            s.mixture.share(number));
      }
      if (samples > 0 && windows > 0) {
        line += fmt::format(
            "; read {:.4g} times over in {} samples",
            static_cast<double>(s.mixture.drawn(number, samples)) / static_cast<double>(windows), samples);
      }
    }
    lines.push_back(std::move(line));
    for (const TokenShard& shard : source.shards) {
      lines.push_back(fmt::format("  {} ({}, {}): {} tokens", shard.path, name_of(shard.layout.format),
                                  name_of(shard.layout.type), shard.layout.count));
    }
  }
  return lines;
}

}  // namespace trireme
