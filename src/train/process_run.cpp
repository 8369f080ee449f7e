// The start goes in stages: each process does its part, then all say whether it went well. Only then do rank
// threads start, which find each other's failures by themselves.
#include "train/process_run.h"

#include <algorithm>
#include <numeric>
#include <optional>
#include <string>

#include "base/ending.h"
#include "base/error.h"
#include "base/exit_code.h"
#include "comm/mpi/mpi_world.h"
#include "train/mirroring.h"
#include "train/trainer.h"

namespace trireme {
namespace {

// "1, 4 or another divisor of 4"
std::string process_counts(int ranks) {
  if (ranks == 1) return "1 process";
  return fmt::format("1, {} or another divisor of {}", ranks, ranks);
}

int ranks_per_process(const RunSpec& spec, int processes) {
  const auto ranks = static_cast<int>(all_ranks(spec));
  if (ranks % processes != 0)
    fail_user(
        "the config has {} ranks (parallel.pp = {} x dp_replicate = {} x dp_shard = {} x cp = {} x tp = {}), "
        "which {} processes do not divide: start {}, or set --ranks {}",
        ranks, spec.parallel.pp, spec.parallel.dp_replicate, spec.parallel.dp_shard, spec.parallel.cp,
        spec.parallel.tp, processes, process_counts(ranks),
        std::lcm(spec.parallel.pp * block_ranks(spec), processes));
  return ranks / processes;
}

Ending attempt(const std::function<void()>& work) {
  try {
    work();
    return {};
  } catch (...) {
    return ending_of(std::current_exception());
  }
}

class ProcessRun {
 public:
  ProcessRun(const std::function<RunSpec()>& load, const S3Options& s3, const ProcessPlace& place)
      : place_(place), s3_(s3) {
    loading_ = attempt([&] {
      spec_.emplace(load());
      here_.count = ranks_per_process(*spec_, place.processes);
      here_.first = here_.count * place.process;
    });
    MpiOptions options{.ranks_per_process = here_.count, .exit_code = loading_.exit_code};
    if (spec_) options.timeout_s = spec_->run.timeout_s;
    world_.emplace(options);
  }

  // An exception that is no way to end is a bug, and ends the process before the world is taken down.
  int run(const ResumeChoice& resume) noexcept {
    try {
      const int exit_code = go(resume);
      world_->finish();
      return exit_code;
    } catch (const PeerFailed& failure) {
      if (failure.said == FailureSaid::not_yet && speaks_of(failure))
        report({failure.exit_code, failure.what()});
      world_->abort(failure.exit_code);
    } catch (...) {
      const Ending ending = ending_of(std::current_exception());
      report(ending);
      world_->abort(ending.exit_code);
    }
  }

 private:
  int go(const ResumeChoice& resume) {
    int exit_code = agree(loading_, "loading the config");
    if (exit_code == kDone) exit_code = agree(attempt([&] { check_place(); }), "finding each other");
    if (exit_code == kDone) exit_code = set_up(resume);
    if (exit_code != kDone) return exit_code;
    if (setup_->is_done()) {
      // The other processes wait for this one no longer than that.
      finish_mirror(*setup_, 0.8 * spec_->run.timeout_s, signals_);
      return kDone;
    }
    const TeamOptions team{
        .mesh = setup_->mesh, .timeout_s = spec_->run.timeout_s, .threads = setup_->threads};
    return run_ranks(team, *world_, here_,
                     [&](RankLink& link) { return train_rank(*setup_, link, signals_); });
  }

  // The launcher and MPI must mean the same processes.
  void check_place() const {
    if (world_->processes() != place_.processes || world_->process() != place_.process)
      fail_env(
          "the launcher says process {} of {}, MPI says {} of {}: start with the mpirun of the MPI that "
          "trireme was built with, or with srun --mpi=pmix",
          place_.process, place_.processes, world_->process(), world_->processes());
  }

  // Process 0 finds the folder, the checkpoint and most mistakes; the others follow it.
  int set_up(const ResumeChoice& resume) {
    const bool first = place_.process == 0;
    Ending mine;
    if (first) mine = attempt([&] { setup_.emplace(*spec_, resume, s3_, here_); });
    if (const int exit_code = agree(mine, "the start of rank 0"); exit_code != kDone) return exit_code;
    const bool resumes = first && setup_->checkpoint;
    const std::string from = world_->from_first(resumes ? setup_->checkpoint->reader.location() : "",
                                                "the choice of a checkpoint");
    if (!first) mine = attempt([&] { setup_.emplace(*spec_, from, s3_, here_); });
    return agree(mine, "the start of all ranks");
  }

  // One process speaks for all that wait for the failed ranks: the first that has none of them, if there is
  // one.
  bool speaks_of(const PeerFailed& failure) const {
    for (int process = 0; process < place_.processes; ++process)
      if (std::none_of(failure.ranks.begin(), failure.ranks.end(),
                       [&](int rank) { return rank / here_.count == process; }))
        return process == place_.process;
    return place_.process == 0;
  }

  // The exit code of the first process that failed, which says why; kDone when none did.
  int agree(const Ending& mine, const char* what) {
    const std::vector<int> exit_codes = world_->numbers_of_all(mine.exit_code, what);
    for (size_t p = 0; p < exit_codes.size(); ++p) {
      if (exit_codes[p] == kDone) continue;
      if (static_cast<int>(p) == world_->process()) report(mine);
      return exit_codes[p];
    }
    return kDone;
  }

  const StopSignals signals_;  // first: threads of MPI inherit what it blocks
  ProcessPlace place_;
  S3Options s3_;
  Ending loading_;
  std::optional<RunSpec> spec_;
  RanksHere here_;
  std::optional<MpiWorld> world_;
  std::optional<RunSetup> setup_;
};

}  // namespace

int train_on_processes(const std::function<RunSpec()>& load, const ResumeChoice& resume, const S3Options& s3,
                       const ProcessPlace& place) {
  return ProcessRun(load, s3, place).run(resume);
}

}  // namespace trireme
