// A file that grows by whole writes: what was appended before a kill is in it, and nothing is buffered here.
#pragma once
#include <functional>
#include <string>
#include <string_view>

namespace trireme {

class AppendFile {
 public:
  explicit AppendFile(const std::string& path);  // made if absent, its folders too; EnvError
  AppendFile(const AppendFile&) = delete;
  AppendFile& operator=(const AppendFile&) = delete;
  ~AppendFile();

  void append(std::string_view bytes);  // one write; EnvError when the disk is full
  void sync();                          // durable
  const std::string& path() const { return path_; }

 private:
  std::string path_;
  int fd_ = -1;
};

// Replaces `path` in one instant by what `fill` writes into the stand-in that it is given.
void replace_file(const std::string& path, const std::function<void(AppendFile&)>& fill);

std::string read_file(
    const std::string& path);  // "" when absent or no regular file; EnvError when unreadable

}  // namespace trireme
