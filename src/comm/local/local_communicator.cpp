// Collectives over shared memory: every member publishes where its data is, all meet, each reads what it
// needs from its peers, and all meet again before the buffers change. A message waits in a mailbox per pair
// until its receiver has copied it.
#include <cstring>
#include <numeric>
#include <thread>
#include <utility>

#include "comm/local/local_group.h"
#include "comm/sum_tree.h"

namespace trireme {

LocalGroup::LocalGroup(std::span<const int> members_, double timeout_s_, Failure& failure_)
    : members(members_.begin(), members_.end()),
      timeout_s(timeout_s_),
      failure(failure_),
      slots(members_.size()),
      mailboxes(members_.size() * members_.size()) {}

namespace {

void copy_bytes(void* to, const void* from, int64_t bytes) {
  if (to != from && bytes > 0) std::memcpy(to, from, static_cast<size_t>(bytes));
}

class LocalCommunicator final : public Communicator {
 public:
  LocalCommunicator(std::shared_ptr<LocalGroup> group, int rank, std::chrono::microseconds spin)
      : group_(std::move(group)),
        rank_(rank),
        patience_{.failure = &group_->failure,
                  .timeout_s = group_->timeout_s,
                  .spin = spin,
                  .me = group_->members[static_cast<size_t>(rank)]} {
    const std::lock_guard lock(group_->mutex);
    CHECK(!slot(rank).taken, "rank {} has this communicator already: take another channel", patience_.me);
    slot(rank).taken = true;
  }
  ~LocalCommunicator() override {
    const std::lock_guard lock(group_->mutex);
    slot(rank_).taken = false;
  }

  int rank() const override { return rank_; }
  int size() const override { return static_cast<int>(group_->slots.size()); }

  void broadcast(void* data, int64_t bytes, int root, std::string_view what) override;
  void barrier(std::string_view what) override;

 private:
  void exchange_parts(const AllToAll& parts, std::string_view what) override;
  void exchange_messages(std::span<const Send> sends, std::span<const Recv> recvs,
                         std::string_view what) override;
  void reduce_pieces(const void* from, void* to, const Pieces& pieces, DType dtype,
                     std::string_view what) override;
  void gather_pieces(const void* from, void* to, const Pieces& pieces, std::string_view what) override;

  LocalSlot& slot(int rank) const { return group_->slots[static_cast<size_t>(rank)]; }
  LocalMailbox& mailbox(int from, int to) const {
    return group_->mailboxes[static_cast<size_t>(from) * group_->slots.size() + static_cast<size_t>(to)];
  }
  template <class F>
  void collective(const LocalCall& call, std::string_view what, const F& read_peers);
  template <class F>
  void reading(const Waiting& waiting, const F& read);
  void meet(const Waiting& waiting);
  void check_same_call() const;
  void wait_for_readers() const;

  std::shared_ptr<LocalGroup> group_;
  int rank_;
  Patience patience_;
};

template <class F>
void LocalCommunicator::collective(const LocalCall& call, std::string_view what, const F& read_peers) {
  const Waiting waiting(patience_, call.call, what);
  try {
    (void)waiting.may_go_on();
    slot(rank_).call = call;
    meet(waiting);
    check_same_call();
    reading(waiting, read_peers);
    meet(waiting);
  } catch (const PeerFailed&) {
    wait_for_readers();
    throw;
  }
}

// A rank that leaves by an exception first waits for those who read its buffers (wait_for_readers).
// Sequential consistency: either we see the failure and do not begin, or that rank sees us reading.
template <class F>
void LocalCommunicator::reading(const Waiting& waiting, const F& read) {
  std::atomic<bool>& flag = slot(rank_).reading;
  flag.store(true);
  if (group_->failure.happened()) {
    flag.store(false);
    (void)waiting.may_go_on();
  }
  read();
  flag.store(false);
}

void LocalCommunicator::meet(const Waiting& waiting) {
  Signal& mine = slot(rank_).arrived;
  raise_signal(mine);
  const uint32_t target = mine.value.load(std::memory_order_relaxed);
  for (int step = 1; step < size(); ++step) {
    if (waiting.reaches(slot((rank_ + step) % size()).arrived, target)) continue;
    std::vector<int> missing;
    for (int r = 0; r < size(); ++r)
      if (!has_reached(slot(r).arrived, target)) missing.push_back(group_->members[static_cast<size_t>(r)]);
    if (!missing.empty()) waiting.give_up(missing);
  }
}

void LocalCommunicator::check_same_call() const {
  const LocalCall& mine = slot(rank_).call;
  for (int r = 0; r < size(); ++r) {
    const LocalCall& other = slot(r).call;
    CHECK(other.call == mine.call && other.pieces.count == mine.pieces.count &&
              other.pieces.length == mine.pieces.length && other.dtype == mine.dtype,
          "rank {} calls {} of {}, rank {} calls {} of {}", group_->members[static_cast<size_t>(r)],
          other.call, other.pieces.count, patience_.me, mine.call, mine.pieces.count);
  }
}

// Bounded: reading does not wait for anybody. Only a stopped thread is given up on.
void LocalCommunicator::wait_for_readers() const {
  const auto end = std::chrono::steady_clock::now() + std::chrono::duration<double>(group_->timeout_s);
  for (int r = 0; r < size(); ++r)
    while (r != rank_ && slot(r).reading.load() && std::chrono::steady_clock::now() < end)
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
}

void LocalCommunicator::reduce_pieces(const void* from, void* to, const Pieces& pieces, DType dtype,
                                      std::string_view what) {
  collective({.call = "reduce-scatter", .from = from, .pieces = pieces, .dtype = dtype}, what, [&] {
    const int64_t offset = pieces.begin(rank_) * size_of(dtype);
    std::vector<const void*> sources;
    for (const LocalSlot& s : group_->slots)
      sources.push_back(static_cast<const std::byte*>(s.call.from) + offset);
    sum_tree(dtype, sources, to, pieces.size(rank_));
  });
}

void LocalCommunicator::gather_pieces(const void* from, void* to, const Pieces& pieces,
                                      std::string_view what) {
  collective({.call = "all-gather", .from = from, .pieces = pieces}, what, [&] {
    for (int step = 0; step < size(); ++step) {
      const int r = (rank_ + step) % size();
      copy_bytes(static_cast<std::byte*>(to) + pieces.begin(r), slot(r).call.from, pieces.size(r));
    }
  });
}

void LocalCommunicator::exchange_parts(const AllToAll& parts, std::string_view what) {
  CHECK(parts.from_bytes.size() == group_->slots.size() && parts.to_bytes.size() == group_->slots.size());
  collective({.call = "all-to-all", .from = parts.from, .parts = parts.from_bytes}, what, [&] {
    auto* to = static_cast<std::byte*>(parts.to);
    for (int r = 0; r < size(); ++r) {
      const LocalCall& peer = slot(r).call;
      const int64_t bytes = parts.to_bytes[static_cast<size_t>(r)];
      CHECK(peer.parts[static_cast<size_t>(rank_)] == bytes, "rank {} sends {} bytes, rank {} expects {}", r,
            peer.parts[static_cast<size_t>(rank_)], rank_, bytes);
      const int64_t offset = std::accumulate(peer.parts.begin(), peer.parts.begin() + rank_, int64_t{0});
      copy_bytes(to, static_cast<const std::byte*>(peer.from) + offset, bytes);
      to += bytes;
    }
  });
}

void LocalCommunicator::broadcast(void* data, int64_t bytes, int root, std::string_view what) {
  CHECK(root >= 0 && root < size(), "root {} of {}", root, size());
  collective({.call = "broadcast", .from = data, .pieces = {.count = bytes, .length = root}}, what,
             [&] { copy_bytes(data, slot(root).call.from, bytes); });
}

void LocalCommunicator::barrier(std::string_view what) {
  const Waiting waiting(patience_, "barrier", what);
  (void)waiting.may_go_on();
  slot(rank_).call = {.call = "barrier"};
  meet(waiting);
  check_same_call();
  meet(waiting);
}

void LocalCommunicator::exchange_messages(std::span<const Send> sends, std::span<const Recv> recvs,
                                          std::string_view what) {
  const Waiting sending(patience_, "send", what), receiving(patience_, "receive", what);
  try {
    (void)(sends.empty() ? receiving : sending).may_go_on();
    for (const Send& s : sends) {
      CHECK(s.to >= 0 && s.to < size() && s.to != rank_, "send to {} from {}", s.to, rank_);
      LocalMailbox& box = mailbox(rank_, s.to);
      CHECK(box.posted.value == box.received.value, "two sends to rank {} in one exchange", s.to);
      box.from = s.from;
      box.bytes = s.bytes;
      raise_signal(box.posted);
    }
    for (const Recv& r : recvs) {
      CHECK(r.from >= 0 && r.from < size() && r.from != rank_, "receive from {} at {}", r.from, rank_);
      LocalMailbox& box = mailbox(r.from, rank_);
      if (!receiving.reaches(box.posted, box.received.value + 1))
        receiving.give_up({group_->members[static_cast<size_t>(r.from)]});
      CHECK(box.bytes == r.bytes, "rank {} sends {} bytes, rank {} expects {}", r.from, box.bytes, rank_,
            r.bytes);
      reading(receiving, [&] { copy_bytes(r.to, box.from, r.bytes); });
      raise_signal(box.received);
    }
    for (const Send& s : sends) {
      LocalMailbox& box = mailbox(rank_, s.to);
      if (!sending.reaches(box.received, box.posted.value))
        sending.give_up({group_->members[static_cast<size_t>(s.to)]});
    }
  } catch (const PeerFailed&) {
    wait_for_readers();
    throw;
  }
}

}  // namespace

std::unique_ptr<Communicator> local_communicator(std::shared_ptr<LocalGroup> group, int rank,
                                                 std::chrono::microseconds spin) {
  return std::make_unique<LocalCommunicator>(std::move(group), rank, spin);
}

}  // namespace trireme
