// Work in an axis's queue, timed where somebody asks.
#include "comm/axis_comm.h"

#include <utility>

#include "base/clock.h"

namespace trireme {

int64_t submit(const AxisComm& comm, std::function<void(Communicator& ranks)> work) {
  return comm.queue->submit([ranks = comm.ranks, spans = comm.spans, work = std::move(work)] {
    const double start_s = spans != nullptr ? seconds_now() : 0;
    const int64_t sent = ranks->sent_bytes();
    work(*ranks);
    if (spans != nullptr) spans->push_back({start_s, seconds_now(), ranks->sent_bytes() - sent});
  });
}

}  // namespace trireme
