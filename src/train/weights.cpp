// Names and loops around Engine's state.
#include "train/weights.h"

#include <algorithm>
#include <thread>
#include <utility>

#include "base/error.h"
#include "base/random.h"

namespace trireme {
namespace {

constexpr int64_t kDrawChunk = 1 << 16;

// Elements [first, first + values.size()) of the parameter.
void draw(const ParamSpec& param, uint64_t seed, int threads, int64_t first, std::span<float> values) {
  const RandomStream stream(seed, "init/" + param.name);
  std::fill(values.begin(), values.end(), param.init_mean);
  if (param.init_std == 0) return;
  const auto n = static_cast<int64_t>(values.size());
  const auto fill = [&](int64_t worker) {
    for (int64_t begin = worker * kDrawChunk; begin < n; begin += threads * kDrawChunk)
      for (int64_t i = begin; i < std::min(n, begin + kDrawChunk); ++i)
        values[static_cast<size_t>(i)] += param.init_std * stream.normal(static_cast<uint64_t>(first + i));
  };
  std::vector<std::thread> helpers;
  for (int64_t t = 1; t < threads && t * kDrawChunk < n; ++t) helpers.emplace_back(fill, t);
  fill(0);
  for (std::thread& helper : helpers) helper.join();
}

int64_t elements_of(const Engine& engine, ParamId id) {
  return count(engine.program().params[static_cast<size_t>(id.index)].shape);
}

// Runs fill(first, values) on this rank's elements of a parameter's state: in the arena where the host can
// address it, else by way of a copy.
template <class Fill>
void fill_state(Engine& engine, ParamId id, ParamState state, const Fill& fill) {
  if (engine.host_addressable()) {
    for (const StatePiece& piece : engine.state_pieces(id, state)) fill(piece.first, piece.values);
    return;
  }
  std::vector<float> values(static_cast<size_t>(elements_of(engine, id)));
  fill(int64_t{0}, std::span<float>(values));
  engine.write_state(id, state, values);
}

// Programs that do not train take the weights of a checkpoint of any optimizer.
bool is_expected(const Program& program, const CheckpointReader& checkpoint, const NamedState& named) {
  if (keeps(program, ParamState::moment1) || named.state == ParamState::master)
    return keeps(program, named.state);
  const std::vector<StoredTensor> stored = checkpoint.tensors();
  return std::ranges::any_of(
      stored, [&](const StoredTensor& tensor) { return tensor.name.starts_with(named.prefix); });
}

}  // namespace

bool keeps(const Program& program, ParamState state) {
  return std::ranges::any_of(program.groups, [&](const ParamGroup& group) {
    return (state == ParamState::master    ? group.master
            : state == ParamState::moment1 ? group.moment1
                                           : group.moment2)
        .valid();
  });
}

void initialize_weights(Engine& engine, const Model& model, uint64_t seed, int threads) {
  for (size_t i = 0; i < model.params.size(); ++i) {
    const ParamId id(static_cast<int64_t>(i));
    fill_state(engine, id, ParamState::master, [&](int64_t first, std::span<float> values) {
      draw(model.params[i], seed, threads, first, values);
    });
    for (const ParamState moment : {ParamState::moment1, ParamState::moment2})
      if (keeps(engine.program(), moment))
        fill_state(engine, id, moment,
                   [](int64_t, std::span<float> values) { std::fill(values.begin(), values.end(), 0.0f); });
  }
}

void restore_state(Engine& engine, const CheckpointReader& checkpoint) {
  std::vector<std::string> names;
  for (const NamedState& named : kTrainingStates)
    if (is_expected(engine.program(), checkpoint, named))
      for (const Param& param : engine.program().params) names.push_back(named.prefix + param.name);
  checkpoint.require_exactly(names);
  for (const NamedState& named : kTrainingStates) {
    if (!keeps(engine.program(), named.state)) continue;
    for (size_t i = 0; i < engine.program().params.size(); ++i) {
      const ParamId id(static_cast<int64_t>(i));
      const Param& param = engine.program().params[i];
      std::vector<float> whole;  // read once, for all pieces
      const auto read = [&](std::span<float> to) {
        checkpoint.read(named.prefix + param.name, DType::f32, param.shape, std::as_writable_bytes(to));
      };
      fill_state(engine, id, named.state, [&](int64_t first, std::span<float> values) {
        if (static_cast<int64_t>(values.size()) == count(param.shape)) return read(values);
        if (whole.empty()) {
          whole.resize(static_cast<size_t>(count(param.shape)));
          read(whole);
        }
        std::copy_n(whole.begin() + first, values.size(), values.begin());
      });
    }
  }
}

}  // namespace trireme
