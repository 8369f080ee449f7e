// A training step of a config, run for real on this machine's cores with random data and weights: what
// bench_ranks compares and bench_plan predicts.
#pragma once
#include <algorithm>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/random.h"
#include "compile/compile.h"
#include "device/cpu/cpu_device.h"
#include "train/batches.h"
#include "train/machine.h"
#include "train/optimizer_step.h"
#include "train/ranks.h"
#include "train/weights.h"

namespace trireme::bench {

inline double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

// A CPU device that remembers what was allocated.
class CountingDevice final : public Device {
 public:
  explicit CountingDevice(int threads) : device_(make_cpu_device({.threads = threads})) {}
  int64_t allocated_bytes() const { return allocated_bytes_; }

  std::string_view name() const override { return device_->name(); }
  std::byte* allocate_arena(int64_t bytes) override {
    allocated_bytes_ += bytes;
    return device_->allocate_arena(bytes);
  }
  KernelId prepare(const OpSig& sig) override { return device_->prepare(sig); }
  void run(KernelId kernel, const Operands& operands) override { device_->run(kernel, operands); }
  void write(std::byte* to, const void* from, int64_t bytes) override { device_->write(to, from, bytes); }
  void read(void* to, const std::byte* from, int64_t bytes) override { device_->read(to, from, bytes); }
  bool host_addressable() const override { return device_->host_addressable(); }
  void synchronize() override { device_->synchronize(); }

 private:
  std::unique_ptr<Device> device_;
  int64_t allocated_bytes_ = 0;
};

struct MeasureOptions {
  int64_t steps = 1;       // that count, behind one that touches everything
  bool by_action = false;  // a further step in which actions and ops are timed
  // A config of one rank, a step of which each rank runs by itself before and after every step, all at once:
  // a machine whose speed drifts is measured by it. None where null.
  const RunSpec* yardstick = nullptr;
};

struct MeasuredRank {
  int64_t allocated_bytes = 0;
  std::vector<ActionTime> actions;  // of the timed step, by action of the timeline
  Profile ops;                      // likewise
};

struct MeasuredStep {
  std::vector<double> steps_s;      // of each step that counts
  std::vector<double> exposed_s;    // likewise: what rank 0 waited for communication
  std::vector<double> yardstick_s;  // one before each of them and one behind the last
  std::vector<MeasuredRank> ranks;
};

inline std::vector<int32_t> draw_ids(int64_t count, int64_t vocab, const char* what) {
  const RandomStream stream(1, what);
  std::vector<int32_t> ids(static_cast<size_t>(count));
  for (size_t i = 0; i < ids.size(); ++i)
    ids[i] = static_cast<int32_t>(stream.bits(i) % static_cast<uint64_t>(vocab));
  return ids;
}

// A rank's engine with random data and weights, and the optimizer steps that it runs.
class SteppingRank {
 public:
  SteppingRank(const RunSpec& spec, int rank, int threads, RankLink* link)
      : spec_(spec), compiled_(compile(spec, {.rank = rank, .threads = threads})), device_(threads) {
    if (link != nullptr)
      engine_ = std::make_unique<Engine>(compiled_.program, device_, link->connect(compiled_.program));
    else
      engine_ = std::make_unique<Engine>(compiled_.program, device_);
    initialize_weights(*engine_, compiled_.model, 1, threads);
    rows_.rows = micro_batches_per_step(spec) * spec.batch.micro;
    rows_.tokens = draw_ids(rows_.rows * spec.data.seq_len, spec.model.vocab, "ids");
    rows_.targets = draw_ids(rows_.rows * spec.data.seq_len, spec.model.vocab, "targets");
    batches_ = micro_batches(compiled_.program, rows_, spec);
  }

  Engine& engine() { return *engine_; }
  int64_t allocated_bytes() const { return device_.allocated_bytes(); }
  void step() {
    run_optimizer_step(*engine_, spec_.optimizer, {1e-4, ++update_, tokens_per_step(spec_)}, batches_.arrays);
  }

 private:
  const RunSpec& spec_;
  Compiled compiled_;
  CountingDevice device_;
  std::unique_ptr<Engine> engine_;
  StepBatch rows_;
  MicroBatches batches_;
  int64_t update_ = 0;
};

inline MeasuredStep measure_step(const RunSpec& spec, const MeasureOptions& options) {
  const Mesh mesh = mesh_of(spec);
  MeasuredStep measured;
  measured.ranks.resize(static_cast<size_t>(mesh.ranks()));
  run_ranks({.mesh = mesh, .threads = thread_count(spec)}, [&](RankLink& link) {
    SteppingRank run(spec, link.rank(), link.threads(), &link);
    std::optional<SteppingRank> yardstick;
    if (options.yardstick != nullptr) yardstick.emplace(*options.yardstick, 0, link.threads(), nullptr);
    const auto timed = [&](SteppingRank& which) {
      link.meet("the start of a step");
      const double start = seconds_now();
      which.step();
      link.meet("the end of a step");
      return seconds_now() - start;
    };
    const auto time_yardstick = [&] {
      if (!yardstick) return;
      const double seconds = timed(*yardstick);
      if (link.leads()) measured.yardstick_s.push_back(seconds);
    };
    timed(run);
    if (yardstick) timed(*yardstick);
    time_yardstick();
    for (int64_t i = 0; i < options.steps; ++i) {
      const double before = run.engine().exposed_comm_s(), seconds = timed(run);
      time_yardstick();
      if (!link.leads()) continue;
      measured.steps_s.push_back(seconds);
      measured.exposed_s.push_back(run.engine().exposed_comm_s() - before);
    }
    MeasuredRank& mine = measured.ranks[static_cast<size_t>(link.rank())];
    mine.allocated_bytes = run.allocated_bytes();
    if (!options.by_action) return 0;
    run.engine().time_actions(Timing::on);
    run.engine().profile_into(&mine.ops);
    timed(run);
    mine.actions.assign(run.engine().action_times().begin(), run.engine().action_times().end());
    return 0;
  });
  return measured;
}

}  // namespace trireme::bench
