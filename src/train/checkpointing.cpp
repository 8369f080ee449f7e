// Saves and words about them.
#include "train/checkpointing.h"

#include <algorithm>
#include <utility>

#include "base/error.h"

namespace trireme {
namespace {

constexpr int64_t kNone = -1;

// What is being mirrored must not go meanwhile.
SaveOptions save_options(const RunSetup& run) {
  const auto being_mirrored = [&run] {
    const std::string name = run.mirror ? run.mirror->copying() : "";
    return name.empty() ? std::vector<std::string>() : std::vector{name};
  };
  return {.keep = run.retention(), .pinned = being_mirrored};
}

}  // namespace

Checkpointing::Checkpointing(RunSetup& run, RankSetup& mine, RankLink& link, const Files& files)
    : run_(run), link_(link), files_(files), saver_(link, mine.engine, *run.checkpoints, save_options(run)) {}

double Checkpointing::save(const CheckpointMeta& meta) {
  const bool async = run_.spec.checkpoint.async;
  const double longest_s = start(meta, async ? Saver::Behind::yes : Saver::Behind::no);
  // One that the steps waited for has ended on every rank.
  return async ? longest_s : std::max(longest_s, report());
}

void Checkpointing::save_last(const CheckpointMeta& meta) {
  start(meta, Saver::Behind::no);
  report(meta.step);
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

double Checkpointing::report() { return report(kNone); }

// A save of the needed step must have succeeded.
double Checkpointing::report(int64_t needed_step) {
  double longest_s = 0;
  for (const SaveNews& news : saver_.take_news()) {
    const bool ends = news.step == needed_step || run_.spec.checkpoint.on_failure == OnSaveFailure::stop;
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
