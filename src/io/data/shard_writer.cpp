// The .idx is lengths, then offsets, then document boundaries, so the lengths are written as they come, and
// the rest is made from them at the end, by blocks.
#include "io/data/shard_writer.h"

#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <limits>
#include <vector>

#include "base/error.h"
#include "io/store/posix_file.h"

namespace trireme {
namespace {

constexpr size_t kBufferBytes = 1 << 20;
constexpr int64_t kHeaderBytes = 34;
constexpr uint8_t kCodeU16 = 8, kCodeI32 = 4;

// Appends to a file in large writes.
struct Output {
  std::string path;
  FileDescriptor file;
  std::vector<std::byte> buffer;

  explicit Output(const std::string& name) : path(name) {
    ::unlink(name.c_str());  // left over from a run that was killed
    file = create_to_write(name);
    buffer.reserve(kBufferBytes);
  }
  void flush() {
    write_all(file.get(), buffer, path);
    buffer.clear();
  }
  template <class T>
  void put(T value) {
    if (buffer.size() + sizeof value > kBufferBytes) flush();
    const auto* bytes = reinterpret_cast<const std::byte*>(&value);
    buffer.insert(buffer.end(), bytes, bytes + sizeof value);
  }
};

}  // namespace

struct ShardWriter::State {
  std::string prefix;
  int64_t vocab;
  int64_t documents = 0, tokens = 0;
  Output bin, idx;
  bool finished = false;

  State(const std::string& p, int64_t v)
      : prefix(p), vocab(v), bin(p + ".bin.partial"), idx(p + ".idx.partial") {}
  ~State() {
    if (finished) return;
    ::unlink(bin.path.c_str());
    ::unlink(idx.path.c_str());
  }
  bool narrow() const { return vocab <= 65536; }
  void put_header();
  void put_offsets();
};

void ShardWriter::State::put_header() {
  for (const char c : std::string_view("MMIDIDX\0\0", 9)) idx.put(c);
  idx.put<uint64_t>(1);
  idx.put<uint8_t>(narrow() ? kCodeU16 : kCodeI32);
  idx.put<uint64_t>(static_cast<uint64_t>(documents));
  idx.put<uint64_t>(static_cast<uint64_t>(documents) + 1);
}

void ShardWriter::State::put_offsets() {
  idx.flush();
  const FileDescriptor written = open_to_read(idx.path);
  int64_t offset = 0;
  std::vector<int32_t> lengths(kBufferBytes / sizeof(int32_t));
  for (int64_t d = 0; d < documents;) {
    lengths.resize(static_cast<size_t>(std::min<int64_t>(documents - d, kBufferBytes / sizeof(int32_t))));
    read_at(written.get(), kHeaderBytes + 4 * d, std::as_writable_bytes(std::span(lengths)), idx.path);
    for (const int32_t length : lengths) {
      idx.put<int64_t>(offset);
      offset += length * int64_t{narrow() ? 2 : 4};
    }
    d += static_cast<int64_t>(lengths.size());
  }
}

ShardWriter::ShardWriter(const std::string& prefix, int64_t vocab) {
  CHECK(vocab > 0 && vocab <= std::numeric_limits<int32_t>::max(), "vocab = {}", vocab);
  const std::string folder = std::filesystem::path(prefix).parent_path().string();
  if (!folder.empty()) make_folders(folder);
  state_ = std::make_unique<State>(prefix, vocab);
  state_->put_header();  // the counts are filled in at the end
}

ShardWriter::ShardWriter(ShardWriter&&) noexcept = default;
ShardWriter::~ShardWriter() = default;

int64_t ShardWriter::documents() const { return state_->documents; }
int64_t ShardWriter::tokens() const { return state_->tokens; }

void ShardWriter::add_document(std::span<const uint32_t> ids) {
  State& s = *state_;
  if (ids.size() > static_cast<size_t>(std::numeric_limits<int32_t>::max())) {
    fail_user("{}.idx: a document of {} tokens does not fit the format's 32-bit lengths; split it", s.prefix,
              ids.size());
  }
  for (const uint32_t id : ids) {
    CHECK(id < static_cast<uint64_t>(s.vocab), "id {} of a vocabulary of {}", id, s.vocab);
    if (s.narrow()) {
      s.bin.put(static_cast<uint16_t>(id));
    } else {
      s.bin.put(static_cast<int32_t>(id));
    }
  }
  s.idx.put(static_cast<int32_t>(ids.size()));
  ++s.documents;
  s.tokens += static_cast<int64_t>(ids.size());
}

void ShardWriter::finish() {
  State& s = *state_;
  s.put_offsets();
  for (int64_t d = 0; d <= s.documents; ++d) s.idx.put<int64_t>(d);
  s.idx.flush();
  s.put_header();
  if (::lseek(s.idx.file.get(), 0, SEEK_SET) != 0) fail_env("{}", with_errno("cannot seek in " + s.idx.path));
  s.idx.flush();
  s.bin.flush();
  sync_file(s.bin.file.get(), s.bin.path);
  sync_file(s.idx.file.get(), s.idx.path);
  rename_path(s.bin.path, s.prefix + ".bin");
  rename_path(s.idx.path, s.prefix + ".idx");
  const std::string folder = std::filesystem::path(s.prefix).parent_path().string();
  sync_folder(folder.empty() ? "." : folder);
  s.finished = true;
}

}  // namespace trireme
