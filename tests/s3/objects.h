// What the S3 tests share: writing an object, bytes without a pattern, the text of a failure.
#pragma once
#include <string>

#include "base/error.h"
#include "base/random.h"
#include "io/store/byte_store.h"

namespace trireme::test {

inline void put(ByteStore& store, const std::string& path, const std::string& text) {
  const auto sink = store.create(path);
  sink->write(std::as_bytes(std::span(text)));
  sink->finish();
}

inline std::string random_bytes(size_t size) {
  const RandomStream random(11, "bytes");
  std::string text(size, '\0');
  for (size_t i = 0; i < size; i += 8) {
    const uint64_t bits = random.bits(i);
    for (size_t j = i; j < size && j < i + 8; ++j) text[j] = static_cast<char>(bits >> (8 * (j - i)));
  }
  return text;
}

template <class Call>
std::string failure(Call&& call) {
  try {
    call();
  } catch (const EnvError& error) {
    return error.what();
  }
  return "no failure";
}

}  // namespace trireme::test
