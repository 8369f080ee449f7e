// What the kernel of an op that communicates is given: the ranks of its mesh axis, and a queue for what is to
// go on beside its compute.
#pragma once
#include <functional>
#include <vector>

#include "comm/comm_worker.h"
#include "comm/communicator.h"

namespace trireme {

// When work was at it in the queue, by seconds_now(), and what this rank sent then.
struct QueuedSpan {
  double start_s = 0, end_s = 0;
  int64_t sent_bytes = 0;
};

struct AxisComm {
  Communicator* ranks = nullptr;  // while work is in the queue, `ranks` belongs to it
  CommWorker* queue = nullptr;
  std::vector<QueuedSpan>* spans = nullptr;  // unless null, gets an entry for all work of submit()
};

// Hands work on the axis's ranks to its queue; returns the ticket for queue->wait(). A kernel waits for all
// of it before it returns.
int64_t submit(const AxisComm& comm, std::function<void(Communicator& ranks)> work);

}  // namespace trireme
