// What each rank of a run makes for itself, on its own thread: its program, device and engine, with weights
// in.
#pragma once
#include <memory>

#include "compile/compile.h"
#include "engine/engine.h"
#include "train/ranks.h"
#include "train/run_setup.h"

namespace trireme {

struct RankSetup {
  RankSetup(RunSetup& run, RankLink& link);

  int threads;
  Compiled compiled;
  std::unique_ptr<Device> device;
  Engine engine;
};

}  // namespace trireme
