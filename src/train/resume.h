// Where a run starts: at step 0 or at a checkpoint.
#pragma once
#include <optional>
#include <string>

#include "config/run_spec.h"
#include "io/checkpoint/checkpoint.h"
#include "io/store/s3_options.h"
#include "obs/log.h"
#include "train/run_folder.h"

namespace trireme {

struct ResumeChoice {
  enum class Kind : uint8_t { automatic, never, from };
  Kind kind = Kind::automatic;
  std::string path;  // from: a run's folder, or one checkpoint in it; or s3://bucket/prefix[/step-...]
};

// A checkpoint and the store that it is read from.
struct OpenCheckpoint {
  std::unique_ptr<ByteStore> store;
  CheckpointReader reader;
};

// For automatic, the newest good checkpoint of the run's folder, if any; damaged ones that are passed over
// are logged, and none but damaged ones is an EnvError. For never, none, and UserError when the folder has
// some. `threads`: of a reader.
std::optional<OpenCheckpoint> own_checkpoint(const RunFolder& folder, const ResumeChoice& choice, int threads,
                                             Log& log, Trust trust);

// For automatic, the newest good checkpoint of checkpoint.mirror, if any, for a run whose own folder has
// none: it began on another machine. For never, none, and UserError when the mirror has some.
std::optional<OpenCheckpoint> mirrored_checkpoint(const std::string& mirror, const S3Options& s3,
                                                  const ResumeChoice& choice, int threads, Log& log);

// The next older one in place of one that has shown to be damaged when it was read. EnvError when there is
// none.
OpenCheckpoint older_checkpoint(OpenCheckpoint damaged, int threads, Log& log);

// Whether `path` is one checkpoint, not a folder that has some.
bool names_one_checkpoint(const std::string& path);

// The newest good checkpoint of `path`, a run's folder or a store's s3://bucket/prefix, or `path` itself when
// it is one checkpoint. UserError when there is none.
OpenCheckpoint open_checkpoint(const std::string& path, const S3Options& s3, int threads, Log& log,
                               Trust trust = Trust::every_byte);

// For Kind::from: UserError when the run's folder has checkpoints that a later automatic resume would take in
// place of what is trained from here: later ones of the same run, or any when `start` is another run's.
void check_nothing_superseded(const RunFolder& folder, const OpenCheckpoint& start);

// Refuses to continue with another model; says in the log what else differs from the checkpoint's config.
void check_same_run(const RunSpec& spec, const CheckpointMeta& meta, Log& log);

}  // namespace trireme
