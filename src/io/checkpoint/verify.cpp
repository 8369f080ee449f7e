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
  } catch (const EnvError& error) {
    report.faults.push_back(error.what());
  }
  return report;
}

namespace {

// The first thing that is wrong; "" when nothing is.
std::string fault_of(const ByteStore& store, const std::string& name, const ReadOptions& options,
                     Trust trust) {
  if (trust == Trust::headers) {
    try {
      const CheckpointReader reader(store, name, options);
      return "";
    } catch (const EnvError& error) {
      return error.what();
    }
  }
  const VerifyReport report = verify_checkpoint(store, name, options);
  if (report.faults.empty()) return "";
  if (report.faults.size() == 1) return report.faults.front();
  return fmt::format("{} (and {} more)", report.faults.front(), report.faults.size() - 1);
}

}  // namespace

std::optional<CheckpointReader> newest_good(const ByteStore& store, const ReadOptions& options,
                                            const std::function<void(const std::string&)>& on_bad,
                                            const Search& search) {
  std::vector<CheckpointName> found = list_checkpoints(store);
  for (; !found.empty(); found.pop_back()) {
    if (found.back().step >= search.before_step) continue;
    const std::string why = fault_of(store, found.back().name, options, search.trust);
    if (why.empty()) return CheckpointReader(store, found.back().name, options);
    on_bad(why);
  }
  return std::nullopt;
}

}  // namespace trireme
