// Runs of a small llama, whose programs are compiled at once.
#pragma once
#include <fmt/format.h>

#include <string>

#include "sim/machine.h"
#include "sim/simulate.h"

namespace trireme {

struct SmallRun {
  int64_t layers = 2, sequences = 4, steps = 1;
  std::string checkpoint = {};  // lines of the section
};

// `parallel`: lines of the section.
inline RunSpec small_run(const std::string& parallel, const SmallRun& run = {}) {
  return parse_config(
      fmt::format(
          "[model]\nfamily = \"llama\"\nlayers = {}\nwidth = 256\nheads = 8\nvocab = 512\ncontext = 128\n"
          "[data]\ntrain = [\"none\"]\n[batch]\nmicro = 1\nsequences = {}\n[parallel]\n{}\n"
          "[optimizer]\nlr = 1e-3\n[checkpoint]\n{}\n[run]\nname = \"a\"\nsteps = {}\n",
          run.layers, run.sequences, parallel, run.checkpoint, run.steps),
      "test");
}

// On a node of `ranks` devices of the hardware, which must outlive it.
inline SimulationInput input_of(const RunSpec& spec, const Hardware& hardware, int64_t ranks) {
  SimulationInput input;
  input.cluster = cluster_on(hardware, ranks, 1);
  input.programs = pipeline_programs(spec, compile_options(spec, input.cluster));
  return input;
}

}  // namespace trireme
