// Where a run starts: at step 0 or at a checkpoint.
#pragma once
#include <optional>
#include <string>

#include "config/run_spec.h"
#include "io/checkpoint/checkpoint.h"
#include "obs/log.h"
#include "train/run_folder.h"

namespace trireme {

struct ResumeChoice {
  enum class Kind : uint8_t { automatic, never, from };
  Kind kind = Kind::automatic;
  std::string path;  // from: a run's folder, or one checkpoint in it
};

// A checkpoint and the store that it is read from.
struct OpenCheckpoint {
  std::unique_ptr<ByteStore> store;
  CheckpointReader reader;
};

// automatic: the newest good checkpoint of the run's folder, if any. never: none, and UserError when the
// folder has some. Damaged ones that are passed over are logged.
std::optional<OpenCheckpoint> choose_checkpoint(const RunFolder& folder, const ResumeChoice& choice,
                                                int threads, Log& log);

// The newest good checkpoint of `path`, a run's folder, or `path` itself when it is one checkpoint. UserError
// when there is none.
OpenCheckpoint open_checkpoint(const std::string& path, int threads, Log& log);

// Refuses to continue with another model; says in the log what else differs from the checkpoint's config.
void check_same_run(const RunSpec& spec, const CheckpointMeta& meta, Log& log);

}  // namespace trireme
