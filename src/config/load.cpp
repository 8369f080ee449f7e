// A config from a file or a text to a RunSpec: parse, read the Hugging Face shape if one is named, resolve.
#include <cerrno>
#include <fstream>
#include <iterator>

#include "base/error.h"
#include "config/hf_config.h"
#include "config/raw_config.h"
#include "config/resolve.h"
#include "config/run_spec.h"

namespace trireme {

RunSpec parse_config(const std::string& text, const std::string& name,
                     const std::vector<std::string>& overrides) {
  RawConfig raw = parse_raw(text, name, overrides);
  std::optional<RawModel> hf;
  if (raw.model.hf && !raw.model.preset) hf = read_hf_config(*raw.model.hf);
  return resolve(std::move(raw), hf);
}

RunSpec load_config(const std::string& path, const std::vector<std::string>& overrides) {
  errno = 0;
  std::ifstream file(path, std::ios::binary);
  if (!file) fail_env("{}", with_errno("cannot open the config " + path));
  const std::string text{std::istreambuf_iterator<char>(file), {}};
  if (file.bad()) fail_env("{}", with_errno("cannot read the config " + path));
  return parse_config(text, path, overrides);
}

}  // namespace trireme
