// Ranks that are threads of one process: makes their communicators, and brings all of them down when one
// fails. The world outlives its communicators.
#pragma once
#include <memory>
#include <span>
#include <string>

#include "comm/world.h"

namespace trireme {

struct LocalOptions {
  int ranks = 1;
  double timeout_s = 300;  // run.timeout_s: longest wait for a rank
};

class LocalWorld final : public World {
 public:
  explicit LocalWorld(const LocalOptions& options);
  ~LocalWorld() override;
  LocalWorld(const LocalWorld&) = delete;

  // Does not block.
  std::unique_ptr<Communicator> communicator(std::span<const int> members, int me, int channel) override;
  void fail(int rank, const Ending& why) override;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace trireme
