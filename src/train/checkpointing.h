// The training loop's side of saving: what goes into a checkpoint besides tensors, and what is said of how it
// went.
#pragma once
#include <optional>

#include "train/rank_setup.h"
#include "train/recorder.h"
#include "train/sample_log.h"
#include "train/saver.h"

namespace trireme {

class Checkpointing {
 public:
  // The leader's files are made safe before a checkpoint speaks of what stands in them; null on other ranks.
  struct Files {
    Recorder* recorder = nullptr;
    SampleLog* samples = nullptr;
  };
  Checkpointing(RunSetup& run, RankSetup& mine, RankLink& link, const Files& files);

  // Saves the state as it is, behind the steps that follow where the config says so. Every rank calls it
  // after the same step. Reports first how the save before ended; returns what report() does.
  double save(const CheckpointMeta& meta);
  // Likewise, and returns when it stands; for the end of a run, which fails with it (of the save before, only
  // where checkpoint.on_failure says so).
  void save_last(const CheckpointMeta& meta);

  bool is_under_way() const { return saver_.is_under_way(); }
  // Whether a save has ended that report() would speak of; on this rank.
  bool has_news() const { return saver_.has_news(); }
  // Waits for a save under way, and says how saves since the last call ended. Every rank calls it at the same
  // step. One that failed ends the run where checkpoint.on_failure says so. Returns the longest time from a
  // save's begin to its end.
  double report();

  // Of saves since the last call.
  CheckpointCosts take_costs();

 private:
  double start(const CheckpointMeta& meta, Saver::Behind behind);
  double report(int64_t needed_step);
  void say(const SaveNews& news);

  RunSetup& run_;
  RankLink& link_;
  Files files_;
  CheckpointCosts costs_;
  Saver saver_;
};

}  // namespace trireme
