// One buffer of packed bytes, and zlib or libzstd over it. Files of several members or frames, as log
// rotation and parallel compressors write them, are read to their end.
#include "io/files/text_stream.h"

#include <zlib.h>
#include <zstd.h>

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <string_view>
#include <vector>

#include "base/error.h"

namespace trireme {
namespace {

enum class Packed { no, gzip, zstd };

Packed packing_of(std::string_view head) {
  if (head.starts_with("\x1f\x8b")) return Packed::gzip;
  if (head.starts_with("\x28\xb5\x2f\xfd")) return Packed::zstd;
  return Packed::no;
}

}  // namespace

struct TextStream::State {
  std::string path;
  std::FILE* file = nullptr;
  std::vector<char> buffer = std::vector<char>(1 << 18);
  size_t begin = 0, end = 0;  // unread bytes of buffer
  bool at_end = false;        // of the file
  Packed packed = Packed::no;
  bool inside = false;  // a member or frame has begun and not ended
  z_stream gzip{};
  ZSTD_DStream* zstd = nullptr;

  ~State() {
    if (packed == Packed::gzip) inflateEnd(&gzip);
    ZSTD_freeDStream(zstd);
    if (file) std::fclose(file);
  }

  void refill() {
    if (begin < end || at_end) return;
    begin = 0;
    end = std::fread(buffer.data(), 1, buffer.size(), file);
    if (end == 0) {
      if (std::ferror(file)) fail_env("{}", with_errno("cannot read " + path));
      at_end = true;
    }
  }

  [[noreturn]] void damaged(const char* reason) const {
    fail_user("{}: the {} data are damaged: {}", path, packed == Packed::gzip ? "gzip" : "zstd", reason);
  }

  // Each unpacks from the buffer into out; returns the bytes made, maybe 0 before the end.
  size_t unpack_gzip(char* out, size_t size);
  size_t unpack_zstd(char* out, size_t size);
};

size_t TextStream::State::unpack_gzip(char* out, size_t size) {
  const auto room = static_cast<uInt>(std::min<size_t>(size, 1 << 30));
  gzip.next_in = reinterpret_cast<Bytef*>(buffer.data() + begin);
  gzip.avail_in = static_cast<uInt>(end - begin);
  gzip.next_out = reinterpret_cast<Bytef*>(out);
  gzip.avail_out = room;
  const int result = inflate(&gzip, Z_NO_FLUSH);
  begin = end - gzip.avail_in;
  inside = result != Z_STREAM_END;
  if (result == Z_STREAM_END) {
    inflateReset(&gzip);
  } else if (result != Z_OK && result != Z_BUF_ERROR) {
    damaged(gzip.msg ? gzip.msg : "unknown fault");
  }
  return room - gzip.avail_out;
}

size_t TextStream::State::unpack_zstd(char* out, size_t size) {
  ZSTD_inBuffer in{buffer.data(), end, begin};
  ZSTD_outBuffer unpacked{out, size, 0};
  const size_t result = ZSTD_decompressStream(zstd, &unpacked, &in);
  if (ZSTD_isError(result)) damaged(ZSTD_getErrorName(result));
  begin = in.pos;
  inside = result != 0;
  return unpacked.pos;
}

TextStream::TextStream(const std::string& path) : state_(std::make_unique<State>()) {
  State& s = *state_;
  s.path = path;
  s.file = std::fopen(path.c_str(), "rbe");
  if (!s.file) fail_env("{}", with_errno("cannot open " + path));
  s.refill();
  s.packed = packing_of({s.buffer.data(), s.end});
  if (s.packed == Packed::gzip) {
    CHECK(inflateInit2(&s.gzip, 15 + 16) == Z_OK, "zlib {}", zlibVersion());
  } else if (s.packed == Packed::zstd) {
    s.zstd = ZSTD_createDStream();
    CHECK(s.zstd != nullptr, "zstd {}", ZSTD_versionString());
  }
}

TextStream::TextStream(TextStream&&) noexcept = default;
TextStream::~TextStream() = default;

size_t TextStream::read(char* out, size_t size) {
  State& s = *state_;
  for (;;) {
    s.refill();
    const bool dry = s.begin == s.end;
    if (dry && !s.inside) return 0;
    size_t made = 0;
    if (s.packed == Packed::gzip) {
      made = s.unpack_gzip(out, size);
    } else if (s.packed == Packed::zstd) {
      made = s.unpack_zstd(out, size);
    } else {
      made = std::min(size, s.end - s.begin);
      std::memcpy(out, s.buffer.data() + s.begin, made);
      s.begin += made;
    }
    if (made > 0) return made;
    if (dry && s.inside) s.damaged("the file ends in the middle");
  }
}

bool is_json_lines(const std::string& path) {
  std::string_view name = path;
  for (const std::string_view packed : {".gz", ".zst"}) {
    if (name.ends_with(packed)) name.remove_suffix(packed.size());
  }
  return name.ends_with(".jsonl") || name.ends_with(".ndjson");
}

}  // namespace trireme
