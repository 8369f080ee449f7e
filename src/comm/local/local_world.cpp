// A table of groups by members and channel; whoever asks first makes the group.
#include "comm/local/local_world.h"

#include <map>
#include <mutex>
#include <utility>
#include <vector>

#include "comm/failure.h"
#include "comm/local/local_group.h"

namespace trireme {

struct LocalWorld::State {
  LocalOptions options;
  std::chrono::microseconds spin;
  Failure failure;
  std::mutex mutex;
  std::map<std::pair<std::vector<int>, int>, std::shared_ptr<LocalGroup>> groups;
};

LocalWorld::LocalWorld(const LocalOptions& options) : state_(std::make_unique<State>()) {
  CHECK(options.ranks > 0 && options.timeout_s > 0, "ranks = {}, timeout_s = {}", options.ranks,
        options.timeout_s);
  state_->options = options;
  state_->spin = spin_for(options.ranks);
}

LocalWorld::~LocalWorld() = default;

std::unique_ptr<Communicator> LocalWorld::communicator(std::span<const int> members, int me, int channel) {
  for (const int member : members)
    CHECK(member >= 0 && member < state_->options.ranks, "rank {} of {}", member, state_->options.ranks);
  const auto place = std::find(members.begin(), members.end(), me);
  CHECK(place != members.end(), "rank {} is not a member", me);
  std::shared_ptr<LocalGroup> group;
  {
    const std::lock_guard lock(state_->mutex);
    auto& entry = state_->groups[{std::vector<int>(members.begin(), members.end()), channel}];
    if (!entry) entry = std::make_shared<LocalGroup>(members, state_->options.timeout_s, state_->failure);
    group = entry;
  }
  return local_communicator(std::move(group), static_cast<int>(place - members.begin()), state_->spin);
}

void LocalWorld::fail(int rank, const Ending& why) {
  state_->failure.report({.ranks = {rank}, .message = why.message, .exit_code = why.exit_code});
}

}  // namespace trireme
