// A copy that goes round the caches, for large results that nobody reads soon: the old contents of the target
// are not fetched first, which is a third of the traffic. memcpy does so too, but only for long copies, not
// for a long one in rounds.
#pragma once
#include <cstddef>
#include <cstdint>

namespace trireme {

// The regions do not overlap.
void stream_copy(std::byte* to, const std::byte* from, int64_t bytes);

}  // namespace trireme
