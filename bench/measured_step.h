// A training step of a config, run for real on this machine's cores with random data and weights: what
// bench_ranks compares and bench_plan predicts.
#pragma once
#include <algorithm>
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
};

struct MeasuredRank {
  int64_t allocated_bytes = 0;
  std::vector<ActionTime> actions;  // of the timed step, by action of the timeline
  Profile ops;                      // likewise
};

struct MeasuredStep {
  std::vector<double> steps_s;    // of each step that counts
  std::vector<double> exposed_s;  // likewise: what rank 0 waited for communication
  std::vector<MeasuredRank> ranks;
};

inline std::vector<int32_t> draw_ids(int64_t count, int64_t vocab, const char* what) {
  const RandomStream stream(1, what);
  std::vector<int32_t> ids(static_cast<size_t>(count));
  for (size_t i = 0; i < ids.size(); ++i)
    ids[i] = static_cast<int32_t>(stream.bits(i) % static_cast<uint64_t>(vocab));
  return ids;
}

inline MeasuredStep measure_step(const RunSpec& spec, const MeasureOptions& options) {
  const Mesh mesh = mesh_of(spec);
  const int64_t tokens = tokens_per_step(spec), vocab = spec.model.vocab;
  MeasuredStep measured;
  measured.ranks.resize(static_cast<size_t>(mesh.ranks()));
  run_ranks({.mesh = mesh, .threads = thread_count(spec)}, [&](RankLink& link) {
    const int threads = link.threads();
    const Compiled compiled = compile(spec, {.rank = link.rank(), .threads = threads});
    CountingDevice device(threads);
    Engine engine(compiled.program, device, link.connect(compiled.program));
    initialize_weights(engine, compiled.model, 1, threads);
    StepBatch rows;
    rows.rows = micro_batches_per_step(spec) * spec.batch.micro;
    rows.tokens = draw_ids(rows.rows * spec.data.seq_len, vocab, "ids");
    rows.targets = draw_ids(rows.rows * spec.data.seq_len, vocab, "targets");
    const MicroBatches batches = micro_batches(compiled.program, rows, spec);
    int64_t update = 0;
    const auto step = [&] {
      link.meet("the start of a step");
      const double start = seconds_now();
      run_optimizer_step(engine, spec.optimizer, {1e-4, ++update, tokens}, batches.arrays);
      link.meet("the end of a step");
      return seconds_now() - start;
    };
    step();
    for (int64_t i = 0; i < options.steps; ++i) {
      const double before = engine.exposed_comm_s(), seconds = step();
      if (!link.leads()) continue;
      measured.steps_s.push_back(seconds);
      measured.exposed_s.push_back(engine.exposed_comm_s() - before);
    }
    MeasuredRank& mine = measured.ranks[static_cast<size_t>(link.rank())];
    mine.allocated_bytes = device.allocated_bytes();
    if (!options.by_action) return 0;
    engine.time_actions(Timing::on);
    engine.profile_into(&mine.ops);
    step();
    mine.actions.assign(engine.action_times().begin(), engine.action_times().end());
    return 0;
  });
  return measured;
}

}  // namespace trireme::bench
