// One object more than the store has.
#include "io/checkpoint/staged_view.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "base/error.h"

namespace trireme {
namespace {

class TextSource final : public ByteSource {
 public:
  explicit TextSource(std::string text) : text_(std::move(text)) {}
  int64_t size_bytes() const override { return static_cast<int64_t>(text_.size()); }
  void read(int64_t offset, std::span<std::byte> into) const override {
    CHECK(offset >= 0 && offset + static_cast<int64_t>(into.size()) <= size_bytes(), "{} of {}", offset,
          size_bytes());
    if (!into.empty()) std::memcpy(into.data(), text_.data() + offset, into.size());
  }

 private:
  std::string text_;
};

class StagedView final : public ByteStore {
 public:
  StagedView(const ByteStore& store, std::string folder, Marker marker)
      : store_(store), path_(std::move(folder) + "/" + marker.name), marker_(std::move(marker)) {}

  std::unique_ptr<ByteSource> open(const std::string& path) const override {
    if (path == path_) return std::make_unique<TextSource>(marker_.content);
    return store_.open(path);
  }
  bool exists(const std::string& path) const override { return path == path_ || store_.exists(path); }
  std::vector<std::string> list(const std::string& folder) const override {
    std::vector<std::string> names = store_.list(folder);
    const bool has = std::find(names.begin(), names.end(), marker_.name) != names.end();
    if (folder + "/" + marker_.name == path_ && !has)
      names.insert(std::lower_bound(names.begin(), names.end(), marker_.name), marker_.name);
    return names;
  }
  std::string locate(const std::string& path) const override { return store_.locate(path); }
  std::string staging(const std::string& folder) const override { return store_.staging(folder); }

  std::unique_ptr<ByteSink> create(const std::string& path) override { refuse(path); }
  void publish(const std::string& folder, const Marker&) override { refuse(folder); }
  void remove(const std::string& folder) override { refuse(folder); }

 private:
  [[noreturn]] void refuse(const std::string& path) const {
    check_failed(__FILE__, __LINE__, "a view is only read", path);
  }

  const ByteStore& store_;
  std::string path_;
  Marker marker_;
};

}  // namespace

std::unique_ptr<ByteStore> view_with_marker(const ByteStore& store, const std::string& folder,
                                            const Marker& marker) {
  return std::make_unique<StagedView>(store, folder, marker);
}

}  // namespace trireme
