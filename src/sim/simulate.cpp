// The ranks as the engine runs them: a main thread that computes and hands transfers in, a queue for the comm
// stream and one for each group that sends or receives; a transfer begins when all its members have come to
// it. lower/check_ranks.cpp walks the same rules without time.
#include "sim/simulate.h"

#include <algorithm>
#include <deque>
#include <map>
#include <set>
#include <utility>

#include "base/error.h"
#include "sim/flow.h"
#include "sim/fold.h"

namespace trireme {
namespace {

TimePart part_of(ActionKind kind) {
  if (kind == ActionKind::load) return TimePart::loader;
  return is_update(kind) ? TimePart::optimizer : TimePart::compute;
}

TimePart part_of(BlockAxis axis) {
  return axis == BlockAxis::tp ? TimePart::tp : axis == BlockAxis::cp ? TimePart::cp : TimePart::ep;
}

Reach reach_of(bool between) { return between ? Reach::between : Reach::inside; }

// Simulated ranks that communicate.
struct Meeting {
  std::vector<size_t> members;
  bool stages = false;  // of several stages
  size_t arrived = 0;
};

struct Queue {
  std::deque<size_t> actions;
  size_t transfer = 0;   // of the first one
  bool arrived = false;  // at its meeting
};

struct Walker {
  const Timeline* timeline = nullptr;
  const std::vector<ActionPrice>* prices = nullptr;
  size_t next = 0;
  bool computes = false;
  std::vector<bool> done;          // by action
  std::vector<size_t> meetings;    // by CommId
  std::map<CommId, Queue> queues;  // the comm stream under an invalid id
  double blocked_since = -1;
  size_t blocked_on = 0;

  const Action& action(size_t i) const { return timeline->actions[i]; }
};

class Replay {
 public:
  explicit Replay(const SimulationInput& input)
      : input_(input),
        fold_(input.programs.at(0).mesh, input.disturbance),
        flow_(fold_.ranks().size(), input.cluster.hardware->kernels.communication),
        ranks_(fold_.ranks()) {
    for (size_t p = 0; p < input.programs.size(); ++p) {
      timelines_.push_back(&timeline_of(input, p));
      prices_.push_back(price(input.programs[p], *timelines_.back(), input.cluster));
    }
    for (size_t r = 0; r < ranks_.size(); ++r) add_walker(r);
  }

  StepSimulation run() {
    for (size_t r = 0; r < walkers_.size(); ++r) advance(r);
    for (int64_t job = flow_.next(); job >= 0; job = flow_.next()) finish(job);
    for (size_t r = 0; r < walkers_.size(); ++r)
      CHECK(walkers_[r].next == walkers_[r].done.size(), "rank {} waits at action {} of {}", ranks_[r].rank,
            walkers_[r].next, walkers_[r].done.size());
    close();
    return {flow_.now(), std::move(ranks_)};
  }

 private:
  // What a job of the flow is: an action that computes, or a meeting's transfer.
  struct Work {
    bool computes = false;
    size_t rank_or_meeting = 0;
    double seconds = 0;  // of compute at full speed, talk included
  };

  void add_walker(size_t r) {
    const size_t p = ranks_[r].program;
    Walker walker;
    walker.timeline = timelines_[p];
    walker.prices = &prices_[p];
    walker.done.resize(walker.timeline->actions.size());
    for (const CommGroup& group : input_.programs[p].comms) {
      const std::vector<size_t> members = fold_.members(r, group);
      const auto [it, fresh] = meeting_ids_.try_emplace({group.channel, members}, meetings_.size());
      if (fresh) {
        std::set<size_t> stages;
        for (const size_t member : members) stages.insert(ranks_[member].program);
        meetings_.push_back({members, stages.size() > 1});
      }
      walker.meetings.push_back(it->second);
    }
    ranks_[r].spans.resize(walker.done.size());
    walkers_.push_back(std::move(walker));
  }

  double slower(Reach reach) const {
    const Disturbance& d = input_.disturbance;
    return reach == Reach::between ? d.between_slower : d.inside_slower;
  }

  double& part(size_t r, TimePart which) { return ranks_[r].parts[static_cast<size_t>(which)]; }

  // The rank's main thread, as far as it gets.
  void advance(size_t r) {
    Walker& walker = walkers_[r];
    while (!walker.computes && walker.next < walker.done.size()) {
      const size_t i = walker.next;
      const Action& action = walker.action(i);
      for (const ActionId id : action.waits)
        if (!walker.done[static_cast<size_t>(id.index)]) {
          walker.blocked_on = static_cast<size_t>(id.index);
          if (walker.blocked_since < 0) walker.blocked_since = flow_.now();
          return;
        }
      walker.blocked_since = -1;
      ++walker.next;
      ranks_[r].spans[i] = {i, flow_.now(), flow_.now(), flow_.now()};
      if (action.stream == Stream::compute) {
        compute(r, i);
        continue;
      }
      const CommId queue = action.stream == Stream::p2p ? action.transfers[0].comm : CommId();
      walker.queues[queue].actions.push_back(i);
      serve(r, walker.queues[queue]);
    }
  }

  void compute(size_t r, size_t i) {
    Walker& walker = walkers_[r];
    const ActionPrice& price = (*walker.prices)[i];
    double talk = 0;
    for (const double s : price.axis_s) talk += s;
    talk *= slower(reach_of(price.axis_between));
    const double seconds = price.compute_s * ranks_[r].slowdown + talk;
    walker.computes = true;
    note({true, r, seconds},
         flow_.compute(r, seconds, seconds > 0 ? talk / seconds : 0, reach_of(price.axis_between)));
  }

  void note(const Work& work, int64_t job) {
    work_.resize(std::max(work_.size(), static_cast<size_t>(job) + 1));
    work_[static_cast<size_t>(job)] = work;
  }

  // Brings the rank to the meeting of the queue's next transfer, which begins when all are there.
  void serve(size_t r, Queue& queue) {
    if (queue.actions.empty() || queue.arrived) return;
    Walker& walker = walkers_[r];
    const size_t i = queue.actions.front();
    const size_t m = meeting_of(walker, queue);
    Meeting& meeting = meetings_[m];
    if (queue.transfer == 0) ranks_[r].spans[i].start_s = flow_.now();
    queue.arrived = true;
    if (++meeting.arrived < meeting.members.size()) return;
    meeting.arrived = 0;
    begin(m, walker.action(i).transfers[queue.transfer], (*walker.prices)[i].transfers[queue.transfer]);
  }

  static size_t meeting_of(const Walker& walker, const Queue& queue) {
    const Transfer& transfer = walker.action(queue.actions.front()).transfers[queue.transfer];
    return walker.meetings[static_cast<size_t>(transfer.comm.index)];
  }

  void begin(size_t m, const Transfer& transfer, const WireTime& wire) {
    const Meeting& meeting = meetings_[m];
    const bool message = is_message(transfer.op);
    std::vector<FlowEnd> ends;
    for (size_t k = 0; k < meeting.members.size(); ++k)
      ends.push_back({meeting.members[k], !message || k == 0, !message || k > 0});
    const double seconds = wire.seconds * slower(reach_of(wire.between));
    for (const size_t member : meeting.members) {
      const Queue& queue = queue_at(member, m);
      if (queue.transfer == 0) ranks_[member].spans[queue.actions.front()].moves_s = flow_.now();
    }
    note({false, m, seconds}, flow_.transfer(ends, seconds, reach_of(wire.between)));
  }

  // Of a member, the queue that has come to the meeting.
  Queue& queue_at(size_t r, size_t m) {
    for (auto& [id, queue] : walkers_[r].queues)
      if (queue.arrived && meeting_of(walkers_[r], queue) == m) return queue;
    CHECK(false, "rank {} is not at the meeting", ranks_[r].rank);
  }

  void finish(int64_t job) {
    const Work work = work_[static_cast<size_t>(job)];
    if (work.computes)
      finish_compute(work.rank_or_meeting, work.seconds);
    else
      finish_transfer(work.rank_or_meeting);
  }

  // The action's time goes to its parts as they would have it undisturbed.
  void finish_compute(size_t r, double seconds) {
    Walker& walker = walkers_[r];
    const size_t i = walker.next - 1;
    SimSpan& span = ranks_[r].spans[i];
    span.end_s = flow_.now();
    const ActionPrice& price = (*walker.prices)[i];
    const double stretch = seconds > 0 ? (span.end_s - span.start_s) / seconds : 0;
    part(r, part_of(walker.action(i).kind)) += price.compute_s * ranks_[r].slowdown * stretch;
    for (int a = 0; a < kBlockAxes; ++a)
      part(r, part_of(static_cast<BlockAxis>(a))) +=
          price.axis_s[static_cast<size_t>(a)] * stretch * slower(reach_of(price.axis_between));
    walker.done[i] = true;
    walker.computes = false;
    advance(r);
  }

  void finish_transfer(size_t m) {
    const std::vector<size_t>& members = meetings_[m].members;
    std::vector<Queue*> queues;
    for (const size_t member : members) queues.push_back(&queue_at(member, m));
    for (size_t k = 0; k < members.size(); ++k) {
      Walker& walker = walkers_[members[k]];
      Queue& queue = *queues[k];
      queue.arrived = false;
      const size_t i = queue.actions.front();
      if (++queue.transfer < walker.action(i).transfers.size()) continue;
      ranks_[members[k]].spans[i].end_s = flow_.now();
      walker.done[i] = true;
      queue.actions.pop_front();
      queue.transfer = 0;
      unblock(members[k], i);
    }
    for (size_t k = 0; k < members.size(); ++k) serve(members[k], *queues[k]);
    for (const size_t member : members) advance(member);
  }

  void unblock(size_t r, size_t i) {
    Walker& walker = walkers_[r];
    if (walker.blocked_since < 0 || walker.blocked_on != i) return;
    blame(r, i, walker.blocked_since);
    walker.blocked_since = flow_.now();
  }

  // Compute has waited since then for a transfer that is done now: until it began for the others to come, or
  // for those before it in the queue; then for the wire.
  void blame(size_t r, size_t i, double since) {
    const Walker& walker = walkers_[r];
    const Transfer& first = walker.action(i).transfers[0];
    const bool p2p = walker.action(i).stream == Stream::p2p;
    const bool stages = meetings_[walker.meetings[static_cast<size_t>(first.comm.index)]].stages;
    const double wire = std::max(since, ranks_[r].spans[i].moves_s);
    part(r, p2p ? TimePart::pp : TimePart::dp) += flow_.now() - wire;
    part(r, p2p || stages ? TimePart::bubble : TimePart::dp) += wire - since;
  }

  // Behind a rank's last action: its own transfers, then the other ranks.
  void close() {
    for (size_t r = 0; r < ranks_.size(); ++r) {
      double computed = 0, moved = 0;
      for (size_t i = 0; i < ranks_[r].spans.size(); ++i) {
        double& last = walkers_[r].action(i).stream == Stream::compute ? computed : moved;
        last = std::max(last, ranks_[r].spans[i].end_s);
      }
      part(r, TimePart::dp) += std::max(0.0, moved - computed);
      part(r, TimePart::bubble) += flow_.now() - std::max(computed, moved);
    }
  }

  const SimulationInput& input_;
  Folding fold_;
  Flow flow_;
  std::vector<SimRank> ranks_;
  std::vector<const Timeline*> timelines_;        // by program
  std::vector<std::vector<ActionPrice>> prices_;  // likewise
  std::vector<Walker> walkers_;                   // by simulated rank
  std::vector<Meeting> meetings_;
  std::map<std::pair<int32_t, std::vector<size_t>>, size_t> meeting_ids_;
  std::vector<Work> work_;  // by job
};

}  // namespace

std::string_view name_of(TimePart part) {
  constexpr std::array<std::string_view, kTimeParts> kNames = {
      "compute", "tp", "cp", "ep", "pp", "dp", "bubble", "optimizer", "loader"};
  return kNames[static_cast<size_t>(part)];
}

const SimRank& StepSimulation::busiest() const {
  const auto busy = [](const SimRank& rank) { return -rank.part(TimePart::bubble); };
  return *std::ranges::max_element(ranks, {}, busy);
}

const Timeline& timeline_of(const SimulationInput& input, size_t program) {
  const Timeline* timeline = find_timeline(input.programs.at(program), input.timeline);
  CHECK(timeline != nullptr, "{} has no timeline {}", input.programs[program].name, input.timeline);
  return *timeline;
}

StepSimulation simulate_step(const SimulationInput& input) { return Replay(input).run(); }

}  // namespace trireme
