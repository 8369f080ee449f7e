// Work that ranks do at the same time and that may take very long, such as writing to a slow disk: no rank is
// given up for it.
#pragma once
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

#include "comm/communicator.h"

namespace trireme {

// How such work failed, on the first rank where it did; the same on every rank.
struct WorkFailure {
  enum class Kind : uint8_t { none, user, damaged, environment };
  Kind kind = Kind::none;
  std::string text;

  explicit operator bool() const { return kind != Kind::none; }
};

// Runs `work` on a thread of its own (empty: this rank has nothing to do), while this one meets the other
// ranks in short rounds until all are done. What work throws of the exceptions that end a run becomes a
// WorkFailure; PeerFailed of the rounds is thrown. `ranks` may be null: then there are no others.
WorkFailure together(Communicator* ranks, const std::function<void()>& work, std::string_view what);

// Throws it as the exception that it was.
[[noreturn]] void rethrow(const WorkFailure& failure);

}  // namespace trireme
