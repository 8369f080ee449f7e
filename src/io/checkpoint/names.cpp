// Names of checkpoints, and the listing of a store by them. A name counts only in the exact form that
// checkpoint_name writes; everything else in the store belongs to somebody else.
#include "io/checkpoint/names.h"

#include <algorithm>
#include <charconv>
#include <optional>
#include <string_view>

#include "base/error.h"
#include "io/checkpoint/checkpoint.h"
#include "io/checkpoint/index.h"

namespace trireme {

std::string checkpoint_name(int64_t step) { return fmt::format("step-{:08}", step); }

std::optional<int64_t> step_of_name(std::string_view name) {
  constexpr std::string_view kPrefix = "step-";
  if (!name.starts_with(kPrefix)) return std::nullopt;
  int64_t step = 0;
  const char* end = name.data() + name.size();
  const auto parsed = std::from_chars(name.data() + kPrefix.size(), end, step);
  if (parsed.ec != std::errc() || parsed.ptr != end || step < 0 || checkpoint_name(step) != name)
    return std::nullopt;
  return step;
}

bool is_leftover(std::string_view name) {
  constexpr std::string_view kPrefix = ".tmp-";
  constexpr std::string_view kReplaced = "-replaced";
  if (!name.starts_with(kPrefix)) return false;
  name.remove_prefix(kPrefix.size());
  if (name.ends_with(kReplaced)) name.remove_suffix(kReplaced.size());
  return step_of_name(name).has_value();
}

std::vector<CheckpointName> list_checkpoints(const ByteStore& store) {
  std::vector<CheckpointName> found;
  for (const std::string& name : store.list("")) {
    const auto step = step_of_name(name);
    if (step) found.push_back({*step, name, store.exists(name + "/" + kCommittedFile)});
  }
  std::sort(found.begin(), found.end(), [](const auto& a, const auto& b) { return a.step < b.step; });
  return found;
}

}  // namespace trireme
