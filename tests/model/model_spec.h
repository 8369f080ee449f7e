// Models by the lines of their section.
#pragma once
#include <string>

#include "config/run_spec.h"

namespace trireme::test {

inline ModelSpec spec_of(const std::string& model) {
  const std::string rest =
      "\n[data]\ntrain = [\"unused.bin\"]\nseq_len = 8\n[batch]\nsequences = 1\n[optimizer]\nlr = 1e-3\n"
      "[run]\nname = \"a\"\nsteps = 1\n";
  return parse_config("[model]\n" + model + rest, "test").model;
}

}  // namespace trireme::test
