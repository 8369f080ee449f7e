// Saving in stages, for many ranks that write at once: the leader removes leftovers, then every rank writes
// its file into store.staging(name) (io/checkpoint/rank_file.h), then the leader commits; when any of it
// fails, the leader abandons. Between the stages all ranks meet, which is the caller's business
// (train/saver.h).
#pragma once
#include <span>
#include <string>
#include <vector>

#include "io/checkpoint/checkpoint.h"
#include "io/checkpoint/index.h"

namespace trireme {

// Writes index.json, makes the checkpoint count, then removes older ones as `options` say. `files`: of every
// rank that wrote. The ranks' files must be visible from here.
SaveReport commit_save(ByteStore& store, const CheckpointMeta& meta, std::span<const CheckpointIndex> files,
                       const SaveOptions& options);

// After a failure: what this save left goes, as far as the failing disk allows; the rest goes at the next
// save.
void abandon_save(ByteStore& store, int64_t step);

// "checkpoint runs/a/checkpoints/step-... is not saved: WHY; earlier checkpoints are untouched. ..."
std::string not_saved(const ByteStore& store, int64_t step, const std::string& why);

}  // namespace trireme
