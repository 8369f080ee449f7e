// Ranks that are MPI processes, or threads of several such processes: makes their communicators, and brings
// all of them down when one fails. World rank = process * ranks_per_process + thread. MPI itself is started
// here, once per process, and its types stop at this folder's files.
//
// A communicator within one process reads its peers' memory; within one host it goes through a shared window;
// across hosts it sends messages. The bits are the same.
#pragma once
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "comm/world.h"

namespace trireme {

struct MpiOptions {
  int ranks_per_process = 1;
  double timeout_s = 300;  // run.timeout_s: longest wait for a rank
  // Shared memory; a communicator takes 8 MiB, later ones use messages. 0: messages only.
  int64_t window_bytes_per_rank = int64_t{96} << 20;
  // Not 0: this process cannot run, and only has to tell the others so. There is no window then.
  int exit_code = 0;
};

class MpiWorld final : public World {
 public:
  // Collective over the processes. EnvError when MPI is missing from the build or does not start.
  explicit MpiWorld(const MpiOptions& options);
  // Without finish() or abort() before: abort(3).
  ~MpiWorld() override;
  MpiWorld(const MpiWorld&) = delete;

  int process() const;
  int processes() const;
  int ranks() const { return processes() * ranks_per_process_; }

  // Waits for all members to ask for it (PeerFailed when one does not). One that was asked for before is the
  // same as then.
  std::unique_ptr<Communicator> communicator(std::span<const int> members, int me, int channel) override;
  void fail(int rank, const Ending& why) override;

  // Among processes, one thread of each, all in the same order. EnvError when one does not come in time.
  std::vector<int> numbers_of_all(int mine, std::string_view what) const;        // by process
  std::string from_first(const std::string& text, std::string_view what) const;  // process 0's text

  // The good end: waits for all processes, stops MPI. PeerFailed when one does not come.
  void finish();
  // The bad one: ends this and all other processes with the exit code, even those that hang. Says nothing:
  // the caller has printed why. Other processes have a moment to print what they know.
  [[noreturn]] void abort(int exit_code);

 private:
  struct State;
  int ranks_per_process_;
  std::unique_ptr<State> state_;
};

}  // namespace trireme
