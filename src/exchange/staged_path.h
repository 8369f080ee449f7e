// A file or folder that appears under its name when it is whole, and never in the place of another.
#pragma once
#include <string>

namespace trireme {

class StagedPath {
 public:
  // UserError when `path` is there already; an empty folder may be. The caller makes the staged one.
  explicit StagedPath(const std::string& path);
  StagedPath(const StagedPath&) = delete;
  StagedPath& operator=(const StagedPath&) = delete;
  ~StagedPath();  // removes what was not published

  const std::string& path() const { return staged_; }
  void publish();

 private:
  std::string target_, staged_;
};

}  // namespace trireme
