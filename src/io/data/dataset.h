// From token shards to training rows: which tokens are sample number `position`, for every position of a
// run. A position is all the state that data order has, so a checkpoint stores one integer. The training
// loop reads through Loader; the validation loop may call `sample` itself.
#pragma once
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace trireme {

// stream: rows ignore document boundaries. document: attention and positions stop at them, and a document's
// last token does not predict the next document's first one.
enum class RowPacking : uint8_t { stream, document };

// shuffled: a new keyed permutation of the windows in every epoch, without end. fixed: the windows in file
// order, once (validation: positions 0, 1, ... are the same rows in every run).
enum class SampleOrder : uint8_t { shuffled, fixed };

// A set of shards that are read as one stream of tokens.
struct DataSource {
  std::vector<std::string> patterns;  // files or globs; the files of each pattern in byte order of the names
  double weight = 1;                  // share of samples, relative to the other sources; 0 = never read
};

struct DataOptions {
  std::vector<DataSource> sources;
  std::string key = "data.train";  // the config key that error messages name
  int64_t seq_len = 0;             // T
  int64_t vocab = 0;               // ids must be below it
  uint64_t seed = 1;
  RowPacking packing = RowPacking::stream;
  SampleOrder order = SampleOrder::shuffled;
  std::optional<uint32_t> eot;  // finds documents in formats that keep no document index
};

// Names a window for ever: the same id is the same tokens whatever the batch or rank.
struct SampleId {
  int32_t source = 0;  // index into DataOptions::sources
  int64_t epoch = 0;   // how often the source was read whole before
  int64_t window = 0;  // tokens [window * T, window * T + T] of the source
  bool operator==(const SampleId&) const = default;
};

// Where a row goes; T elements each. positions and doc_start may be empty when they are not wanted.
struct SampleRow {
  std::span<int32_t> tokens;
  std::span<int32_t> targets;    // the next token, or -1: not counted in the loss
  std::span<int32_t> positions;  // within the document's part in this row (stream: 0..T-1)
  std::span<int32_t> doc_start;  // row index of the first token of the token's document (stream: 0)
};

// Immutable after construction; every function may be called from several threads at once.
class Dataset {
 public:
  // Opens and checks every shard. UserError: a pattern that matches nothing, a source with fewer than T+1
  // tokens, a bad weight, a broken shard, document packing without a way to find documents.
  explicit Dataset(DataOptions options);
  Dataset(Dataset&&) noexcept;
  ~Dataset();

  const DataOptions& options() const;

  // Windows of all sources of non-zero weight together. With order fixed, positions end here.
  int64_t samples_per_epoch() const;

  // Which window stands at `position` (>= 0; one per sequence since step 0). O(1), no I/O.
  SampleId where(int64_t position) const;

  // True for the first sample of a source's second or later time through; the caller logs it.
  bool begins_new_epoch(int64_t position) const;

  // Fills one row; returns the number of counted targets. UserError on an id >= vocab: names shard, offset,
  // id.
  int64_t sample(int64_t position, const SampleRow& row) const;

  // Lines for the log: each source's weight, files in order, tokens, windows, left-over tokens, and how many
  // times each source is read over if `samples` samples are drawn (0: not said).
  std::vector<std::string> describe(int64_t samples) const;

 private:
  struct State;
  std::unique_ptr<const State> state_;
};

}  // namespace trireme
