// All ranks on paper: each goes through its actions as the engine does, with a queue for the comm stream and
// one for each link, until nobody can move.
#include "lower/check_ranks.h"

#include <fmt/format.h>

#include <algorithm>
#include <deque>
#include <map>
#include <optional>
#include <utility>
#include <vector>

namespace trireme {
namespace {

using GroupKey = std::pair<int32_t, std::vector<int32_t>>;  // channel and ranks

struct Queue {
  std::deque<size_t> actions;  // handed in and not yet done
  size_t transfer = 0;         // of the first one
};

struct Rank {
  const Program* program = nullptr;
  const Timeline* timeline = nullptr;
  size_t next = 0;
  std::vector<bool> done;          // by action
  std::map<CommId, Queue> queues;  // the comm stream under an invalid id

  const Action& action(size_t i) const { return timeline->actions[i]; }
};

class Paper {
 public:
  Paper(std::span<const Program> programs, size_t timeline) {
    for (const Program& program : programs) {
      const Timeline& steps = program.timelines.at(timeline);
      ranks_[program.rank] = {&program, &steps, 0, std::vector<bool>(steps.actions.size()), {}};
    }
  }

  std::string run() {
    for (bool moved = true; moved && fault_.empty();) {
      moved = false;
      for (auto& [number, rank] : ranks_) {
        while (step(rank)) moved = true;
        for (auto& [id, queue] : rank.queues)
          while (fault_.empty() && serve(number, rank, queue)) moved = true;
      }
    }
    if (!fault_.empty()) return fault_;
    std::string stuck;
    for (const auto& [number, rank] : ranks_) {
      for (const auto& [id, queue] : rank.queues)
        if (!queue.actions.empty())
          stuck += fmt::format("; rank {} is at {}", number, text(rank, queue.actions.front()));
      if (rank.next < rank.done.size())
        stuck += fmt::format("; rank {} comes to {}", number, text(rank, rank.next));
    }
    return stuck.empty() ? "" : "the ranks wait for each other" + stuck;
  }

 private:
  static std::string text(const Rank& rank, size_t i) {
    return fmt::format("{} {} of micro-batch {}", name_of(rank.action(i).kind), i,
                       rank.action(i).micro_batch);
  }

  // The rank's main thread: past one more action.
  static bool step(Rank& rank) {
    if (rank.next == rank.done.size()) return false;
    const Action& action = rank.action(rank.next);
    for (const ActionId id : action.waits)
      if (!rank.done[static_cast<size_t>(id.index)]) return false;
    if (action.stream == Stream::compute)
      rank.done[rank.next] = true;
    else
      rank.queues[action.stream == Stream::p2p ? action.transfers[0].comm : CommId()].actions.push_back(
          rank.next);
    ++rank.next;
    return true;
  }

  static const CommGroup& group_of(const Rank& rank, const Transfer& transfer) {
    return rank.program->comms[static_cast<size_t>(transfer.comm.index)];
  }

  // What the rank has in the group just now.
  struct Offer {
    Rank* rank;
    Queue* queue;
    const Action* action;
    const Transfer* transfer;
  };
  std::optional<Offer> offer(int32_t number, const GroupKey& group) {
    Rank& rank = ranks_.at(number);
    for (auto& [id, queue] : rank.queues) {
      if (queue.actions.empty()) continue;
      const Action& action = rank.action(queue.actions.front());
      const Transfer& transfer = action.transfers[queue.transfer];
      const CommGroup& its = group_of(rank, transfer);
      if (GroupKey{its.channel, its.ranks} == group) return Offer{&rank, &queue, &action, &transfer};
    }
    return {};
  }

  // One transfer, if all its members are there.
  bool serve(int32_t number, Rank& rank, Queue& queue) {
    if (queue.actions.empty()) return false;
    const Action& action = rank.action(queue.actions.front());
    const CommGroup& group = group_of(rank, action.transfers[queue.transfer]);
    std::vector<Offer> offers;
    for (const int32_t member : group.ranks) {
      if (!ranks_.contains(member)) continue;
      const auto its = offer(member, {group.channel, group.ranks});
      if (!its) return false;
      offers.push_back(*its);
    }
    for (const Offer& other : offers)
      if (!fits(offers[0], other))
        fault_ = fmt::format("in {}, rank {} is at {} when another is at {} of micro-batch {}", group.name,
                             number, text(rank, queue.actions.front()), name_of(other.action->kind),
                             other.action->micro_batch);
    for (const Offer& each : offers) {
      if (++each.queue->transfer < each.action->transfers.size()) continue;
      each.rank->done[each.queue->actions.front()] = true;
      each.queue->actions.pop_front();
      each.queue->transfer = 0;
    }
    return true;
  }

  // Whether a member of a group brings what goes with the first one, which is the sender where there is one.
  static bool fits(const Offer& first, const Offer& other) {
    const Transfer &a = *first.transfer, &b = *other.transfer;
    if (a.count != b.count || a.dtype != b.dtype || first.action->micro_batch != other.action->micro_batch)
      return false;
    if (!is_message(a.op)) return a.op == b.op && first.action->kind == other.action->kind;
    if (&first == &other) return a.op == CommOp::send;
    const bool output = first.action->kind == ActionKind::send_act;
    return b.op == CommOp::recv &&
           other.action->kind == (output ? ActionKind::recv_act : ActionKind::recv_grad);
  }

  std::map<int32_t, Rank> ranks_;  // by number
  std::string fault_;
};

}  // namespace

std::string find_rank_fault(std::span<const Program> programs) {
  if (programs.empty()) return "";
  for (const Program& program : programs)
    if (program.timelines.size() != programs[0].timelines.size()) return "the ranks have other timelines";
  for (size_t t = 0; t < programs[0].timelines.size(); ++t) {
    const std::string fault = Paper(programs, t).run();
    if (!fault.empty()) return fmt::format("timeline {}: {}", programs[0].timelines[t].name, fault);
  }
  return "";
}

}  // namespace trireme
