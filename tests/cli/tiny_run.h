// A workplace with small shards, a tokenizer of bytes and a small model, and what its runs leave behind.
#pragma once
#include <map>
#include <string>
#include <vector>

#include "cli/files.h"
#include "cli/process.h"

namespace trireme {

using Settings = std::map<std::string, std::string>;  // "run.steps" -> "10": --set of the command

Settings overlaid(Settings base, const Settings& more);

// 8 micro-batches in 4 lanes: any number of data-parallel ranks up to 4 gives the same bits.
inline const Settings kFourLanes = {
    {"batch.sequences", "8"}, {"batch.micro", "1"}, {"batch.lanes", "4"}, {"lr.decay_steps", "12"}};

class TinyRun {
 public:
  // Writes config.toml (L=2 C=64 H=4 T=64 V=257, GPT-2, one thread, 12 steps of 4 sequences, saves every 4),
  // shards/train.u16, shards/val.u16 (ids below 256, id 256 between documents), and tokenizer.json, whose
  // end-of-text id is 256. Checkpoints of the run named "tiny" lie in runs/tiny/checkpoints.
  TinyRun();

  const std::string& path() const { return folder_.path(); }
  std::string operator/(const std::string& name) const { return folder_ / name; }

  // Arguments of `trireme train config.toml` with these settings.
  static Arguments train_arguments(const Settings& settings, const Arguments& more = {});
  Outcome train(const Settings& settings = {}, const Arguments& more = {}) const;
  Outcome run(const Arguments& arguments) const { return run_trireme(arguments, path()); }

  std::string run_folder(const std::string& run) const { return folder_ / ("runs/" + run); }
  std::vector<std::string> checkpoints(const std::string& run) const;  // names, by step

  // Everything by which two runs must be the same to the last bit, as one text: loss, grad_norm, lr,
  // tokens_seen and val_loss of every step as they stand in metrics.jsonl, all of samples.jsonl, and the
  // newest checkpoint's tensors with their checksums.
  std::string fingerprint(const std::string& run) const;
  // The texts of a metric by step, as in metrics.jsonl; steps without it are left out.
  std::map<int64_t, std::string> metric(const std::string& run, const std::string& name) const;

 private:
  test::ScratchFolder folder_;
};

}  // namespace trireme
