// Checkpoints: saving, listing, verifying and reading them (format: docs/checkpoints.md). Called by the
// training loop, evaluation, generation and `trireme ckpt`. A checkpoint is whole or not there: it counts
// once its COMMITTED stands, and that holds the checksum of index.json, which holds those of every byte.
//
//   auto store = open_directory_store("runs/demo/checkpoints");
//   save_checkpoint(*store, meta, pieces, {.keep = {.newest = 3}});
//   if (auto found = newest_good(*store, {.threads = 2}, [&](const std::string& why) { log.warn(why); })) {
//     found->require_exactly(names);
//     found->read("params/embedding", DType::f32, {257, 64}, bytes);
//   }
//
// Failures are EnvError (CheckpointDamaged where bytes are wrong) and name checkpoint, file and tensor; a
// tensor that is missing, extra, or of another dtype or shape than asked for is a UserError (the config
// differs from the run's).
#pragma once
#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <stop_token>
#include <string>
#include <vector>

#include "base/dtype.h"
#include "base/shape.h"
#include "io/checkpoint/box_runs.h"
#include "io/checkpoint/tensor_piece.h"
#include "io/store/byte_store.h"

namespace trireme {

// What a run needs besides its tensors.
struct CheckpointMeta {
  int64_t step = 0;           // optimizer steps done
  int64_t data_position = 0;  // sequences taken from the data order so far
  int64_t tokens_seen = 0;
  int64_t skipped_steps = 0;              // steps left out for a NaN or Inf
  std::map<std::string, int64_t> counts;  // any further integers of the loop, by name
  std::string config_toml;                // the resolved config
};

// Which checkpoints stay (io/checkpoint/retention.h).
struct Retention {
  int64_t newest = 0;       // so many; 0 = all
  int64_t every_steps = 0;  // those of steps that it divides stay for ever; 0 = none
};

struct SaveOptions {
  Retention keep;  // of older ones, counted up to this step
  // Names of some that stay in any case, asked for when the new one stands; may be empty.
  std::function<std::vector<std::string>()> pinned;
};

struct SaveReport {
  std::string name;      // "step-00000100"
  std::string location;  // for messages: "runs/demo/checkpoints/step-00000100"
  int64_t bytes = 0;
  std::vector<std::string> removed;          // leftovers of killed saves, and checkpoints older than `keep`
  std::optional<std::string> removal_error;  // why an old one could not be removed; the new one stands
};

// Removes the folders that a killed save or removal left, under a temporary name or never committed, and says
// which. Saving does so first.
std::vector<std::string> remove_leftovers(ByteStore& store);

// Durable when it returns. On an error (disk full, unwritable) nothing of it remains and older checkpoints
// are intact. A checkpoint of the same step is replaced in one instant.
SaveReport save_checkpoint(ByteStore& store, const CheckpointMeta& meta, std::span<const TensorPiece> pieces,
                           const SaveOptions& options);

struct CheckpointName {
  int64_t step = 0;
  std::string name;        // "step-00000100"
  bool committed = false;  // false: a save that was killed, never to be read
};

std::string checkpoint_name(int64_t step);  // 100 -> "step-00000100"
std::vector<CheckpointName> list_checkpoints(
    const ByteStore& store);  // by step, ascending; other names left out

// When a rank's file is held against the index: all of them before anything is read, or each when it is used.
enum class FileCheck : uint8_t { at_once, when_used };

struct ReadOptions {
  int threads = 1;
  FileCheck files = FileCheck::at_once;
  std::stop_token stop;  // ends a read between two blocks, with an EnvError
};

// Elements of a tensor, and where they go: part.elements() * size_of(dtype) bytes.
struct WantedPart {
  BoxPart part;
  std::span<std::byte> into;
};

struct StoredTensor {
  std::string name;
  DType dtype = DType::f32;
  Shape shape;
};

struct CheckpointIndex;
struct IndexTensor;
class CheckpointFiles;

// An open checkpoint. The constructor verifies index.json against COMMITTED, and the files' sizes and headers
// as FileCheck says; read() verifies the data. read() may be called from several threads.
class CheckpointReader {
 public:
  CheckpointReader(const ByteStore& store, const std::string& name, const ReadOptions& options = {});
  CheckpointReader(CheckpointReader&&) noexcept;
  CheckpointReader& operator=(CheckpointReader&&) noexcept;
  ~CheckpointReader();

  const CheckpointMeta& meta() const;
  std::string location() const;               // for messages
  std::vector<StoredTensor> tensors() const;  // by name
  int64_t bytes() const;                      // of its files, index.json left out

  // Copies the tensor, verifying its checksums. `into` has exactly count(shape) * size_of(dtype) bytes.
  void read(const std::string& tensor, DType dtype, const Shape& shape, std::span<std::byte> into) const;
  // Likewise parts of it, whatever parts it was written in. Reads the blocks that have any of them, once.
  void read(const std::string& tensor, DType dtype, const Shape& shape,
            std::span<const WantedPart> wanted) const;
  // Refuses when the checkpoint lacks this tensor or has it in another form.
  void require(const std::string& tensor, DType dtype, const Shape& shape) const;
  // Refuses when the checkpoint lacks one of these tensors or has another besides.
  void require_exactly(std::span<const std::string> names) const;
  // Reads every byte; returns what is wrong, a line per damaged block of a tensor. EnvError when it cannot.
  std::vector<std::string> faults() const;

 private:
  void check_stop() const;
  const IndexTensor& find(const std::string& name, DType dtype, const Shape& shape) const;

  const ByteStore* store_;
  std::string name_;
  ReadOptions options_;
  std::unique_ptr<CheckpointIndex> index_;
  std::unique_ptr<CheckpointFiles> files_;
};

struct VerifyReport {
  std::string name;
  int64_t step = 0;
  int64_t bytes = 0;  // of all its files
  int64_t tensors = 0;
  std::vector<std::string> faults;  // empty: every byte is as it was written
  bool unreadable = false;          // not all could be read: the last fault says why
};

VerifyReport verify_checkpoint(const ByteStore& store, const std::string& name,
                               const ReadOptions& options = {});

// What of a checkpoint is verified before it counts as good: every byte, or index.json, for those who will
// find out about the rest when they read it.
enum class Trust : uint8_t { every_byte, index };

struct Search {
  Trust trust = Trust::every_byte;
  int64_t before_step = std::numeric_limits<int64_t>::max();
};

// The newest good checkpoint; on_bad hears of each newer one that is damaged, with the reason. Empty when
// there is none. EnvError when one cannot be read.
std::optional<CheckpointReader> newest_good(const ByteStore& store, const ReadOptions& options,
                                            const std::function<void(const std::string&)>& on_bad,
                                            const Search& search = {});

}  // namespace trireme
