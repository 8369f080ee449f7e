// Names and loops around Engine's state.
#include "train/weights.h"

#include <algorithm>
#include <thread>
#include <utility>

#include "base/error.h"
#include "base/random.h"
#include "ir/state_boxes.h"
#include "train/state_parts.h"

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
  std::vector<std::jthread> helpers;
  for (int64_t t = 1; t < threads && t * kDrawChunk < n; ++t) helpers.emplace_back(fill, t);
  fill(0);
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

void zero_moments(Engine& engine) {
  for (const ParamState moment : {ParamState::moment1, ParamState::moment2})
    for (size_t i = 0; keeps(engine.program(), moment) && i < engine.program().params.size(); ++i)
      fill_state(engine, ParamId(static_cast<int64_t>(i)), moment,
                 [](int64_t, std::span<float> values) { std::fill(values.begin(), values.end(), 0.0f); });
}

// Programs that do not train take the weights of a checkpoint of any optimizer.
bool is_expected(const Program& program, const CheckpointReader& checkpoint, const NamedState& named) {
  if (keeps(program, ParamState::moment1) || named.state == ParamState::master)
    return keeps(program, named.state);
  const std::vector<StoredTensor> stored = checkpoint.tensors();
  return std::ranges::any_of(
      stored, [&](const StoredTensor& tensor) { return tensor.name.starts_with(named.prefix); });
}

void restore(Engine& engine, const CheckpointReader& checkpoint, const NamedState& named, ParamId id) {
  const Param& param = engine.program().params[static_cast<size_t>(id.index)];
  const std::string tensor = named.prefix + param.name;
  if (!engine.host_addressable()) {
    std::vector<float> whole(static_cast<size_t>(count(param.shape)));
    checkpoint.read(tensor, DType::f32, param.shape, std::as_writable_bytes(std::span(whole)));
    engine.write_state(id, named.state, whole);
    return;
  }
  const std::span<float> shard = engine.shard(param.group, named.state);
  std::vector<WantedPart> wanted;
  for (const StateBox& box : held_boxes(engine.program(), id))
    wanted.push_back({{box.offset, box.shape, box.first, box.last},
                      std::as_writable_bytes(shard.subspan(static_cast<size_t>(box.at),
                                                           static_cast<size_t>(box.last - box.first)))});
  checkpoint.read(tensor, DType::f32, param.shape, wanted);
}

}  // namespace

void initialize_weights(Engine& engine, const Model& model, uint64_t seed, int threads) {
  for (size_t i = 0; i < model.params.size(); ++i)
    fill_state(
        engine, ParamId(static_cast<int64_t>(i)), ParamState::master,
        [&](int64_t first, std::span<float> values) { draw(model.params[i], seed, threads, first, values); });
  zero_moments(engine);
}

void initialize_weights(Engine& engine, const InitialWeights& weights) {
  const Program& program = engine.program();
  for (size_t i = 0; i < program.params.size(); ++i) {
    const Param& param = program.params[i];
    if (!engine.host_addressable()) continue;  // such a device computes nothing
    const std::span<float> shard = engine.shard(param.group, ParamState::master);
    for (const StateBox& box : held_boxes(program, ParamId(static_cast<int64_t>(i))))
      weights.read(param.name, {box.offset, box.shape, box.first, box.last},
                   shard.subspan(static_cast<size_t>(box.at), static_cast<size_t>(box.last - box.first)));
  }
  zero_moments(engine);
}

void check_restorable(const Program& program, const CheckpointReader& checkpoint) {
  std::vector<std::string> names;
  for (const NamedState& named : kTrainingStates)
    if (is_expected(program, checkpoint, named))
      for (const Param& param : program.params) names.push_back(named.prefix + param.name);
  checkpoint.require_exactly(names);
  for (const NamedState& named : kTrainingStates)
    for (const Param& param : program.params)
      if (keeps(program, named.state)) checkpoint.require(named.prefix + param.name, DType::f32, param.shape);
}

void restore_state(Engine& engine, const CheckpointReader& checkpoint) {
  const Program& program = engine.program();
  check_restorable(program, checkpoint);
  for (const NamedState& named : kTrainingStates)
    for (size_t i = 0; keeps(program, named.state) && i < program.params.size(); ++i)
      restore(engine, checkpoint, named, ParamId(static_cast<int64_t>(i)));
}

}  // namespace trireme
