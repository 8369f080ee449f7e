// Work that ranks do at the same time and that may take very long, such as writing to a slow disk: no rank is
// given up for it.
#pragma once
#include <functional>
#include <string>
#include <string_view>

#include "comm/communicator.h"

namespace trireme {

// Runs `work` on a thread of its own (empty: this rank has nothing to do), while this one meets the other
// ranks in short rounds until all are done. Returns why it failed, of the first rank where it did, on every
// rank: "" where none failed. Failures are EnvErrors and what else ends a run; PeerFailed of the rounds is
// thrown. `ranks` may be null: then there are no others.
std::string together(Communicator* ranks, const std::function<void()>& work, std::string_view what);

}  // namespace trireme
