// The reading thread and the ring of steps between it and the training loop.
#include "io/data/loader.h"

#include <atomic>
#include <condition_variable>
#include <exception>
#include <mutex>
#include <thread>

#include "base/clock.h"
#include "base/error.h"

namespace trireme {

struct Loader::State {
  const Dataset& data;
  LoaderOptions options;
  std::vector<StepBatch> ring;  // step k lives in ring[k % size]

  std::mutex mutex;
  std::condition_variable changed;
  int64_t filled = 0;              // steps that the thread has finished
  int64_t taken = 0;               // steps that next() has handed out; the last of them is still in use
  std::atomic<bool> stop = false;  // set under the mutex, so that no wait misses it
  std::exception_ptr failure;
  double stall_s = 0;
  std::thread thread;

  State(const Dataset& d, const LoaderOptions& o) : data(d), options(o) {}

  bool fill(int64_t step);
  void read_ahead();
};

StepBatch blank_batch(int64_t rows, const DataOptions& options) {
  const auto elements = static_cast<size_t>(rows * options.seq_len);
  StepBatch batch;
  batch.rows = rows;
  batch.tokens.resize(elements);
  batch.targets.resize(elements, -1);
  if (options.packing == RowPacking::document) {
    batch.positions.resize(elements);
    batch.doc_start.resize(elements);
  }
  batch.counted.resize(static_cast<size_t>(rows));
  batch.ids.resize(static_cast<size_t>(rows));
  return batch;
}

SampleRow row_of(StepBatch& batch, int64_t row, int64_t seq_len) {
  const auto slice = [&](std::vector<int32_t>& all) {
    if (all.empty()) return std::span<int32_t>();
    return std::span(all).subspan(static_cast<size_t>(row * seq_len), static_cast<size_t>(seq_len));
  };
  return {slice(batch.tokens), slice(batch.targets), slice(batch.positions), slice(batch.doc_start)};
}

// False when it was told to stop.
bool Loader::State::fill(int64_t step) {
  StepBatch& batch = ring[static_cast<size_t>(step) % ring.size()];
  const int64_t length = data.options().seq_len;
  batch.first_sample = options.first_sample + step * options.step_sequences;
  batch.wraps.clear();
  const int64_t end = batch.first_sample + options.step_sequences;
  if (data.options().order == SampleOrder::fixed && end > data.samples_per_epoch()) {
    fail_user("{}: {} sequences are asked for, but the shards hold {} windows of {} tokens",
              data.options().key, end, data.samples_per_epoch(), length);
  }
  for (int64_t p = batch.first_sample; p < end; ++p) {
    if (stop) return false;
    if (data.begins_new_epoch(p)) batch.wraps.push_back(data.where(p));
  }
  for (int64_t r = 0; r < batch.rows; ++r) {
    if (stop) return false;
    const int64_t position = batch.first_sample + options.offset + r;
    batch.counted[static_cast<size_t>(r)] = data.sample(position, row_of(batch, r, length));
    batch.ids[static_cast<size_t>(r)] = data.where(position);
  }
  return true;
}

void Loader::State::read_ahead() {
  try {
    for (int64_t step = 0;; ++step) {
      {
        std::unique_lock lock(mutex);
        changed.wait(lock, [&] { return stop || step - taken < options.ahead; });
        if (stop) return;
      }
      if (!fill(step)) return;
      const std::lock_guard lock(mutex);
      filled = step + 1;
      changed.notify_all();
    }
  } catch (...) {
    const std::lock_guard lock(mutex);
    failure = std::current_exception();
    changed.notify_all();
  }
}

Loader::Loader(const Dataset& data, const LoaderOptions& options)
    : state_(std::make_unique<State>(data, options)) {
  LoaderOptions& o = state_->options;
  if (o.count == 0) o.count = o.step_sequences - o.offset;
  CHECK(o.first_sample >= 0 && o.ahead >= 1 && o.offset >= 0 && o.count >= 1 &&
            o.offset + o.count <= o.step_sequences,
        "first_sample {}, ahead {}, rows {} + {} of {}", o.first_sample, o.ahead, o.offset, o.count,
        o.step_sequences);
  for (int64_t i = 0; i < o.ahead + 1; ++i) state_->ring.push_back(blank_batch(o.count, data.options()));
  state_->thread = std::thread([s = state_.get()] { s->read_ahead(); });
}

Loader::Loader(Loader&&) noexcept = default;

Loader::~Loader() {
  if (!state_) return;
  {
    const std::lock_guard lock(state_->mutex);
    state_->stop = true;
    state_->changed.notify_all();
  }
  state_->thread.join();
}

const StepBatch& Loader::next() {
  State& s = *state_;
  std::unique_lock lock(s.mutex);
  if (s.filled == s.taken && !s.failure) {
    const double start = seconds_now();
    s.changed.wait(lock, [&] { return s.filled > s.taken || s.failure; });
    if (s.taken > 0) s.stall_s += seconds_now() - start;
  }
  if (s.filled == s.taken) std::rethrow_exception(s.failure);
  const int64_t step = s.taken++;
  s.changed.notify_all();
  return s.ring[static_cast<size_t>(step) % s.ring.size()];
}

double Loader::stall_s() const {
  const std::lock_guard lock(state_->mutex);
  return state_->stall_s;
}

}  // namespace trireme
