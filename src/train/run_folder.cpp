// Paths and flock.
#include "train/run_folder.h"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <filesystem>

#include "base/error.h"

namespace trireme {

RunFolder run_folder(const RunSpec& spec) { return {spec.run.dir + "/" + spec.run.name}; }

RunLock::RunLock(const RunFolder& folder) {
  std::error_code error;
  std::filesystem::create_directories(folder.path, error);
  if (error) fail_env("cannot make the run's folder {}: {}", folder.path, error.message());
  fd_ = open(folder.path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (fd_ < 0) throw EnvError(with_errno("cannot open the run's folder " + folder.path));
  if (flock(fd_, LOCK_EX | LOCK_NB) != 0) {
    close(fd_);
    fail_env("another process is training in {}: wait for it, stop it, or choose another run.name",
             folder.path);
  }
}

RunLock::~RunLock() { close(fd_); }

}  // namespace trireme
