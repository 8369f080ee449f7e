// Collectives of messages between processes: each member sends every other its part and sums what it gets in
// tree order. MPI only carries bytes; its own reductions, whose order and speed vary, are not used.
#include <sched.h>

#include <algorithm>
#include <chrono>
#include <cstring>
#include <numeric>
#include <thread>
#include <utility>

#include "comm/mpi/mpi_call.h"
#include "comm/mpi/mpi_communicators.h"
#include "comm/sum_tree.h"

namespace trireme {
namespace {

constexpr int64_t kMessageBytes = int64_t{256} << 20;  // MPI counts are 32-bit
constexpr int64_t kSumBytes = int64_t{1} << 20;        // of each source at a time, while a sum is made

struct Pending {
  MPI_Request request = MPI_REQUEST_NULL;
  int member = 0;
  bool receives = false;
};

void start(const MpiRoute& route, std::span<const Send> sends, std::span<const Recv> recvs,
           std::vector<Pending>& pending) {
  const auto in_messages = [](int64_t bytes, const auto& one) {
    int64_t begin = 0;
    do {
      one(begin, static_cast<int>(std::min(kMessageBytes, bytes - begin)));
      begin += kMessageBytes;
    } while (begin < bytes);
  };
  for (const Recv& r : recvs)
    in_messages(r.bytes, [&](int64_t begin, int bytes) {
      Pending& p = pending.emplace_back(Pending{.member = r.from, .receives = true});
      const int tag = route.first_tags[static_cast<size_t>(route.rank)] + r.from;
      mpi_call(MPI_Irecv(static_cast<std::byte*>(r.to) + begin, bytes, MPI_BYTE,
                         route.processes[static_cast<size_t>(r.from)], tag, route.comm, &p.request),
               "MPI_Irecv");
    });
  for (const Send& s : sends)
    in_messages(s.bytes, [&](int64_t begin, int bytes) {
      Pending& p = pending.emplace_back(Pending{.member = s.to, .receives = false});
      const int tag = route.first_tags[static_cast<size_t>(s.to)] + route.rank;
      mpi_call(MPI_Isend(static_cast<const std::byte*>(s.from) + begin, bytes, MPI_BYTE,
                         route.processes[static_cast<size_t>(s.to)], tag, route.comm, &p.request),
               "MPI_Isend");
    });
}

void drop(std::vector<Pending>& pending) {
  for (Pending& p : pending)
    if (p.receives) {
      MPI_Cancel(&p.request);
      MPI_Wait(&p.request, MPI_STATUS_IGNORE);
    } else {
      MPI_Request_free(&p.request);
    }
}

std::vector<int> members_of(const MpiRoute& route, const std::vector<Pending>& pending) {
  std::vector<int> out;
  for (const Pending& p : pending) out.push_back(route.members[static_cast<size_t>(p.member)]);
  std::sort(out.begin(), out.end());
  out.erase(std::unique(out.begin(), out.end()), out.end());
  return out;
}

void finish(const MpiRoute& route, std::vector<Pending>& pending, const Waiting& waiting) {
  using Clock = std::chrono::steady_clock;
  auto last_progress = Clock::now(), last_look = last_progress;
  while (!pending.empty()) {
    const size_t before = pending.size();
    std::erase_if(pending, [](Pending& p) {
      int done = 0;
      mpi_call(MPI_Test(&p.request, &done, MPI_STATUS_IGNORE), "MPI_Test");
      return done != 0;
    });
    const auto now = Clock::now();
    if (pending.size() != before) last_progress = now;
    if (now - last_look > std::chrono::milliseconds(5)) {
      last_look = now;
      if (!waiting.may_go_on()) waiting.give_up(members_of(route, pending));
    }
    if (now - last_progress < std::chrono::milliseconds(20))
      sched_yield();
    else
      std::this_thread::sleep_for(std::chrono::microseconds(200));
  }
}

class MessageCommunicator final : public Communicator {
 public:
  explicit MessageCommunicator(MpiRoute route) : route_(std::move(route)) {}
  int rank() const override { return route_.rank; }
  int size() const override { return static_cast<int>(route_.members.size()); }

  void broadcast(void* data, int64_t bytes, int root, std::string_view what) override;
  void barrier(std::string_view what) override;

 private:
  void exchange_parts(const AllToAll& parts, std::string_view what) override;
  void exchange_messages(std::span<const Send> sends, std::span<const Recv> recvs,
                         std::string_view what) override {
    mpi_transfer(route_, sends, recvs, Waiting(route_.patience, "exchange", what));
  }
  void reduce_pieces(const void* from, void* to, const Pieces& pieces, DType dtype,
                     std::string_view what) override;
  void gather_pieces(const void* from, void* to, const Pieces& pieces, std::string_view what) override;

  template <class F>
  void for_peers(const F& body) const {
    for (int step = 1; step < size(); ++step) body((rank() + step) % size());
  }
  MpiRoute route_;
};

void MessageCommunicator::reduce_pieces(const void* from, void* to, const Pieces& pieces, DType dtype,
                                        std::string_view what) {
  const Waiting waiting(route_.patience, "reduce-scatter", what);
  const int64_t element_bytes = size_of(dtype),
                run = std::max<int64_t>(1, std::min(kSumBytes / element_bytes, pieces.length));
  const auto* source = static_cast<const std::byte*>(from);
  std::vector<std::byte> received(static_cast<size_t>(run * element_bytes * size()));
  for (int64_t begin = 0; begin < std::max<int64_t>(1, pieces.length); begin += run) {
    const auto first = [&](int r) { return std::min(pieces.begin(r) + begin, pieces.end(r)); };
    const auto count = [&](int r) { return std::min(run, pieces.end(r) - first(r)); };
    std::vector<Send> sends;
    std::vector<Recv> recvs;
    std::vector<const void*> sources(static_cast<size_t>(size()), source + first(rank()) * element_bytes);
    for_peers([&](int r) {
      std::byte* place = received.data() + r * run * element_bytes;
      sends.push_back(
          {.from = source + first(r) * element_bytes, .bytes = count(r) * element_bytes, .to = r});
      recvs.push_back({.to = place, .bytes = count(rank()) * element_bytes, .from = r});
      sources[static_cast<size_t>(r)] = place;
    });
    mpi_transfer(route_, sends, recvs, waiting);
    sum_tree(dtype, sources,
             static_cast<std::byte*>(to) + (first(rank()) - pieces.begin(rank())) * element_bytes,
             count(rank()));
  }
}

void MessageCommunicator::gather_pieces(const void* from, void* to, const Pieces& pieces,
                                        std::string_view what) {
  auto* place = static_cast<std::byte*>(to);
  std::vector<Send> sends;
  std::vector<Recv> recvs;
  for_peers([&](int r) {
    sends.push_back({.from = from, .bytes = pieces.size(rank()), .to = r});
    recvs.push_back({.to = place + pieces.begin(r), .bytes = pieces.size(r), .from = r});
  });
  const Waiting waiting(route_.patience, "all-gather", what);
  if (place + pieces.begin(rank()) != from && pieces.size(rank()) > 0)
    std::memcpy(place + pieces.begin(rank()), from, static_cast<size_t>(pieces.size(rank())));
  mpi_transfer(route_, sends, recvs, waiting);
}

void MessageCommunicator::exchange_parts(const AllToAll& parts, std::string_view what) {
  std::vector<int64_t> from_begin(route_.members.size() + 1), to_begin(from_begin);
  std::partial_sum(parts.from_bytes.begin(), parts.from_bytes.end(), from_begin.begin() + 1);
  std::partial_sum(parts.to_bytes.begin(), parts.to_bytes.end(), to_begin.begin() + 1);
  const auto* from = static_cast<const std::byte*>(parts.from);
  auto* to = static_cast<std::byte*>(parts.to);
  std::vector<Send> sends;
  std::vector<Recv> recvs;
  for_peers([&](int r) {
    const auto i = static_cast<size_t>(r);
    sends.push_back({.from = from + from_begin[i], .bytes = parts.from_bytes[i], .to = r});
    recvs.push_back({.to = to + to_begin[i], .bytes = parts.to_bytes[i], .from = r});
  });
  const auto me = static_cast<size_t>(rank());
  CHECK(parts.from_bytes[me] == parts.to_bytes[me]);
  if (parts.to_bytes[me] > 0)
    std::memcpy(to + to_begin[me], from + from_begin[me], static_cast<size_t>(parts.to_bytes[me]));
  mpi_transfer(route_, sends, recvs, Waiting(route_.patience, "all-to-all", what));
}

// The root's network card sends all copies: broadcasts are for start-up, not for the step.
void MessageCommunicator::broadcast(void* data, int64_t bytes, int root, std::string_view what) {
  const Waiting waiting(route_.patience, "broadcast", what);
  if (rank() != root) {
    const Recv recv{.to = data, .bytes = bytes, .from = root};
    return mpi_transfer(route_, {}, {&recv, 1}, waiting);
  }
  std::vector<Send> sends;
  for_peers([&](int r) { sends.push_back({.from = data, .bytes = bytes, .to = r}); });
  mpi_transfer(route_, sends, {}, waiting);
}

// Everyone to everyone, so that a timeout names exactly those who did not come.
void MessageCommunicator::barrier(std::string_view what) {
  std::vector<Send> sends;
  std::vector<Recv> recvs;
  for_peers([&](int r) {
    sends.push_back({.to = r});
    recvs.push_back({.from = r});
  });
  mpi_transfer(route_, sends, recvs, Waiting(route_.patience, "barrier", what));
}

}  // namespace

void mpi_transfer(const MpiRoute& route, std::span<const Send> sends, std::span<const Recv> recvs,
                  const Waiting& waiting) {
  (void)waiting.may_go_on();
  std::vector<Pending> pending;
  try {
    start(route, sends, recvs, pending);
    finish(route, pending, waiting);
  } catch (const PeerFailed&) {
    drop(pending);
    throw;
  }
}

std::unique_ptr<Communicator> message_communicator(MpiRoute route) {
  return std::make_unique<MessageCommunicator>(std::move(route));
}

}  // namespace trireme
