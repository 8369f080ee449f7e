// Moves rows between the ranks of the experts' axis, in rounds.
#pragma once
#include <string_view>
#include <vector>

#include "comm/communicator.h"
#include "ops/experts/cpu_dispatch.h"

namespace trireme {

class Exchange {
 public:
  Exchange(const ExpertsSizes& sizes, const Rounds& rounds) : s_(sizes), rounds_(rounds) {}

  // Every rank's counts[E], of which this one's lie in place, to every rank.
  void share_counts(Communicator& ranks, int32_t* plan) const;

  // A round's rows (`bytes` each) from the slots of their senders to where they arrive, and back.
  void send(Communicator& ranks, int64_t round, const void* slots, void* arrived, int64_t bytes,
            std::string_view what);
  void send_back(Communicator& ranks, int64_t round, const void* arrived, void* slots, int64_t bytes,
                 std::string_view what);

 private:
  const ExpertsSizes& s_;
  const Rounds& rounds_;
  std::vector<Send> sends_;
  std::vector<Recv> recvs_;
};

}  // namespace trireme
