// A walk over the timeline: a block's micro-batch is held from its forward to its last backward.
#include "sim/activations.h"

#include <algorithm>
#include <map>
#include <string_view>
#include <utility>
#include <vector>

namespace trireme {
namespace {

// Of a block there is a unit for each direction that its code is run in, all of its name.
using BlockRun = std::pair<std::string_view, int32_t>;  // block, micro-batch

struct Held {
  size_t first = 0, last = 0;  // forward, last backward
};

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
  std::map<BlockRun, Held> held;
  for (size_t i = 0; i < actions; ++i) {
    const Action& action = timeline.actions[i];
    if (action.kind != ActionKind::forward && !is_backward(action.kind)) continue;
    const std::string_view block = program.unit(action.unit).name;
    Held& span = held.try_emplace({block, action.micro_batch}, Held{i, i}).first->second;
    span.last = i;
  }
  std::vector<int64_t> layers(actions + 1), micro_batches(actions + 1);
  std::map<int32_t, Held> under_way;  // by micro-batch
  for (const auto& [run, span] : held) {
    if (run.first.starts_with("layers.")) {
      ++layers[span.first];
      --layers[span.last + 1];
    }
    Held& whole = under_way.try_emplace(run.second, span).first->second;
    whole = {std::min(whole.first, span.first), std::max(whole.last, span.last)};
  }
  for (const auto& [micro_batch, span] : under_way) {
    ++micro_batches[span.first];
    --micro_batches[span.last + 1];
  }
  return {peak_of(micro_batches), peak_of(layers), saved_bytes(program, timeline)};
}

}  // namespace trireme
