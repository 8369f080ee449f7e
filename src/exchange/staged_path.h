// A file or folder that appears under its name when it is whole, and never in the place of another.
#pragma once
#include <cstdint>
#include <string>

namespace trireme {

enum class Staged : uint8_t { file, folder };

class StagedPath {
 public:
  // UserError when `path` is there already; in the place of a folder, an empty one may be. The caller makes
  // the staged one, whose name is .tmp-NAME-PID beside `path`: what is left when the process is killed.
  StagedPath(const std::string& path, Staged what);
  StagedPath(const StagedPath&) = delete;
  StagedPath& operator=(const StagedPath&) = delete;
  ~StagedPath();  // removes what was not published

  const std::string& path() const { return staged_; }
  void publish();

 private:
  std::string target_, staged_;
  Staged what_;
};

}  // namespace trireme
