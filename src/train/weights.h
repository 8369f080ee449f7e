// The weights' life outside a step: drawn at the start, written to checkpoints, read from them.
#pragma once
#include "engine/engine.h"
#include "exchange/initial_weights.h"
#include "io/checkpoint/checkpoint.h"
#include "model/model.h"

namespace trireme {

// Draws every parameter as (seed, name, index) says, so that order, layout and threads do not matter; moments
// become 0 where the program keeps them.
void initialize_weights(Engine& engine, const Model& model, uint64_t seed, int threads);
// Likewise from weights that are there already.
void initialize_weights(Engine& engine, const InitialWeights& weights);

// UserError when the checkpoint has other tensors than the program's, or in another form.
void check_restorable(const Program& program, const CheckpointReader& checkpoint);

// Fills this rank's part of the program's state from a checkpoint of any layout: weights, and moments where
// the program keeps them. Reads little more than that part, and verifies it. UserError as above; EnvError
// when it is damaged, and the state is then of no use.
void restore_state(Engine& engine, const CheckpointReader& checkpoint);

}  // namespace trireme
