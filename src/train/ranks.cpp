// Threads, their communicators, and which of their exceptions counts.
#include "train/ranks.h"

#include <algorithm>
#include <exception>
#include <numeric>
#include <thread>

#include "train/machine.h"

namespace trireme {

constexpr int kControlChannel = -1;  // programs' channels begin at 0

class RankTeam {
 public:
  explicit RankTeam(const TeamOptions& team_options)
      : options(team_options),
        world({.ranks = options.mesh.ranks(), .timeout_s = options.timeout_s}),
        engines(static_cast<size_t>(options.mesh.ranks())) {}

  TeamOptions options;
  LocalWorld world;
  std::vector<const Engine*> engines;  // by rank, while the leader looks at them
};

RankLink::RankLink(RankTeam& team, int rank) : team_(team), rank_(rank) {
  const int ranks = team.options.mesh.ranks();
  if (ranks == 1) return;
  std::vector<int> all(static_cast<size_t>(ranks));
  std::iota(all.begin(), all.end(), 0);
  control_ = team.world.communicator(all, rank, kControlChannel);
}

int RankLink::threads() const {
  return std::max(1, team_.options.threads / static_cast<int>(team_.options.mesh.ranks()));
}

Communicators RankLink::connect(const Program& program) {
  communicators_.clear();
  groups_.clear();
  for (const CommGroup& group : program.comms) {
    groups_.push_back(team_.world.communicator(group.ranks, rank_, group.channel));
    communicators_.push_back(groups_.back().get());
  }
  return communicators_;
}

double RankLink::sum(double value, std::string_view what) {
  if (control_) control_->all_reduce(&value, 1, DType::f64, what);
  return value;
}

int64_t RankLink::from_leader(int64_t value, std::string_view what) {
  if (control_) control_->broadcast(&value, sizeof value, 0, what);
  return value;
}

void RankLink::leader_does(const Engine& mine,
                           const std::function<void(std::span<const Engine* const>)>& work,
                           std::string_view what) {
  team_.engines[static_cast<size_t>(rank_)] = &mine;
  if (control_) control_->barrier(what);
  if (leads()) work(team_.engines);
  if (control_) control_->barrier(what);
}

namespace {

std::string message_of(const std::exception_ptr& failure) {
  try {
    std::rethrow_exception(failure);
  } catch (const std::bad_alloc&) {
    return "out of memory";
  } catch (const std::exception& error) {
    return error.what();
  }
}

bool came_from_a_peer(const std::exception_ptr& failure) {
  try {
    std::rethrow_exception(failure);
  } catch (const PeerFailed&) {
    return true;
  } catch (...) {
    return false;
  }
}

void rethrow_first(const std::vector<std::exception_ptr>& failures) {
  std::exception_ptr first;
  for (const std::exception_ptr& failure : failures) {
    if (!failure) continue;
    if (!came_from_a_peer(failure)) std::rethrow_exception(failure);
    if (!first) first = failure;
  }
  if (first) std::rethrow_exception(first);
}

}  // namespace

int RankLink::guarded(const std::function<int()>& work) {
  try {
    return work();
  } catch (...) {
    team_.world.fail(rank_, message_of(std::current_exception()));
    throw;
  }
}

int run_ranks(const TeamOptions& options, const std::function<int(RankLink&)>& body) {
  RankTeam team(options);
  const int ranks = options.mesh.ranks();
  std::vector<std::exception_ptr> failures(static_cast<size_t>(ranks));
  int result = 0;
  const auto run = [&](int rank) {
    try {
      RankLink link(team, rank);
      const int code = link.guarded([&] { return body(link); });
      if (link.leads()) result = code;
    } catch (...) {
      failures[static_cast<size_t>(rank)] = std::current_exception();
    }
  };
  if (ranks == 1) {
    run(0);
  } else {
    std::vector<std::thread> threads;
    for (int rank = 0; rank < ranks; ++rank)
      threads.emplace_back([&, rank] {
        keep_to_share_of_cores({.rank = rank, .ranks = ranks, .threads = options.threads});
        run(rank);
      });
    for (std::thread& thread : threads) thread.join();
  }
  rethrow_first(failures);
  return result;
}

}  // namespace trireme
