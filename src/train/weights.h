// The weights' life outside a step: drawn at the start, written to checkpoints, read from them.
#pragma once
#include <array>
#include <span>
#include <vector>

#include "engine/engine.h"
#include "io/checkpoint/checkpoint.h"
#include "model/model.h"

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

// Draws every parameter as (seed, name, index) says, so that order, layout and threads do not matter; moments
// become 0 where the program keeps them.
void initialize_weights(Engine& engine, const Model& model, uint64_t seed, int threads);

// Fills this rank's part of the program's state from a checkpoint: weights, and moments where the program
// keeps them. UserError when the checkpoint has other tensors or shapes.
void restore_state(Engine& engine, const CheckpointReader& checkpoint);

}  // namespace trireme
