// The two ways between processes: messages, and a window of memory that the processes of one host share. Both
// are told here what MpiWorld has agreed on with the other members.
#pragma once
#include <mpi.h>

#include <atomic>
#include <memory>
#include <string_view>
#include <vector>

#include "comm/communicator.h"
#include "comm/waiting.h"

namespace trireme {

// How one member reaches the others by messages.
struct MpiRoute {
  MPI_Comm comm = MPI_COMM_NULL;
  int rank = 0;                 // in the communicator
  std::vector<int> members;     // ranks of the world
  std::vector<int> processes;   // by member
  std::vector<int> first_tags;  // by member: of messages to it; from member i: + i
  Patience patience;
};

// Sends and receives all of them; blocks, by polling, until done. Several messages between two members keep
// order.
void mpi_transfer(const MpiRoute& route, std::span<const Send> sends, std::span<const Recv> recvs,
                  const Waiting& waiting);

// What a member calls, shown to the others with every round.
struct WindowCall {
  uint64_t kind = 0;
  int64_t count = 0;
  int64_t length = 0;
  int64_t rounds = 0;
};

// A member's area in the window. It puts what the others are to take into slots, a round in each, and may be
// so many rounds ahead of the slowest. A slot is small enough for the nearest caches.
constexpr int64_t kSlotBytes = int64_t{512} << 10;
constexpr uint32_t kSlots = 16;
struct WindowSlot {
  WindowCall call;
  alignas(64) std::byte bytes[kSlotBytes];
};
struct WindowArea {
  Signal put;                  // rounds put so far, over all calls; wraps
  Signal taken;                // rounds of all others taken so far
  uint32_t slot_of[kSlots]{};  // by round % kSlots
  WindowSlot slots[kSlots];
};

std::unique_ptr<Communicator> message_communicator(MpiRoute route);
std::unique_ptr<Communicator> window_communicator(MpiRoute route,
                                                  std::vector<WindowArea*> areas);  // by member

}  // namespace trireme
