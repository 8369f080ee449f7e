// Rates depend on which jobs there are, not on each other's rates: a change reaches the jobs of its ranks and
// no further.
#include "sim/flow.h"

#include <algorithm>

namespace trireme {
namespace {

size_t way_out(Reach reach) {
  return static_cast<size_t>(reach == Reach::between ? Way::between_out : Way::inside_out);
}
size_t way_in(Reach reach) {
  return static_cast<size_t>(reach == Reach::between ? Way::between_in : Way::inside_in);
}

}  // namespace

int64_t Flow::compute(size_t rank, double seconds, double talk, Reach reach) {
  Job job;
  job.ends = {{rank}};
  job.left_s = seconds;
  job.talk = talk;
  job.computes = true;
  job.reach = reach;
  return start(std::move(job));
}

int64_t Flow::transfer(const std::vector<FlowEnd>& ends, double seconds, Reach reach) {
  Job job;
  job.ends = ends;
  job.left_s = seconds;
  job.reach = reach;
  return start(std::move(job));
}

int64_t Flow::start(Job job) {
  job.since = now_;
  const auto id = static_cast<int64_t>(jobs_.size());
  load(job, 1);
  for (const FlowEnd& end : job.ends) ranks_[end.rank].jobs.push_back(id);
  jobs_.push_back(std::move(job));
  refresh(jobs_.back());
  return id;
}

// What the job asks of its ranks' ways: a transfer all of them, compute as much as its talk takes on average.
void Flow::load(const Job& job, double sign) {
  for (const FlowEnd& end : job.ends) {
    Rank& rank = ranks_[end.rank];
    const double share = job.computes ? job.talk : 1;
    if (end.sends) rank.load[way_out(job.reach)] += sign * share;
    if (end.receives) rank.load[way_in(job.reach)] += sign * share;
    if (job.computes)
      rank.computes = sign > 0;
    else
      rank.transfers += sign > 0 ? 1 : -1;
  }
}

double Flow::rate_of(const Job& job) const {
  double slowest = 1;
  for (const FlowEnd& end : job.ends) {
    const Rank& rank = ranks_[end.rank];
    double crowd = 1;
    if (end.sends) crowd = std::max(crowd, rank.load[way_out(job.reach)]);
    if (end.receives) crowd = std::max(crowd, rank.load[way_in(job.reach)]);
    const double units = units_taken_ * rank.transfers;
    if (job.computes) return 1 / ((1 - job.talk) * (1 + units) + job.talk * crowd);
    // What the transfer gets of the units that it needs, where those do not suffice for all.
    const double wanted = units + (rank.computes ? 1 : 0);
    const double got = units_taken_ > 0 && wanted > 1 ? std::min(1.0, 1 / (units_taken_ * wanted)) : 1;
    slowest = std::min({slowest, 1 / crowd, got});
  }
  return slowest;
}

// The rates of all jobs on the ranks of one that has begun or ended.
void Flow::refresh(const Job& changed) {
  for (const FlowEnd& end : changed.ends)
    for (const int64_t id : ranks_[end.rank].jobs) {
      Job& job = jobs_[static_cast<size_t>(id)];
      const double rate = rate_of(job);
      if (rate == job.rate) continue;
      job.left_s = std::max(0.0, job.left_s - (now_ - job.since) * job.rate);
      job.since = now_;
      job.rate = rate;
      events_.push({now_ + job.left_s / rate, id, ++job.version});
    }
}

int64_t Flow::next() {
  while (!events_.empty()) {
    const Event event = events_.top();
    events_.pop();
    Job& job = jobs_[static_cast<size_t>(event.job)];
    if (job.done || job.version != event.version) continue;
    now_ = event.at;
    job.done = true;
    load(job, -1);
    for (const FlowEnd& end : job.ends) std::erase(ranks_[end.rank].jobs, event.job);
    refresh(job);
    return event.job;
  }
  return -1;
}

}  // namespace trireme
