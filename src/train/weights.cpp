// Names and loops around Engine's state.
#include "train/weights.h"

#include <algorithm>
#include <thread>

#include "base/error.h"
#include "base/random.h"

namespace trireme {
namespace {

constexpr int64_t kDrawChunk = 1 << 16;

void draw(const ParamSpec& param, uint64_t seed, int threads, std::span<float> values) {
  const RandomStream stream(seed, "init/" + param.name);
  std::fill(values.begin(), values.end(), param.init_mean);
  if (param.init_std == 0) return;
  const auto n = static_cast<int64_t>(values.size());
  const auto fill = [&](int64_t worker) {
    for (int64_t begin = worker * kDrawChunk; begin < n; begin += threads * kDrawChunk)
      for (int64_t i = begin; i < std::min(n, begin + kDrawChunk); ++i)
        values[static_cast<size_t>(i)] += param.init_std * stream.normal(static_cast<uint64_t>(i));
  };
  std::vector<std::thread> helpers;
  for (int64_t t = 1; t < threads && t * kDrawChunk < n; ++t) helpers.emplace_back(fill, t);
  fill(0);
  for (std::thread& helper : helpers) helper.join();
}

struct NamedState {
  const char* prefix;
  ParamState state;
};
constexpr std::array kStates = {NamedState{"params/", ParamState::master},
                                NamedState{"moment1/", ParamState::moment1},
                                NamedState{"moment2/", ParamState::moment2}};

bool keeps_moments(const Program& program) {
  return !program.groups.empty() && program.groups[0].moment1.valid();
}

// Runs `fill` on the parameter's state: in the arena where the host can address it, else by way of a copy.
template <class Fill>
void fill_state(Engine& engine, ParamId id, ParamState state, const Fill& fill) {
  const std::span<std::byte> bytes = engine.state_bytes(id, state);
  if (!bytes.empty()) {
    fill(std::span(reinterpret_cast<float*>(bytes.data()), bytes.size() / sizeof(float)));
    return;
  }
  const Shape& shape = engine.program().params[static_cast<size_t>(id.index)].shape;
  std::vector<float> values(static_cast<size_t>(count(shape)));
  fill(std::span<float>(values));
  engine.write_state(id, state, values);
}

}  // namespace

void initialize_weights(Engine& engine, const Model& model, uint64_t seed, int threads) {
  for (size_t i = 0; i < model.params.size(); ++i) {
    const ParamId id(static_cast<int64_t>(i));
    fill_state(engine, id, ParamState::master,
               [&](std::span<float> values) { draw(model.params[i], seed, threads, values); });
    if (!keeps_moments(engine.program())) continue;
    for (const ParamState moment : {ParamState::moment1, ParamState::moment2})
      fill_state(engine, id, moment,
                 [](std::span<float> values) { std::fill(values.begin(), values.end(), 0.0f); });
  }
}

std::vector<TensorPiece> training_state(const Engine& engine) {
  std::vector<TensorPiece> pieces;
  for (const NamedState& named : kStates)
    for (size_t i = 0; i < engine.program().params.size(); ++i) {
      const Param& param = engine.program().params[i];
      pieces.push_back({named.prefix + param.name, DType::f32, param.shape,
                        engine.state_bytes(ParamId(static_cast<int64_t>(i)), named.state)});
    }
  return pieces;
}

void restore_state(Engine& engine, const CheckpointReader& checkpoint) {
  std::vector<std::string> names;
  for (const NamedState& named : kStates)
    for (const Param& param : engine.program().params) names.push_back(named.prefix + param.name);
  checkpoint.require_exactly(names);
  for (const NamedState& named : kStates) {
    if (named.state != ParamState::master && !keeps_moments(engine.program())) continue;
    for (size_t i = 0; i < engine.program().params.size(); ++i) {
      const Param& param = engine.program().params[i];
      fill_state(engine, ParamId(static_cast<int64_t>(i)), named.state, [&](std::span<float> values) {
        checkpoint.read(named.prefix + param.name, DType::f32, param.shape, std::as_writable_bytes(values));
      });
    }
  }
}

}  // namespace trireme
