// A run on several processes that a launcher has started: each runs its part of the ranks.
#pragma once
#include <functional>

#include "config/run_spec.h"
#include "train/resume.h"

namespace trireme {

// As the launcher says.
struct ProcessPlace {
  int process = 0;
  int processes = 1;
};

// As train(), on the ranks of all processes together; `load` makes the config. A mistake, whoever finds it,
// ends all of them with one message and one exit code, which is returned. When one fails later, this does not
// return: every process ends within run.timeout_s.
int train_on_processes(const std::function<RunSpec()>& load, const ResumeChoice& resume, const S3Options& s3,
                       const ProcessPlace& place);

}  // namespace trireme
