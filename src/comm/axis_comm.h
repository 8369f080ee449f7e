// What the kernel of an op that communicates is given: the ranks of its mesh axis, and a queue for what is to
// go on beside its compute.
#pragma once
#include "comm/comm_worker.h"
#include "comm/communicator.h"

namespace trireme {

struct AxisComm {
  Communicator* ranks = nullptr;  // while work is in the queue, `ranks` belongs to it
  CommWorker* queue = nullptr;
};

}  // namespace trireme
