// Copies of a run's checkpoints in another store, made behind the run: a thread takes committed checkpoints
// one after the other. The run never waits for it and never fails through it. Nothing is removed in the
// mirror: how long copies stay is the store's own rules' (docs/object-storage.md).
//
//   Mirror mirror({.source = "runs/demo/checkpoints", .target = "s3://bucket/demo", .s3 = options.s3});
//   mirror.submit("step-00000100");                    // after its commit
//   for (const MirrorNews& news : mirror.take_news()) log(news);  // every step
//   if (mirror.copying() != old.name) remove(old);     // retention
//   mirror.finish(60);                                 // at the end, then take_news() once more
#pragma once
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <stop_token>
#include <string>
#include <thread>
#include <vector>

#include "io/checkpoint/copy.h"
#include "io/store/open_store.h"

namespace trireme {

struct MirrorOptions {
  std::string source;  // the run's folder of checkpoints
  std::string target;  // s3://bucket/prefix, or a folder
  S3Options s3;
  int threads = 4;  // as in CopyOptions
};

struct MirrorNews {
  enum class Kind : uint8_t { info, warning };
  Kind kind = Kind::info;
  std::string text;  // "mirrored step-00000100 to s3://...: 1.2 GB in 3.1 s (...)"
};

class Mirror {
 public:
  // UserError when the target can be no store, or credentials are missing. The target is not asked yet.
  explicit Mirror(MirrorOptions options);
  ~Mirror();  // stops a copy that is being made, within about a second
  Mirror(const Mirror&) = delete;
  Mirror& operator=(const Mirror&) = delete;

  // At once. What failed before is tried again after it.
  void submit(const std::string& name);
  // What happened since the last call, oldest first.
  std::vector<MirrorNews> take_news();
  // What failed is waiting again.
  void try_again();
  // Waits until there is nothing to copy, at most so long; false: there is.
  bool wait(double at_most_s);
  // Waits until everything submitted is copied or has failed once more, at most so long; false: not all is
  // there, and the news say what is missing. The mirror is stopped then and takes nothing further.
  bool finish(double at_most_s);
  // The checkpoint that is being read right now, which retention leaves alone; "" when none is. One that is
  // only waiting may be removed: it is skipped, and the news say so.
  std::string copying() const;

 private:
  void take_up_failed();  // under the mutex
  void work(const std::stop_token& stop);
  void copy(const std::string& name, const std::stop_token& stop);
  bool is_gone(const std::string& name) const;  // from the source
  void say(MirrorNews::Kind kind, std::string text);

  MirrorOptions options_;
  std::stop_source stop_;  // before the stores, whose calls it ends
  std::unique_ptr<ByteStore> from_, to_;
  mutable std::mutex mutex_;
  std::condition_variable_any changed_;
  std::deque<std::string> waiting_, failed_;
  std::string copying_;
  std::vector<MirrorNews> news_;
  std::thread thread_;  // last: it uses all of the above
};

}  // namespace trireme
