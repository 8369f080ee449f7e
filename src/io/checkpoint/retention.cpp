// The newest are found by number, so that step 100000000 follows step 99999999 in spite of its longer name.
#include "io/checkpoint/retention.h"

#include <algorithm>

#include "base/error.h"

namespace trireme {

std::vector<std::string> superseded(std::span<const CheckpointName> all, int64_t saved_step,
                                    const Retention& keep, std::span<const std::string> pinned) {
  CHECK(keep.newest >= 0 && keep.every_steps >= 0, "newest {}, every_steps {}", keep.newest,
        keep.every_steps);
  std::vector<int64_t> steps;
  for (const CheckpointName& c : all)
    if (c.committed && c.step <= saved_step && c.name == checkpoint_name(c.step)) steps.push_back(c.step);
  std::sort(steps.begin(), steps.end());
  steps.erase(std::unique(steps.begin(), steps.end()), steps.end());
  if (keep.newest == 0 || steps.empty() || steps.back() != saved_step) return {};

  const auto count = static_cast<int64_t>(steps.size());
  std::vector<std::string> names;
  for (const int64_t step :
       std::span(steps).first(static_cast<size_t>(std::max<int64_t>(count - keep.newest, 0)))) {
    if (keep.every_steps > 0 && step % keep.every_steps == 0) continue;
    std::string name = checkpoint_name(step);
    if (std::find(pinned.begin(), pinned.end(), name) == pinned.end()) names.push_back(std::move(name));
  }
  return names;
}

}  // namespace trireme
