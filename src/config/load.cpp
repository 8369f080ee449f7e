// A config from a file or a text to a RunSpec: parse, read the Hugging Face shape if one is named, resolve.
#include <filesystem>

#include "base/error.h"
#include "config/hf_config.h"
#include "config/raw_config.h"
#include "config/resolve.h"
#include "config/run_spec.h"
#include "config/text_file.h"

namespace trireme {
namespace {

// model.hf names a config.json or the folder that holds one.
RawModel read_hf_config(const std::string& path) {
  std::error_code ignored;
  const bool folder = std::filesystem::is_directory(path, ignored);
  const std::string file = folder ? (std::filesystem::path(path) / "config.json").string() : path;
  return parse_hf_config(read_text_file(file, "model.hf"), file);
}

// A pipe would block, or have nothing left for the run's next start.
ScheduleText read_schedule_file(const std::string& path) {
  try {
    std::error_code ignored;
    if (std::filesystem::exists(path, ignored) && !std::filesystem::is_regular_file(path, ignored))
      fail_env("parallel.schedule_file {} is no regular file; name one that holds a table of steps", path);
    return {.text = read_text_file(path, "parallel.schedule_file"), .error = ""};
  } catch (const std::exception& failure) {
    return {.text = "", .error = failure.what()};
  }
}

}  // namespace

RunSpec parse_config(const std::string& text, const std::string& name,
                     const std::vector<std::string>& overrides, std::optional<int64_t> ranks) {
  RawConfig raw = parse_raw(text, name, overrides);
  if (ranks) spread_over(raw, *ranks);
  std::optional<RawModel> hf;
  if (raw.model.hf && !raw.model.preset) hf = read_hf_config(*raw.model.hf);
  RunSpec spec = resolve(std::move(raw), hf);
  if (spec.parallel.schedule_file) spec.schedule = read_schedule_file(*spec.parallel.schedule_file);
  return spec;
}

RunSpec load_config(const std::string& path, const std::vector<std::string>& overrides,
                    std::optional<int64_t> ranks) {
  return parse_config(read_text_file(path, "the config"), path, overrides, ranks);
}

}  // namespace trireme
