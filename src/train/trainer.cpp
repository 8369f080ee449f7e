// One optimizer step is: the next rows, the scalars, one run of the "train" timeline, and what came of it.
// Everything else here is when to evaluate, save and stop. Every rank runs this loop and comes to the same
// decisions; the leader alone writes metrics and log.
#include "train/trainer.h"

#include <algorithm>
#include <array>
#include <optional>

#include "base/clock.h"
#include "base/error.h"
#include "base/exit_code.h"
#include "ir/state_boxes.h"
#include "train/batches.h"
#include "train/checkpointing.h"
#include "train/expert_load.h"
#include "train/lr.h"
#include "train/machine.h"
#include "train/mirroring.h"
#include "train/optimizer_step.h"
#include "train/rank_setup.h"
#include "train/recorder.h"
#include "train/sample_log.h"
#include "train/save_cadence.h"
#include "train/together.h"

namespace trireme {
namespace {

// As long as a first save may take, at a slow disk's rate.
double expected_save_s(const Program& program) {
  constexpr double kSlowDisk = 100e6;  // bytes/s
  return static_cast<double>(written_bytes(program)) / kSlowDisk;
}

Cadence cadence_of(const RunSpec& spec, const Program& program) {
  return {.last_step = spec.run.steps,
          .every_steps = spec.checkpoint.every_steps,
          .every_minutes = spec.checkpoint.every_minutes,
          .max_minutes = spec.run.max_minutes,
          .expected_save_s = expected_save_s(program),
          .after_save_s = spec.checkpoint.mirror ? kMirrorWhenStopped_s : 0};
}

class Trainer {
 public:
  Trainer(RunSetup& setup, RankSetup& mine, RankLink& link, const StopSignals& signals)
      : setup_(setup),
        mine_(mine),
        link_(link),
        spec_(setup.spec),
        signals_(signals),
        cadence_(cadence_of(setup.spec, mine.compiled.program)),
        loader_(*setup.data, rows_of_rank(setup.spec, setup.mesh, link.rank(), setup.start.data_position)),
        state_(setup.start),
        skipped_in_a_row_(state_.counts[kSkippedInARow]) {
    if (link.leads()) {
      recorder_.emplace(setup.folder, spec_, setup.start.step, setup.flops_per_token, setup.peak.flops_per_s);
      sample_log_.emplace(spec_.data.log_samples ? setup.folder.samples() : "", setup.start.step);
      clock_.emplace(cadence_, age_s());
    }
    const Checkpointing::Files files{recorder_ ? &*recorder_ : nullptr,
                                     sample_log_ ? &*sample_log_ : nullptr};
    checkpointing_.emplace(setup, mine, link, files);
  }

  int run() {
    while (state_.step < spec_.run.steps) {
      StepResult result = step();
      if (recorder_) recorder_->show(result);
      if (evaluates()) evaluate(result);
      // The line stands before the checkpoint does: a run that is killed between them lacks no step.
      if (recorder_) recorder_->write(result);
      check_skipped();
      const Agreement all = agree(result);
      if (all.save_ended) report();
      if (all.decision.end != RunEnd::no) return end(all.decision.end);
      if (all.decision.save) save();
    }
    return finish();  // of a run that had nothing left to do
  }

 private:
  // What all ranks do after a step, from what each of them has seen.
  struct Agreement {
    StepDecision decision;
    bool save_ended = false;  // on every rank
  };
  Agreement agree(const StepResult& result) {
    StepSight sight{.signal = signals_.stop_requested() != 0,
                    .notice = setup_.notice && setup_.notice->noticed()};
    if (clock_) {
      clock_->saw_step(result.step_s + result.eval_s);
      const bool saving = checkpointing_->is_under_way();
      clock_->look(state_.step, age_s(), saving ? SaveInFlight::yes : SaveInFlight::no, sight);
    }
    warn_of_notice();
    if (link_.leads()) say_mirrored(setup_, [&] { recorder_->finish(); });
    std::array<double, 2> seen{to_sum(sight), checkpointing_->has_news() ? 1.0 : 0.0};
    link_.sum(seen, "the end of a step");
    return {decide(state_.step, cadence_, facts_of(seen[0])), seen[1] == setup_.mesh.ranks()};
  }

  void warn_of_notice() {
    if (!setup_.notice || link_.rank() != setup_.here.first) return;
    const auto warning = setup_.notice->take_warning();
    if (!warning) return;
    if (recorder_) recorder_->finish();
    if (setup_.here.first == 0) return setup_.log.warn("{}", *warning);
    Log(LogOptions{}).warn("rank {}: {}", link_.rank(), *warning);  // this process says nothing else
  }

  // Of the process, which the system is asked for once.
  double age_s() const { return seconds_now() - process_began_s_; }

  void report() { saw_save(checkpointing_->report()); }

  void save() {
    if (clock_) clock_->begin_save(age_s());
    saw_save(checkpointing_->save(checkpoint_meta()));
  }

  // 0: none has ended.
  void saw_save(double save_s) {
    if (clock_ && save_s > 0) clock_->saw_save(save_s);
  }

  int end(RunEnd why) {
    checkpointing_->save_last(checkpoint_meta());
    const auto finish_copies = [&] {
      if (link_.leads()) finish_mirror(setup_, mirror_patience_s(why), signals_);
    };
    (void)together(link_.control(), finish_copies, "the mirror");
    return why == RunEnd::done ? finish() : stopped(why);
  }

  // Every n steps and at the end; never when n is 0.
  bool evaluates() const {
    const int64_t every = setup_.eval_set ? spec_.eval.every_steps : 0;
    return every > 0 && (state_.step % every == 0 || state_.step == spec_.run.steps);
  }

  StepResult step() {
    const double start = seconds_now(), stalled = loader_.stall_s(), exposed = mine_.engine.exposed_comm_s();
    const StepBatch& rows = loader_.next();
    for (const SampleId& wrap : rows.wraps)
      if (link_.leads()) setup_.log.info("data.train set {} begins epoch {}", wrap.source, wrap.epoch);
    StepResult result;
    result.counted_tokens = counted_tokens(rows);
    result.lr = learning_rate(spec_.lr, spec_.optimizer.lr, state_.step);
    run_program(rows, result);
    if (spec_.model.moe.experts > 0 && computes()) result.experts = expert_load(link_, mine_.engine);
    ++state_.step;
    state_.data_position += spec_.batch.sequences;
    state_.tokens_seen += tokens_per_step(spec_);
    count_skipped(result);
    result.step = state_.step;
    result.tokens_seen = state_.tokens_seen;
    result.skipped_steps = state_.skipped_steps;
    result.checkpoint = checkpointing_->take_costs();
    result.loader_stall_s = loader_.stall_s() - stalled;
    result.exposed_comm_s = mine_.engine.exposed_comm_s() - exposed;
    if (sample_log_) sample_log_->write(state_.step, *setup_.data, rows.first_sample, spec_.batch.sequences);
    result.step_s = seconds_now() - start;
    return result;
  }

  // Of the whole step: loss and gradient are means over them. Each row once: of the ranks that work on it
  // together one counts it.
  int64_t counted_tokens(const StepBatch& rows) {
    int64_t counted = 0;
    if (setup_.mesh.counts_rows(link_.rank()))
      for (const int64_t c : rows.counted) counted += c;
    return static_cast<int64_t>(link_.sum(static_cast<double>(counted), "the start of a step"));
  }

  void run_program(const StepBatch& rows, StepResult& result) {
    const StepScalars scalars{result.lr, state_.step - state_.skipped_steps + 1, result.counted_tokens};
    const bool traced = std::ranges::count(spec_.run.trace_steps, state_.step + 1) > 0;
    mine_.engine.time_actions(traced ? Timing::on : Timing::off);
    const double start = seconds_now();
    const StepOutcome outcome = run_optimizer_step(mine_.engine, spec_.optimizer, scalars,
                                                   micro_batches(mine_.compiled.program, rows, spec_).arrays);
    mine_.engine.time_actions(Timing::off);
    if (traced) trace({link_.rank(), start, seconds_now()});
    result.loss = outcome.loss;
    result.grad_norm = outcome.grad_norm;
    result.skipped = outcome.skipped && computes();
  }

  void trace(const TracedStep& step) {
    const Program& program = mine_.compiled.program;
    setup_.traces.add(state_.step + 1, trace_of(program, *find_timeline(program, "train"), step,
                                                mine_.engine.action_times(), mine_.engine.axis_calls()));
  }

  // A step whose gradient is NaN or Inf changed nothing.
  void count_skipped(const StepResult& result) {
    if (!result.skipped) {
      skipped_in_a_row_ = 0;
      return;
    }
    ++state_.skipped_steps;
    ++skipped_in_a_row_;
    if (!link_.leads()) return;
    recorder_->finish();
    setup_.log.warn("step {} is skipped: loss {}, grad norm {}", state_.step, result.loss, result.grad_norm);
  }

  // Too many in a row end the run; no checkpoint of them is saved.
  void check_skipped() {
    if (skipped_in_a_row_ < spec_.run.max_skipped_steps) return;
    checkpointing_->report();
    fail_user(
        "{} steps in a row had a NaN or Inf gradient, the last is step {} (run.max_skipped_steps = {}): "
        "lower optimizer.lr = {}, lengthen lr.warmup_steps, or look at the data; the weights are as they "
        "were before",
        skipped_in_a_row_, state_.step, spec_.run.max_skipped_steps, spec_.optimizer.lr);
  }

  void evaluate(StepResult& result) {
    const double start = seconds_now();
    result.eval = setup_.eval_set->run(mine_.engine);
    result.eval_s = seconds_now() - start;
    if (!link_.leads()) return;
    recorder_->finish();
    const auto& bits = result.eval->bits_per_byte;
    setup_.log.info("step {}: validation loss {:.4f}{}, {:.2f} s", state_.step, result.eval->loss,
                    bits ? fmt::format(" ({:.4f} bits per byte)", *bits) : "", result.eval_s);
  }

  // The null device computes nothing: its numbers mean nothing and it has no weights to save.
  bool computes() const { return spec_.run.device != DeviceKind::null; }

  CheckpointMeta checkpoint_meta() {
    state_.counts[kSkippedInARow] = skipped_in_a_row_;
    state_.counts[kEpochWindows] = setup_.data->samples_per_epoch();
    state_.config_toml = to_toml(spec_);
    return state_;
  }

  // A done run waits as long as it may.
  double mirror_patience_s(RunEnd why) const {
    if (why != RunEnd::done) return kMirrorWhenStopped_s;
    if (cadence_.max_minutes == 0) return kMirrorWhenDone_s;
    return std::clamp(60 * cadence_.max_minutes - age_s(), 0.0, kMirrorWhenDone_s);
  }

  int stopped(RunEnd why) {
    const std::string notice =
        link_.first_text(setup_.notice ? setup_.notice->noticed().value_or("") : "", "the end of the run");
    if (link_.leads()) {
      recorder_->finish();
      setup_.log.info("stopped by {} after step {}; the next start goes on from there (--resume auto)",
                      what_stopped(why, notice), state_.step);
    }
    return exit_code_of(why);
  }

  std::string what_stopped(RunEnd why, const std::string& notice) const {
    const int signal = signals_.stop_requested();
    if (why == RunEnd::notice) return fmt::format("{} ({})", text_of(why), notice);
    if (why != RunEnd::signal) return std::string(text_of(why));
    if (signal == 0) return "a signal to another process";
    return signals_.requests() > 1 ? fmt::format("signal {} (sent {} times)", signal, signals_.requests())
                                   : fmt::format("signal {}", signal);
  }

  int finish() {
    if (!link_.leads()) return kDone;
    recorder_->finish();
    const double rate = recorder_->mean_tokens_per_s();
    const auto mfu = recorder_->mfu(rate);
    setup_.log.info(
        "done: {} steps, {} tokens, {} skipped; {:.0f} tokens/s, MFU {} (without the first step, evaluation "
        "and saving); loader stall {:.3f} s",
        state_.step, state_.tokens_seen, state_.skipped_steps, rate,
        mfu ? fmt::format("{:.1f} %", *mfu * 100) : "n/a", loader_.stall_s());
    setup_.log.info("the run's files are in {}", setup_.folder.path);
    return kDone;
  }

  RunSetup& setup_;
  RankSetup& mine_;
  RankLink& link_;
  const RunSpec& spec_;
  const StopSignals& signals_;
  double process_began_s_ = seconds_now() - process_age_s();
  Cadence cadence_;
  std::optional<RunClock> clock_;  // the leader's
  Loader loader_;
  std::optional<Recorder> recorder_;  // the leader's
  std::optional<SampleLog> sample_log_;
  CheckpointMeta state_;
  int64_t skipped_in_a_row_;  // up to this step, over resumes
  std::optional<Checkpointing> checkpointing_;
};

}  // namespace

int train_rank(RunSetup& setup, RankLink& link, const StopSignals& signals) {
  RankSetup mine(setup, link);
  Trainer trainer(setup, mine, link, signals);
  return link.guarded([&] { return trainer.run(); });
}

int train(const RunSpec& spec, const ResumeChoice& resume, const S3Options& s3) {
  const StopSignals signals;
  RunSetup setup(spec, resume, s3, {0, static_cast<int>(all_ranks(spec))});
  if (setup.is_done()) {
    finish_mirror(setup, kMirrorWhenDone_s, signals);
    return kDone;
  }
  const TeamOptions team{.mesh = setup.mesh, .timeout_s = spec.run.timeout_s, .threads = setup.threads};
  return run_ranks(team, [&](RankLink& link) { return train_rank(setup, link, signals); });
}

}  // namespace trireme
