// Reads a safetensors header. A SAX parser, since a DOM would hide doubled keys; then the checks that make
// the entries cover the data section exactly.
#include <algorithm>
#include <array>
#include <cstring>
#include <limits>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <string_view>
#include <utility>

#include "base/error.h"
#include "io/checkpoint/safetensors.h"

namespace trireme {
namespace {
static_assert(std::endian::native == std::endian::little,
              "the format is little-endian and is read as it lies");

constexpr int64_t kMaxHeaderBytes = 100'000'000;  // the format's own limit
constexpr int64_t kMax = std::numeric_limits<int64_t>::max();

struct StoredType {
  std::string_view name;
  int bits;
  std::optional<DType> dtype;
};
constexpr std::array kTypes = {
    StoredType{"BOOL", 8, {}},         StoredType{"F4", 4, {}},           StoredType{"F6_E2M3", 6, {}},
    StoredType{"F6_E3M2", 6, {}},      StoredType{"U8", 8, DType::u8},    StoredType{"I8", 8, {}},
    StoredType{"F8_E5M2", 8, {}},      StoredType{"F8_E4M3", 8, {}},      StoredType{"F8_E8M0", 8, {}},
    StoredType{"F8_E4M3FNUZ", 8, {}},  StoredType{"F8_E5M2FNUZ", 8, {}},  StoredType{"I16", 16, {}},
    StoredType{"U16", 16, {}},         StoredType{"F16", 16, {}},         StoredType{"BF16", 16, DType::bf16},
    StoredType{"I32", 32, DType::i32}, StoredType{"U32", 32, {}},         StoredType{"F32", 32, DType::f32},
    StoredType{"C64", 64, {}},         StoredType{"F64", 64, DType::f64}, StoredType{"I64", 64, {}},
    StoredType{"U64", 64, {}}};

const StoredType* find_type(std::string_view name) {
  const auto it =
      std::find_if(kTypes.begin(), kTypes.end(), [&](const StoredType& t) { return t.name == name; });
  return it == kTypes.end() ? nullptr : &*it;
}

// Accepts {"name": {"dtype": s, "shape": [n...], "data_offsets": [n, n]}, "__metadata__": {s: s}} and nothing
// else. Offsets in the entries are still relative to the data section.
class HeaderSax final : public nlohmann::json_sax<nlohmann::json> {
 public:
  HeaderSax(const std::string& file, SafetensorsHeader& header) : file_(file), header_(header) {}

  bool null() override { return refuse("null"); }
  bool boolean(bool) override { return refuse("a boolean"); }
  bool number_float(double, const string_t& text) override { return refuse("the number " + text); }
  bool binary(binary_t&) override { return refuse("binary data"); }
  bool number_integer(int64_t value) override { return refuse(fmt::format("the number {}", value)); }

  bool number_unsigned(uint64_t value) override {
    if (!in_array_ || value > static_cast<uint64_t>(kMax)) return refuse(fmt::format("the number {}", value));
    numbers_.push_back(static_cast<int64_t>(value));
    return true;
  }

  bool string(string_t& value) override {
    if (depth_ == 2 && in_metadata_) {
      header_.metadata[key_] = value;
    } else if (depth_ == 2 && !in_array_ && key_ == "dtype") {
      entry_.dtype = value;
    } else {
      return refuse("a string");
    }
    return true;
  }

  bool start_object(size_t) override {
    if (depth_ >= 2 || in_array_) return refuse("an object");
    ++depth_;
    fields_.clear();
    return true;
  }

  bool key(string_t& name) override {
    key_ = name;
    if (depth_ == 1) {
      if (!names_.insert(name).second) fail_env("{}: tensor {} stands twice in the header", file_, name);
      in_metadata_ = name == "__metadata__";
      entry_ = {.name = name};
    } else {
      const bool known = in_metadata_ || name == "dtype" || name == "shape" || name == "data_offsets";
      if (!known) fail_env("{}: tensor {}: unknown field {} in the header", file_, entry_.name, name);
      if (!fields_.insert(name).second) fail_env("{}: {}: field {} stands twice", file_, entry_.name, name);
    }
    return true;
  }

  bool end_object() override {
    --depth_;
    if (depth_ == 1 && !in_metadata_) {
      for (const char* field : {"dtype", "shape", "data_offsets"}) {
        if (!fields_.contains(field)) fail_env("{}: tensor {} has no {}", file_, entry_.name, field);
      }
      header_.entries.push_back(std::move(entry_));
    }
    return true;
  }

  bool start_array(size_t) override {
    if (depth_ != 2 || in_array_ || in_metadata_ || key_ == "dtype") return refuse("an array");
    in_array_ = true;
    numbers_.clear();
    return true;
  }

  bool end_array() override {
    in_array_ = false;
    if (key_ == "shape") {
      entry_.shape = numbers_;
    } else if (numbers_.size() == 2) {
      entry_.begin = numbers_[0];
      entry_.end = numbers_[1];
    } else {
      fail_env("{}: tensor {}: data_offsets has {} numbers, not 2", file_, entry_.name, numbers_.size());
    }
    return true;
  }

  bool parse_error(size_t position, const std::string&, const nlohmann::detail::exception& error) override {
    fail_env("{}: the header is not JSON at its byte {}: {}", file_, position, error.what());
  }

 private:
  bool refuse(const std::string& what) {
    fail_env("{}: {} in the header where a safetensors header has none (tensor {}, field {})", file_, what,
             entry_.name, key_);
  }

  const std::string& file_;
  SafetensorsHeader& header_;
  std::set<std::string> names_;
  std::set<std::string> fields_;  // of the object being read
  std::string key_;
  SafetensorsEntry entry_;
  std::vector<int64_t> numbers_;
  int depth_ = 0;
  bool in_array_ = false;
  bool in_metadata_ = false;
};

// Bytes that dtype and shape ask for; refuses unknown dtypes, overflow, and bits that end inside a byte.
int64_t expected_bytes(const SafetensorsEntry& entry, const std::string& file) {
  const StoredType* type = find_type(entry.dtype);
  if (!type) fail_env("{}: tensor {} has the unknown dtype {}", file, entry.name, entry.dtype);
  int64_t elements = 1;
  bool overflow = false;
  for (const int64_t extent : entry.shape) overflow |= __builtin_mul_overflow(elements, extent, &elements);
  int64_t bits = 0;
  overflow |= __builtin_mul_overflow(elements, int64_t{type->bits}, &bits);
  if (overflow) fail_env("{}: tensor {}: shape [{}] overflows", file, entry.name, to_string(entry.shape));
  if (bits % 8 != 0) fail_env("{}: tensor {} ends within a byte ({} bits)", file, entry.name, bits);
  return bits / 8;
}

// The entries sorted by place, each beginning where the one before ends, the last at the file's end.
void check_cover(SafetensorsHeader& header, int64_t file_bytes, const std::string& file) {
  const int64_t data_bytes = file_bytes - header.bytes;
  for (SafetensorsEntry& entry : header.entries) {
    const int64_t expected = expected_bytes(entry, file);
    if (entry.begin > entry.end || entry.end > data_bytes) {
      fail_env("{}: tensor {} lies at bytes {} to {} of {} bytes of data: the file is cut short or damaged",
               file, entry.name, entry.begin, entry.end, data_bytes);
    }
    if (entry.end - entry.begin != expected) {
      fail_env("{}: tensor {} of {} [{}] needs {} bytes; its data_offsets give {}", file, entry.name,
               entry.dtype, to_string(entry.shape), expected, entry.end - entry.begin);
    }
  }
  std::sort(header.entries.begin(), header.entries.end(), [](const auto& a, const auto& b) {
    return std::pair(a.begin, a.end) < std::pair(b.begin, b.end);
  });
  int64_t at = 0;
  for (SafetensorsEntry& entry : header.entries) {
    if (entry.begin != at) {
      fail_env("{}: tensor {} begins at byte {} of the data, where {} ends: {}", file, entry.name,
               entry.begin, at, entry.begin > at ? "a hole" : "an overlap");
    }
    at = entry.end;
    entry.begin += header.bytes;
    entry.end += header.bytes;
  }
  if (at != data_bytes) fail_env("{}: {} bytes follow the last tensor", file, data_bytes - at);
}
}  // namespace

int64_t safetensors_header_bytes(std::span<const std::byte> first8, int64_t file_bytes,
                                 const std::string& file) {
  if (file_bytes < 8 || first8.size() < 8)
    fail_env("{} has {} bytes; not a safetensors file", file, file_bytes);
  uint64_t length = 0;
  std::memcpy(&length, first8.data(), 8);
  if (length > static_cast<uint64_t>(kMaxHeaderBytes)) {
    fail_env("{}: header length {} is above {}: not a safetensors file", file, length, kMaxHeaderBytes);
  }
  if (static_cast<int64_t>(length) > file_bytes - 8) {
    fail_env("{}: header length {} goes beyond the file's {} bytes", file, length, file_bytes);
  }
  return 8 + static_cast<int64_t>(length);
}

SafetensorsHeader parse_safetensors_header(std::span<const std::byte> head, int64_t file_bytes,
                                           const std::string& file) {
  SafetensorsHeader header;
  header.bytes = safetensors_header_bytes(head, file_bytes, file);
  CHECK(static_cast<int64_t>(head.size()) >= header.bytes, "{} of {} header bytes", head.size(),
        header.bytes);
  const std::string_view json(reinterpret_cast<const char*>(head.data()) + 8,
                              static_cast<size_t>(header.bytes) - 8);
  if (!json.starts_with('{')) fail_env("{}: the header does not begin with {{: not a safetensors file", file);
  HeaderSax sax(file, header);
  nlohmann::json::sax_parse(json.begin(), json.end(), &sax);
  check_cover(header, file_bytes, file);
  return header;
}

DType dtype_of(const SafetensorsEntry& entry, const std::string& file) {
  const StoredType* type = find_type(entry.dtype);
  if (!type || !type->dtype) {
    fail_env("{}: tensor {} has dtype {}; F32, BF16, F64, I32 and U8 can be used", file, entry.name,
             entry.dtype);
  }
  return *type->dtype;
}

}  // namespace trireme
