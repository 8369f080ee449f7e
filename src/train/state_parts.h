// A rank's state as a checkpoint has it: named tensors, and which part of each the rank writes or reads.
#pragma once
#include <array>
#include <span>
#include <vector>

#include "engine/engine.h"
#include "io/checkpoint/tensor_part.h"

namespace trireme {

// The kinds of state that a training run may have, as its optimizer does, and how their tensors' names begin.
struct NamedState {
  const char* prefix;
  ParamState state;
};
inline constexpr std::array kTrainingStates = {NamedState{"params/", ParamState::master},
                                               NamedState{"moment1/", ParamState::moment1},
                                               NamedState{"moment2/", ParamState::moment2}};

// Whether this rank's program has state of this kind, of any parameter.
bool keeps(const Program& program, ParamState state);

// Of all ranks together.
int64_t state_bytes(const Program& program);

// What this rank writes to a checkpoint: views of the arena, which stay as long as the engine does. Empty
// where the host cannot address that.
std::vector<TensorPart> written_parts(const Engine& engine);

// The same with their bytes copied into `staging` one behind the other, by so many threads. It is large
// enough.
std::vector<TensorPart> staged(std::vector<TensorPart> parts, std::span<std::byte> staging, int threads);

}  // namespace trireme
