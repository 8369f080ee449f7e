// A training step on the null device: every action is started, nothing is computed.
#pragma once
#include "device/null/null_device.h"
#include "engine/engine.h"

namespace trireme {

inline void walk(const Program& program) {
  const auto device = make_null_device();
  Engine engine(program, *device);
  const Timeline& train = *find_timeline(program, "train");
  const BatchArrays nothing(program.batch.size());
  engine.run(train, std::vector<BatchArrays>(static_cast<size_t>(train.micro_batches), nothing));
}

}  // namespace trireme
