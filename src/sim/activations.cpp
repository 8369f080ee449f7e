// A walk over the timeline: a block's micro-batch is held from its forward to its last backward.
#include "sim/activations.h"

#include <algorithm>
#include <map>
#include <utility>
#include <vector>

namespace trireme {
namespace {

bool goes_back(ActionKind kind) {
  return kind == ActionKind::backward || kind == ActionKind::backward_input ||
         kind == ActionKind::backward_weight;
}

bool is_layer(const Program& program, const Action& action) {
  return program.unit(action.unit).name.starts_with("layers.");
}

int64_t peak_of(const std::vector<int64_t>& changes) {
  int64_t now = 0, most = 0;
  for (const int64_t change : changes) most = std::max(most, now += change);
  return most;
}

// Bytes of saved buffers by when the memory plan has them alive. What a whole timeline shares counts for all
// of it.
int64_t saved_bytes(const Program& program, const Timeline& timeline) {
  const auto index = static_cast<int32_t>(&timeline - program.timelines.data());
  std::vector<int64_t> changes(timeline.actions.size() + 1);
  for (const Buffer& buffer : program.memory.buffers) {
    if (buffer.cls != BufferClass::saved || buffer.timeline != index || !buffer.first.valid()) continue;
    changes[static_cast<size_t>(buffer.first.index)] += buffer.bytes;
    changes[static_cast<size_t>(buffer.last.index) + 1] -= buffer.bytes;
  }
  return peak_of(changes);
}

}  // namespace

ActivationPeak activation_peak(const Program& program, const Timeline& timeline) {
  const size_t actions = timeline.actions.size();
  std::map<std::pair<UnitId, int32_t>, std::pair<size_t, size_t>> held;  // forward, last backward
  for (size_t i = 0; i < actions; ++i) {
    const Action& action = timeline.actions[i];
    if (action.kind == ActionKind::forward) held[{action.unit, action.micro_batch}] = {i, i};
    if (!goes_back(action.kind)) continue;
    if (const auto at = held.find({action.unit, action.micro_batch}); at != held.end()) at->second.second = i;
  }
  std::vector<int64_t> layers(actions + 1);
  std::map<int32_t, std::pair<size_t, size_t>> under_way;  // by micro-batch
  for (const auto& [key, span] : held) {
    if (!is_layer(program, timeline.actions[span.first])) continue;
    ++layers[span.first];
    --layers[span.second + 1];
    auto& whole = under_way.try_emplace(key.second, span).first->second;
    whole = {std::min(whole.first, span.first), std::max(whole.second, span.second)};
  }
  std::vector<int64_t> micro_batches(actions + 1);
  for (const auto& [micro_batch, span] : under_way) {
    ++micro_batches[span.first];
    --micro_batches[span.second + 1];
  }
  return {peak_of(micro_batches), peak_of(layers), saved_bytes(program, timeline)};
}

}  // namespace trireme
