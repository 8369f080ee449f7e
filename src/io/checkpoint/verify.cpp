// Verifying checkpoints whole, and finding the newest that is.

#include "base/error.h"
#include "io/checkpoint/checkpoint.h"
#include "io/checkpoint/index.h"
#include "io/checkpoint/names.h"

namespace trireme {

VerifyReport verify_checkpoint(const ByteStore& store, const std::string& name, const ReadOptions& options) {
  VerifyReport report{.name = name, .step = step_of_name(name).value_or(0)};
  try {
    const CheckpointReader reader(store, name, options);
    report.tensors = static_cast<int64_t>(reader.tensors().size());
    report.bytes = reader.bytes();
    report.faults = reader.faults();
    const auto named_step = step_of_name(name);
    if (named_step && *named_step != reader.meta().step) {
      report.faults.push_back(
          fmt::format("{} holds step {}: the folder was renamed", reader.location(), reader.meta().step));
    }
  } catch (const EnvError& error) {
    report.faults.push_back(error.what());
  }
  return report;
}

std::optional<CheckpointReader> newest_good(const ByteStore& store, const ReadOptions& options,
                                            const std::function<void(const std::string&)>& on_bad) {
  std::vector<CheckpointName> found = list_checkpoints(store);
  while (!found.empty()) {
    const std::string name = found.back().name;
    found.pop_back();
    const VerifyReport report = verify_checkpoint(store, name, options);
    if (report.faults.empty()) return CheckpointReader(store, name, options);
    std::string why = report.faults.front();
    if (report.faults.size() > 1) why += fmt::format(" (and {} more)", report.faults.size() - 1);
    on_bad(why);
  }
  return std::nullopt;
}

}  // namespace trireme
