// Saves and words about them.
#include "train/checkpointing.h"

#include <algorithm>
#include <utility>

#include "base/error.h"

namespace trireme {
namespace {

Retention retention_of(const CheckpointSpec& spec) {
  return {.newest = spec.keep, .every_steps = spec.keep_every_steps};
}

// What is being copied must not go meanwhile.
std::vector<std::string> being_mirrored(const RunSetup& run) {
  const std::string name = run.mirror ? run.mirror->copying() : "";
  return name.empty() ? std::vector<std::string>() : std::vector{name};
}

}  // namespace

Checkpointing::Checkpointing(RunSetup& run, RankSetup& mine, RankLink& link, const Files& files)
    : run_(run),
      link_(link),
      files_(files),
      saver_(link, mine.engine, *run.checkpoints, retention_of(run.spec.checkpoint),
             [&run] { return being_mirrored(run); }) {}

double Checkpointing::save(const CheckpointMeta& meta) {
  const double longest_s = start(meta, Saver::Behind::yes);
  // One that the steps waited for has ended on every rank.
  return run_.spec.checkpoint.async ? longest_s : std::max(longest_s, report());
}

void Checkpointing::save_last(const CheckpointMeta& meta) {
  start(meta, Saver::Behind::no);
  report(Failing::ends_the_run);
}

double Checkpointing::start(const CheckpointMeta& meta, Saver::Behind behind) {
  const double before = saver_.blocked_s();
  const double longest_s = report();  // of the save before, which would be waited for in any case
  if (files_.recorder != nullptr) files_.recorder->sync();
  if (files_.samples != nullptr) files_.samples->sync();
  saver_.save(meta, behind);
  costs_.blocked_s += saver_.blocked_s() - before;
  return longest_s;
}

double Checkpointing::report() { return report(Failing::as_configured); }

double Checkpointing::report(Failing failing) {
  double longest_s = 0;
  const bool ends =
      failing == Failing::ends_the_run || run_.spec.checkpoint.on_failure == OnSaveFailure::stop;
  for (const SaveNews& news : saver_.take_news()) {
    costs_.write_s += news.write_s;
    longest_s = std::max(longest_s, news.write_s);
    costs_.bytes += news.report.bytes;
    if (link_.leads()) {
      files_.recorder->finish();
      if (!news.failure.empty() && ends) fail_env("{}", news.failure);
      say(news);
    }
    // The others hear of the failure from the leader, who speaks for all.
    if (!news.failure.empty() && ends) link_.meet("saving a checkpoint");
  }
  return longest_s;
}

void Checkpointing::say(const SaveNews& news) {
  Log& log = run_.log;
  if (!news.failure.empty()) {
    log.warn("{}; checkpoint.on_failure = \"continue\": going on, the next save tries again", news.failure);
    return;
  }
  log.info("saved {} ({:.1f} MB, {:.2f} s)", news.report.location,
           static_cast<double>(news.report.bytes) / 1e6, news.write_s);
  if (news.report.removal_error) log.warn("{}", *news.report.removal_error);
  if (run_.mirror) run_.mirror->submit(news.report.name);
}

CheckpointCosts Checkpointing::take_costs() { return std::exchange(costs_, {}); }

}  // namespace trireme
