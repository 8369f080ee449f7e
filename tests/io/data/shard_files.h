// Small shard files for the data tests, written byte by byte and not by the product's own writer.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "scratch_folder.h"

namespace trireme::shard_files {

using test::ScratchFolder;
using test::slurp;
using test::spill;

template <class T>
void append(std::string& bytes, T value) {
  bytes.append(reinterpret_cast<const char*>(&value), sizeof value);
}

template <class T, class V>
std::string packed(const std::vector<V>& values) {
  std::string bytes;
  for (const V value : values) append(bytes, static_cast<T>(value));
  return bytes;
}

template <class T = uint16_t>
std::string llm_c_bytes(const std::vector<int>& ids, int32_t magic = 20240520, int32_t version = 1) {
  std::string bytes;
  append(bytes, magic);
  append(bytes, version);
  append(bytes, static_cast<int32_t>(ids.size()));
  bytes.resize(1024, '\0');
  return bytes + packed<T>(ids);
}

// One sequence per document.
inline std::string megatron_index(const std::vector<int>& lengths, uint8_t code, int64_t id_bytes) {
  std::string bytes("MMIDIDX\0\0", 9);
  append<uint64_t>(bytes, 1);
  append<uint8_t>(bytes, code);
  append<uint64_t>(bytes, lengths.size());
  append<uint64_t>(bytes, lengths.size() + 1);
  int64_t offset = 0;
  std::string offsets, starts;
  append<int64_t>(starts, 0);
  for (size_t i = 0; i < lengths.size(); ++i) {
    append<int32_t>(bytes, lengths[i]);
    append<int64_t>(offsets, offset);
    append<int64_t>(starts, static_cast<int64_t>(i) + 1);
    offset += lengths[i] * id_bytes;
  }
  return bytes + offsets + starts;
}

inline std::vector<int> counting(int first, int count) {
  std::vector<int> ids;
  for (int i = 0; i < count; ++i) ids.push_back(first + i);
  return ids;
}

// The message of the exception of type E that f throws, or "" when it throws none.
template <class E, class F>
std::string message_of(F f) {
  try {
    f();
  } catch (const E& error) {
    return error.what();
  }
  return "";
}

}  // namespace trireme::shard_files
