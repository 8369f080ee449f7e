// Saves of a run's state, by all its ranks at once: each writes what written_boxes() gives it, the leader
// commits. In the background where the program has room for a copy of that; then the loop waits only for the
// copy. At most one save is under way.
#pragma once
#include <atomic>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "comm/comm_worker.h"
#include "engine/engine.h"
#include "io/checkpoint/staged_save.h"
#include "io/checkpoint/tensor_part.h"
#include "train/ranks.h"

namespace trireme {

// How a save ended; the same on every rank but for what only the leader has.
struct SaveNews {
  int64_t step = 0;
  std::string failure;  // why there is no such checkpoint; "" when it stands
  double write_s = 0;   // from the copy, or the call, until it was committed
  SaveReport report;    // the leader's
};

class Saver {
 public:
  // Every rank makes one. `store` is used by all ranks of the process, and outlives the saver, as the engine
  // does. Where the device computes nothing there is nothing to save, and save() does nothing.
  // options.pinned is called on a thread of the leader's.
  Saver(RankLink& link, const Engine& engine, ByteStore& store, SaveOptions options);
  Saver(const Saver&) = delete;
  Saver& operator=(const Saver&) = delete;
  ~Saver();  // waits for the save under way, if any

  // Whether steps may go on behind a save: all ranks say the same. For yes, the program has a staging buffer
  // where this rank writes anything.
  enum class Behind : uint8_t { yes, no };

  // Saves the state as it is now. Every rank calls it after the same step. An earlier save that is still
  // under way is waited for. Returns when the engine may run again.
  void save(const CheckpointMeta& meta, Behind behind);

  bool is_under_way() const { return under_way_; }
  // Whether there is news, without a wait.
  bool has_news() const { return under_way_ ? ended_.load() : !news_.empty(); }
  // Waits for the save under way, if any, and gives all news since the last call. Every rank calls it at the
  // same step.
  std::vector<SaveNews> take_news();

  // Seconds that save() and take_news() have kept the loop waiting so far.
  double blocked_s() const { return blocked_s_; }

 private:
  void wait();
  SaveNews write(const CheckpointMeta& meta, const std::vector<TensorPart>& parts);
  std::vector<CheckpointIndex> indexes_of_all(const CheckpointIndex& mine);

  const Engine& engine_;
  ByteStore& store_;
  SaveOptions options_;
  int64_t block_bytes_;            // of checksums
  std::vector<TensorPart> parts_;  // what this rank writes, in place
  bool leads_;
  int rank_, threads_;
  std::unique_ptr<Communicator> ranks_;  // null with one rank
  double blocked_s_ = 0;
  bool under_way_ = false;
  std::atomic<bool> ended_ = false;
  SaveNews current_;  // of the save under way, once it has ended
  std::vector<SaveNews> news_;
  int64_t saves_ = 0;
  CommWorker worker_;  // last: what it runs uses the rest
};

}  // namespace trireme
