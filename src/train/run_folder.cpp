// Paths, flock, and writing by rename.
#include "train/run_folder.h"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <cstdio>
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

void write_file(const std::string& path, const std::string& text) {
  const std::string temporary = path + ".tmp";
  std::FILE* file = std::fopen(temporary.c_str(), "wb");
  if (file == nullptr) throw EnvError(with_errno("cannot write " + temporary));
  const bool written = std::fwrite(text.data(), 1, text.size(), file) == text.size();
  if (std::fclose(file) != 0 || !written) {
    std::remove(temporary.c_str());
    throw EnvError(with_errno("cannot write " + temporary));
  }
  if (std::rename(temporary.c_str(), path.c_str()) != 0)
    throw EnvError(with_errno("cannot rename to " + path));
}

std::string read_file(const std::string& path) {
  std::FILE* file = std::fopen(path.c_str(), "rb");
  if (file == nullptr) throw EnvError(with_errno("cannot read " + path));
  std::string text;
  char buffer[65536];
  for (size_t n = 0; (n = std::fread(buffer, 1, sizeof buffer, file)) > 0;) text.append(buffer, n);
  const bool failed = std::ferror(file) != 0;
  std::fclose(file);
  if (failed) fail_env("cannot read {} whole", path);
  return text;
}

}  // namespace trireme
