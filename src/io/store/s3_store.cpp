// The store's calls as requests.
#include "io/store/s3_store.h"

#include <algorithm>
#include <atomic>
#include <charconv>
#include <mutex>
#include <set>
#include <utility>

#include "base/error.h"
#include "io/store/read_ahead.h"
#include "io/store/s3_client.h"
#include "io/store/s3_upload.h"
#include "io/store/s3_xml.h"

namespace trireme {
namespace {

class S3Source final : public ByteSource {
 public:
  S3Source(S3Client& client, ReadAhead& windows, std::string key, int64_t id)
      : client_(client), windows_(windows), key_(std::move(key)) {
    const HttpAnswer head = client_.call({.purpose = "read", .method = "HEAD", .key = key_});
    const auto length = head.headers.find("content-length");
    const std::string text = length == head.headers.end() ? "" : length->second;
    object_.id = id;
    const auto parsed = std::from_chars(text.data(), text.data() + text.size(), object_.bytes);
    if (text.empty() || parsed.ec != std::errc() || object_.bytes < 0)
      fail_env("{}: the store does not say its size", client_.locate(key_));
    const auto etag = head.headers.find("etag");
    if (etag != head.headers.end()) etag_ = etag->second;
    object_.fetch = [this](int64_t offset, std::span<std::byte> into) { fetch(offset, into); };
  }

  int64_t size_bytes() const override { return object_.bytes; }

  void read(int64_t offset, std::span<std::byte> into) const override {
    if (into.empty()) return;
    const auto wanted = static_cast<int64_t>(into.size());
    if (offset < 0 || offset > object_.bytes || wanted > object_.bytes - offset)
      fail_env("{} ends at byte {}, {} bytes too early", client_.locate(key_), object_.bytes,
               offset + wanted - object_.bytes);
    windows_.read(object_, offset, into);
  }

 private:
  void fetch(int64_t offset, std::span<std::byte> into) const {
    S3Request request{.purpose = "read", .method = "GET", .key = key_, .into = into};
    const int64_t last = offset + static_cast<int64_t>(into.size()) - 1;
    request.headers["range"] = fmt::format("bytes={}-{}", offset, last);
    if (!etag_.empty()) request.headers["if-match"] = etag_;
    const HttpAnswer answer = client_.call(request, {412});
    if (answer.status == 412)
      fail_env("{} was replaced while it was being read: read it again", client_.locate(key_));
    const auto range = answer.headers.find("content-range");
    const std::string expected = fmt::format("bytes {}-{}/{}", offset, last, object_.bytes);
    const bool whole = offset == 0 && last + 1 == object_.bytes;
    if (!(answer.status == 200 && whole) && (range == answer.headers.end() || range->second != expected))
      fail_env("{}: asked for {}, the store gave {}", client_.locate(key_), expected,
               range == answer.headers.end() ? "no range" : range->second);
  }

  S3Client& client_;
  ReadAhead& windows_;
  std::string key_, etag_;
  ReadAhead::Object object_;
};

class S3Store final : public ByteStore {
 public:
  S3Store(const S3Place& place, const S3Options& options)
      : client_(place, options), windows_(options.window_bytes, options.windows) {}

  std::unique_ptr<ByteSink> create(const std::string& path) override {
    withdraw_marker(path);
    return std::make_unique<S3Upload>(client_, key_of(path));
  }

  std::unique_ptr<ByteSource> open(const std::string& path) const override {
    return std::make_unique<S3Source>(client_, windows_, key_of(path), ++next_id_);
  }

  bool exists(const std::string& path) const override {
    const std::string key = key_of(path);
    if (!key.empty()) {
      const S3Request request{.purpose = "look at", .method = "HEAD", .key = key};
      if (client_.call(request, {404}).status != 404) return true;
    }
    const ListPage page = list_page(folder_key(path), "", "", 1);
    return !page.keys.empty() || !page.prefixes.empty();
  }

  std::vector<std::string> list(const std::string& folder) const override {
    const std::string prefix = folder_key(folder);
    std::vector<std::string> names;
    std::string continuation;
    do {
      const ListPage page = list_page(prefix, "/", continuation, 0);
      for (const std::string& key : page.keys) {
        if (key.size() > prefix.size())
          names.push_back(key.substr(prefix.size()));  // "a/" itself is no object
      }
      for (const std::string& key : page.prefixes) {
        if (key.size() > prefix.size() + 1)
          names.push_back(key.substr(prefix.size(), key.size() - prefix.size() - 1));
      }
      continuation = page.continuation;
    } while (!continuation.empty());
    std::sort(names.begin(), names.end());
    names.erase(std::unique(names.begin(), names.end()), names.end());
    return names;
  }

  std::string staging(const std::string& folder) const override { return folder; }

  void publish(const std::string& folder, const Marker& marker) override {
    const S3Request request{.purpose = "write",
                            .method = "PUT",
                            .key = key_of(folder + "/" + marker.name),
                            .body = std::as_bytes(std::span(marker.content))};
    client_.call(request);
    const std::lock_guard lock(mutex_);
    unmarked_.erase(folder);
  }

  void remove(const std::string& folder) override {
    remove_markers(folder);
    const std::string prefix = folder_key(folder);
    // From the front each time: a page's token may not outlive what it lists.
    for (ListPage page = list_page(prefix, "", "", 0); !page.keys.empty();) {
      for (const std::string& key : page.keys) remove_key(key);
      if (page.continuation.empty()) break;
      page = list_page(prefix, "", "", 0);
    }
  }

  std::string locate(const std::string& path) const override { return client_.locate(key_of(path)); }

 private:
  std::string key_of(const std::string& path) const {
    const std::string& prefix = client_.place().prefix;
    if (prefix.empty() || path.empty()) return prefix + path;
    return prefix + "/" + path;
  }
  // What every key in the folder begins with.
  std::string folder_key(const std::string& path) const {
    const std::string key = key_of(path);
    return key.empty() ? "" : key + "/";
  }

  ListPage list_page(const std::string& prefix, const std::string& delimiter, const std::string& continuation,
                     int most) const {
    S3Request request{.purpose = "list", .method = "GET"};
    request.query = {{"list-type", "2"}, {"prefix", prefix}, {"encoding-type", "url"}};
    if (!delimiter.empty()) request.query["delimiter"] = delimiter;
    if (!continuation.empty()) request.query["continuation-token"] = continuation;
    if (most > 0) request.query["max-keys"] = std::to_string(most);
    return parse_list_page(client_.call(request).body, client_.locate(prefix));
  }

  // The first object that is written into a folder takes its marker away, so that no reader takes a mixture
  // for whole.
  void withdraw_marker(const std::string& path) {
    const size_t slash = path.find_last_of('/');
    if (slash == std::string::npos) return;
    const std::string folder = path.substr(0, slash);
    const std::lock_guard lock(mutex_);
    if (unmarked_.contains(folder)) return;
    remove_markers(folder);
    unmarked_.insert(folder);
  }

  void remove_markers(const std::string& folder) {
    for (const std::string& name : list(folder)) {
      if (is_marker_name(name)) remove_key(key_of(folder + "/" + name));
    }
  }

  void remove_key(const std::string& key) {
    client_.call({.purpose = "remove", .method = "DELETE", .key = key}, {404});
  }

  mutable S3Client client_;  // its connections change with every call, nothing else
  mutable ReadAhead windows_;
  mutable std::atomic<int64_t> next_id_ = 0;
  std::mutex mutex_;
  std::set<std::string> unmarked_;  // folders that this object has begun to write
};

}  // namespace

std::unique_ptr<ByteStore> open_s3_store(const S3Place& place, const S3Options& options) {
  return std::make_unique<S3Store>(place, options);
}

}  // namespace trireme
