// Ranks that are threads of one process: makes their communicators, and brings all of them down when one
// fails. The world outlives its communicators.
#pragma once
#include <memory>
#include <span>
#include <string>

#include "comm/communicator.h"

namespace trireme {

struct LocalOptions {
  int ranks = 1;
  double timeout_s = 300;  // run.timeout_s: longest wait for a rank
};

class LocalWorld {
 public:
  explicit LocalWorld(const LocalOptions& options);
  ~LocalWorld();
  LocalWorld(const LocalWorld&) = delete;

  // For world rank `me` among `members` (in the order of their ranks in the communicator). Does not block.
  // Several communicators over the same members differ by `channel`.
  std::unique_ptr<Communicator> communicator(std::span<const int> members, int me, int channel);

  // To be called once at the rank boundary when `rank` ends by an exception: the others' current or next
  // calls throw PeerFailed with the message. The first report counts.
  void fail(int rank, const std::string& message);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace trireme
