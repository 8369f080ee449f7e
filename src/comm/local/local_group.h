// What the members of one local communicator share: where each says that it has arrived and what it brought.
// Members read each other's buffers in place; nobody writes into another's.
#pragma once
#include <atomic>
#include <memory>
#include <mutex>
#include <span>
#include <string_view>
#include <vector>

#include "comm/communicator.h"
#include "comm/waiting.h"

namespace trireme {

// A member's side of a collective call.
struct LocalCall {
  std::string_view call;  // its kind
  const void* from = nullptr;
  Pieces pieces;
  DType dtype = DType::u8;
  std::span<const int64_t> parts;  // all-to-all: bytes by destination
};

struct LocalSlot {
  Signal arrived;
  alignas(64) std::atomic<bool> reading = false;  // peers' buffers, which must stay until it is done
  LocalCall call;
  bool taken = false;  // by a communicator; under the group's mutex
};

// From one rank to another: posted counts messages offered, received those that were copied.
struct LocalMailbox {
  Signal posted;
  Signal received;
  const void* from = nullptr;
  int64_t bytes = 0;
};

struct LocalGroup {
  LocalGroup(std::span<const int> members_, double timeout_s_, Failure& failure_);

  std::vector<int> members;  // ranks of the world
  double timeout_s = 0;
  Failure& failure;
  std::vector<LocalSlot> slots;
  std::vector<LocalMailbox> mailboxes;  // [from * size + to]
  std::mutex mutex;
};

// One member's communicator; `rank` is its place in the group. A second one at the same time is a bug. The
// group's owners are the world, which hands it out, and the communicators.
std::unique_ptr<Communicator> local_communicator(std::shared_ptr<LocalGroup> group, int rank,
                                                 std::chrono::microseconds spin);

}  // namespace trireme
