// The ranks of a run and what ties them together. Part of the Communicator's seam: it makes communicators,
// and nobody above knows whether ranks are threads of one process or of many.
#pragma once
#include <memory>
#include <span>
#include <string>

#include "comm/communicator.h"

namespace trireme {

class World {
 public:
  virtual ~World() = default;

  // For world rank `me` among `members` (in the order of their ranks in the communicator). Several
  // communicators over the same members differ by `channel`. May wait for all members to ask for it.
  virtual std::unique_ptr<Communicator> communicator(std::span<const int> members, int me, int channel) = 0;

  // To be called once at the rank boundary when `rank` ends by an exception: the others' current or next
  // calls throw PeerFailed with the message. The first report counts.
  virtual void fail(int rank, const Ending& why) = 0;
};

}  // namespace trireme
