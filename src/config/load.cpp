// A config from a file or a text to a RunSpec: parse, read the Hugging Face shape if one is named, resolve.
#include <cerrno>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "base/error.h"
#include "config/hf_config.h"
#include "config/raw_config.h"
#include "config/resolve.h"
#include "config/run_spec.h"

namespace trireme {
namespace {

std::string read_file(const std::string& path, const std::string& what) {
  errno = 0;
  std::ifstream file(path, std::ios::binary);
  if (!file) fail_env("{}", with_errno(fmt::format("cannot open {} {}", what, path)));
  std::error_code ignored;
  if (std::filesystem::is_directory(path, ignored)) fail_user("{} {} is a folder, not a file", what, path);
  std::string text{std::istreambuf_iterator<char>(file), {}};
  if (file.bad()) fail_env("{}", with_errno(fmt::format("cannot read {} {}", what, path)));
  return text;
}

// model.hf names a config.json or the folder that holds one.
RawModel read_hf_config(const std::string& path) {
  std::error_code ignored;
  const bool folder = std::filesystem::is_directory(path, ignored);
  const std::string file = folder ? (std::filesystem::path(path) / "config.json").string() : path;
  return parse_hf_config(read_file(file, "model.hf"), file);
}

// A pipe would block, or have nothing left for the run's next start.
ScheduleText read_schedule_file(const std::string& path) {
  try {
    std::error_code ignored;
    if (std::filesystem::exists(path, ignored) && !std::filesystem::is_regular_file(path, ignored))
      fail_env("parallel.schedule_file {} is no regular file; name one that holds a table of steps", path);
    return {.text = read_file(path, "parallel.schedule_file"), .error = ""};
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
  return parse_config(read_file(path, "the config"), path, overrides, ranks);
}

}  // namespace trireme
