// Threads, their communicators, and which of their exceptions counts.
#include "train/ranks.h"

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <cstdlib>
#include <exception>
#include <mutex>
#include <numeric>
#include <system_error>
#include <thread>

#include "base/ending.h"
#include "base/exit_code.h"
#include "comm/local/local_world.h"
#include "train/first_text.h"
#include "train/machine.h"

namespace trireme {

// Programs' channels begin at 0.
constexpr int kControlChannel = -1;
constexpr int kBesideChannel = -2;

struct RankTeam {
  RankTeam(const TeamOptions& team_options, World& team_world, const RanksHere& ranks_here)
      : options(team_options), world(team_world), here(ranks_here) {}

  TeamOptions options;
  World& world;
  RanksHere here;
};

namespace {

std::unique_ptr<Communicator> over_all_ranks(RankTeam& team, int rank, int channel) {
  const int ranks = team.options.mesh.ranks();
  if (ranks == 1) return nullptr;
  std::vector<int> all(static_cast<size_t>(ranks));
  std::iota(all.begin(), all.end(), 0);
  return team.world.communicator(all, rank, channel);
}

}  // namespace

RankLink::RankLink(RankTeam& team, int rank) : team_(team), rank_(rank) {
  control_ = over_all_ranks(team, rank, kControlChannel);
}

std::unique_ptr<Communicator> RankLink::another() { return over_all_ranks(team_, rank_, kBesideChannel); }

int RankLink::threads() const { return std::max(1, team_.options.threads / team_.here.count); }

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
  sum(std::span(&value, 1), what);
  return value;
}

void RankLink::sum(std::span<double> values, std::string_view what) {
  if (control_) control_->all_reduce(values.data(), static_cast<int64_t>(values.size()), DType::f64, what);
}

std::string RankLink::first_text(const std::string& mine, std::string_view what) {
  return control_ ? trireme::first_text(*control_, mine, what) : mine;
}

void RankLink::meet(std::string_view what) {
  if (control_) control_->barrier(what);
}

namespace {

// Any exception, as the other ranks hear of it.
Ending told(const std::exception_ptr& failure) {
  try {
    return ending_of(failure);
  } catch (const std::exception& error) {
    return {kEnvironment, error.what()};
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
    team_.world.fail(rank_, told(std::current_exception()));
    throw;
  }
}

namespace {

// How rank threads end. One that hangs outside every communicator cannot be joined: once another has failed
// it gets some time, then the process ends with it.
class Endings {
 public:
  explicit Endings(int count) : left_(count), failures_(static_cast<size_t>(count)) {}

  void add(int place, const std::exception_ptr& failure) {
    const std::lock_guard lock(mutex_);
    --left_;
    if (failure) failures_[static_cast<size_t>(place)] = failure;
    if (failure && !first_) first_ = failure;
    changed_.notify_all();
  }

  // Rethrows what counts when all have ended.
  void wait(double timeout_s) {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return left_ == 0 || first_; });
    // Who was waited for in vain has had its time.
    const double grace_s = first_ && came_from_a_peer(first_) ? std::min(timeout_s, kGraceS) : timeout_s;
    if (!changed_.wait_for(lock, std::chrono::duration<double>(grace_s), [&] { return left_ == 0; })) {
      const Ending ending = told(first_);
      report(ending);
      std::_Exit(ending.exit_code);
    }
    rethrow_first(failures_);
  }

 private:
  static constexpr double kGraceS = 2;

  std::mutex mutex_;
  std::condition_variable changed_;
  int left_;
  std::exception_ptr first_;
  std::vector<std::exception_ptr> failures_;  // by place
};

}  // namespace

int run_ranks(const TeamOptions& options, World& world, const RanksHere& here,
              const std::function<int(RankLink&)>& body) {
  RankTeam team(options, world, here);
  Endings endings(here.count);
  int result = 0;
  const auto run = [&](int place) {
    std::exception_ptr failure;
    try {
      RankLink link(team, here.first + place);
      const int code = link.guarded([&] { return body(link); });
      if (place == 0) result = code;
    } catch (...) {
      failure = std::current_exception();
    }
    endings.add(place, failure);
  };
  const bool whole = here.count == options.mesh.ranks();
  std::vector<std::jthread> threads;
  if (here.count == 1) run(0);
  const auto start = [&](int place) {
    threads.emplace_back([&, place] {
      if (whole) keep_to_share_of_cores({.rank = place, .ranks = here.count, .threads = options.threads});
      run(place);
    });
  };
  for (int place = 0; here.count > 1 && place < here.count; ++place) {
    try {
      start(place);
    } catch (const std::system_error&) {  // those that run wait for this one
      const std::exception_ptr failure = std::current_exception();
      world.fail(here.first + place, told(failure));
      for (; place < here.count; ++place) endings.add(place, failure);
    }
  }
  endings.wait(options.timeout_s);
  return result;
}

int run_ranks(const TeamOptions& options, const std::function<int(RankLink&)>& body) {
  LocalWorld world({.ranks = options.mesh.ranks(), .timeout_s = options.timeout_s});
  return run_ranks(options, world, {0, options.mesh.ranks()}, body);
}

}  // namespace trireme
