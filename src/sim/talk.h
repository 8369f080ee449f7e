// How the ops inside blocks talk: which collective, how often, and what of it goes on beside their compute.
#pragma once
#include <string_view>

#include "ops/op.h"

namespace trireme {

struct Talk {
  std::string_view collective;  // "all_gather", ...; "send" of one that passes parts round a ring
  int64_t calls = 1;            // in which the op's bytes go
  int64_t parts = 1;  // in which they go beside its compute, the first or last of them alone; 1: none does
};

// Of an op that has bytes to send.
Talk talk_of(const OpSig& sig);

}  // namespace trireme
