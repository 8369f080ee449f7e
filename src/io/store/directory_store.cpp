// Objects as files under a root. A folder is written as .tmp-NAME and renamed; a removed one is first
// renamed to .tmp-NAME, so that no reader ever sees a folder half gone.
#include "io/store/directory_store.h"

#include <fcntl.h>

#include <algorithm>
#include <filesystem>
#include <system_error>
#include <utility>

#include "base/error.h"
#include "io/store/posix_file.h"

namespace trireme {
namespace {
namespace fs = std::filesystem;

constexpr int64_t kWritebackBytes = int64_t{32} << 20;

class FileSink final : public ByteSink {
 public:
  explicit FileSink(std::string path) : path_(std::move(path)), fd_(create_to_write(path_)) {}

  void write(std::span<const std::byte> bytes) override {
    while (!bytes.empty()) {
      const auto part = bytes.first(std::min(bytes.size(), static_cast<size_t>(kWritebackBytes)));
      write_all(fd_.get(), part, path_);
      written_ += static_cast<int64_t>(part.size());
      bytes = bytes.subspan(part.size());
      start_writeback();
    }
  }

  void finish() override {
    sync_file(fd_.get(), path_);
    fd_.reset();
  }

 private:
  // Lets the disk work while later bytes are being written, so that the final fsync has little left.
  // A hint: its result does not matter, fsync reports every error.
  void start_writeback() {
    if (written_ - started_ < kWritebackBytes) return;
    (void)::sync_file_range(fd_.get(), started_, written_ - started_, SYNC_FILE_RANGE_WRITE);
    started_ = written_;
  }

  std::string path_;
  FileDescriptor fd_;
  int64_t written_ = 0;
  int64_t started_ = 0;
};

class FileSource final : public ByteSource {
 public:
  explicit FileSource(std::string path)
      : path_(std::move(path)), fd_(open_to_read(path_)), size_bytes_(file_bytes(fd_.get(), path_)) {}

  int64_t size_bytes() const override { return size_bytes_; }
  void read(int64_t offset, std::span<std::byte> into) const override {
    read_at(fd_.get(), offset, into, path_);
  }

 private:
  std::string path_;
  FileDescriptor fd_;
  int64_t size_bytes_;
};

class DirectoryStore final : public ByteStore {
 public:
  explicit DirectoryStore(std::string root) : root_(std::move(root)) {
    if (root_.empty()) root_ = ".";
    while (root_.size() > 1 && root_.back() == '/') root_.pop_back();
  }

  std::unique_ptr<ByteSink> create(const std::string& path) override {
    const std::string place = locate(path);
    make_folders(parent_of(place));
    return std::make_unique<FileSink>(place);
  }

  std::unique_ptr<ByteSource> open(const std::string& path) const override {
    return std::make_unique<FileSource>(locate(path));
  }

  bool exists(const std::string& path) const override { return path_exists(locate(path)); }

  std::vector<std::string> list(const std::string& folder) const override {
    const std::string place = locate(folder);
    std::vector<std::string> names;
    if (!path_exists(place)) return names;
    std::error_code error;
    for (fs::directory_iterator it(place, error), end; !error && it != end; it.increment(error)) {
      names.push_back(it->path().filename().string());
    }
    if (error) fail_env("cannot list {}: {}", place, error.message());
    std::sort(names.begin(), names.end());
    return names;
  }

  std::string staging(const std::string& folder) const override {
    const size_t slash = folder.find_last_of('/');
    const size_t name = slash == std::string::npos ? 0 : slash + 1;
    return folder.substr(0, name) + ".tmp-" + folder.substr(name);
  }

  void publish(const std::string& folder, const Marker& marker) override {
    const std::string staged = staging(folder);
    sync_folder(locate(staged));
    if (exists(folder)) {
      replace(folder, staged, marker);
      return;
    }
    rename_path(locate(staged), locate(folder));
    sync_folder(parent_of(locate(folder)));
    write_marker(folder, marker);
  }

  void remove(const std::string& folder) override {
    const size_t slash = folder.find_last_of('/');
    const std::string name = slash == std::string::npos ? folder : folder.substr(slash + 1);
    if (name.starts_with(".tmp-")) {
      remove_tree(folder);
      return;
    }
    if (!exists(folder)) return;
    remove_tree(staging(folder));
    rename_path(locate(folder), locate(staging(folder)));
    sync_folder(parent_of(locate(folder)));
    remove_tree(staging(folder));
  }

  std::string locate(const std::string& path) const override {
    return path.empty() ? root_ : (root_ == "/" ? root_ : root_ + "/") + path;
  }

 private:
  // The new folder gets its marker before the swap: the name always stands for one that is whole.
  void replace(const std::string& folder, const std::string& staged, const Marker& marker) {
    write_marker(staged, marker);
    if (!exchange_paths(locate(staged), locate(folder))) {
      // No swap on this file system: the old one goes first, so a kill right here leaves neither.
      const std::string aside = staged + "-replaced";
      remove_tree(aside);
      rename_path(locate(folder), locate(aside));
      rename_path(locate(staged), locate(folder));
      sync_folder(parent_of(locate(folder)));
      remove_tree(aside);
      return;
    }
    sync_folder(parent_of(locate(folder)));
    remove_tree(staged);
  }

  // Under another name first: a marker is never half written.
  void write_marker(const std::string& folder, const Marker& marker) {
    const std::string place = locate(folder + "/" + marker.name);
    FileSink sink(place + ".tmp");
    sink.write(std::as_bytes(std::span(marker.content)));
    sink.finish();
    rename_path(place + ".tmp", place);
    sync_folder(parent_of(place));
  }

  void remove_tree(const std::string& path) {
    std::error_code error;
    fs::remove_all(locate(path), error);
    if (error) fail_env("cannot remove {}: {}", locate(path), error.message());
  }

  std::string root_;
};
}  // namespace

std::unique_ptr<ByteStore> open_directory_store(const std::string& root) {
  return std::make_unique<DirectoryStore>(root);
}

}  // namespace trireme
