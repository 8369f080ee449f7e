// Moves rows between the ranks of the experts' axis, in rounds.
#pragma once
#include <string_view>
#include <vector>

#include "comm/communicator.h"
#include "ops/experts/cpu_dispatch.h"

namespace trireme {

class RowExchange {
 public:
  RowExchange(const ExpertsSizes& sizes, const Rounds& rounds) : s_(sizes), rounds_(rounds) {}

  // Every rank's counts[E], of which this one's lie in place, to every rank.
  void share_counts(Communicator& ranks, int32_t* plan) const;

  // A round's rows (`bytes` each) from the slots of their senders to where they arrive, and back.
  void send(Communicator& ranks, int64_t round, const void* slots, void* arrived, int64_t bytes,
            std::string_view what);
  void send_back(Communicator& ranks, int64_t round, const void* arrived, void* slots, int64_t bytes,
                 std::string_view what);

 private:
  // Rows that lie side by side, out of `from` and into `to`.
  struct Part {
    int64_t from = 0, from_rows = 0;
    int64_t to = 0, to_rows = 0;
  };
  template <class PartOf>
  void move(Communicator& ranks, const void* from, void* to, int64_t bytes, std::string_view what,
            const PartOf& part_of);

  const ExpertsSizes& s_;
  const Rounds& rounds_;
  std::vector<Send> sends_;
  std::vector<Recv> recvs_;
};

}  // namespace trireme
