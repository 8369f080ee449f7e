// Where a run keeps its files (DESIGN of a run: README), and the lock that keeps two processes from writing
// one run.
#pragma once
#include <string>

#include "config/run_spec.h"

namespace trireme {

struct RunFolder {
  std::string path;  // runs/NAME
  std::string config() const { return path + "/config.toml"; }
  std::string metrics() const { return path + "/metrics.jsonl"; }
  std::string samples() const { return path + "/samples.jsonl"; }
  std::string log() const { return path + "/train.log"; }
  std::string tokenizer() const { return path + "/tokenizer.json"; }  // a copy of data.tokenizer
  std::string traces() const { return path + "/traces"; }
  std::string checkpoints() const { return path + "/checkpoints"; }
};

RunFolder run_folder(const RunSpec& spec);

// Makes the folder and holds it for this process until destroyed. EnvError when another process holds it, or
// when it cannot be made.
class RunLock {
 public:
  explicit RunLock(const RunFolder& folder);
  RunLock(const RunLock&) = delete;
  RunLock& operator=(const RunLock&) = delete;
  ~RunLock();

 private:
  int fd_ = -1;
};

}  // namespace trireme
