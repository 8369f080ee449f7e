// Fills, and conversion between doubles and bytes.
#include "ops/harness/values.h"

#include <cmath>
#include <cstring>

#include "base/error.h"
#include "base/random.h"

namespace trireme {
namespace {

template <class T>
void put(std::byte* to, int64_t i, T x) {
  std::memcpy(to + i * static_cast<int64_t>(sizeof(T)), &x, sizeof(T));
}

template <class T>
T get(const std::byte* from, int64_t i) {
  T x;
  std::memcpy(&x, from + i * static_cast<int64_t>(sizeof(T)), sizeof(T));
  return x;
}

// The start of the document that each of the [.., T] positions belongs to; documents of 1 to T/2 tokens.
Values document_starts(const RandomStream& random, const Shape& shape) {
  const int64_t n = count(shape), T = shape.back();
  Values starts(static_cast<size_t>(n));
  int64_t start = 0;
  for (int64_t i = 0; i < n; ++i) {
    const int64_t t = i % T;
    const auto length = static_cast<uint64_t>(std::max<int64_t>(1, T / 4));
    if (t == 0) start = 0;
    if (t != 0 && random.bits(static_cast<uint64_t>(i)) % length == 0) start = t;
    starts[static_cast<size_t>(i)] = static_cast<double>(start);
  }
  return starts;
}

double one_value(const InputFill& fill, const RandomStream& random, uint64_t i) {
  if (fill.kind == InputFill::Kind::ids) {
    const auto limit = static_cast<uint64_t>(std::max<int64_t>(1, fill.limit));
    if (fill.ignore && random.bits(2 * i + 1) % 8 == 0) return -1;
    const auto id = static_cast<double>(random.bits(2 * i) % limit);
    return fill.further && random.bits(2 * i + 1) % 8 < 4 ? -2 - id : id;
  }
  const double normal = random.normal(i) * fill.scale;
  if (fill.kind == InputFill::Kind::positive) return std::abs(normal) + 0.05 * fill.scale;
  return normal;
}

}  // namespace

double rounded(double x, DType dtype) {
  switch (dtype) {
    case DType::f32:
      return static_cast<float>(x);
    case DType::bf16:
      return to_float(to_bf16(static_cast<float>(x)));
    default:
      return x;
  }
}

Values random_values(const InputFill& fill, const TensorType& type, std::string_view name) {
  const RandomStream random(1, name);
  if (fill.kind == InputFill::Kind::doc_starts) return document_starts(random, type.shape);
  if (fill.kind == InputFill::Kind::positions) {
    Values values = document_starts(random, type.shape);
    for (size_t i = 0; i < values.size(); ++i) {
      values[i] = static_cast<double>(i % static_cast<size_t>(type.shape.back())) - values[i];
      if (fill.limit > 0) values[i] = std::fmod(values[i], static_cast<double>(fill.limit));
    }
    return values;
  }
  Values values(static_cast<size_t>(count(type.shape)));
  for (size_t i = 0; i < values.size(); ++i) values[i] = rounded(one_value(fill, random, i), type.dtype);
  return values;
}

void encode(const Values& values, DType dtype, std::byte* to) {
  for (size_t k = 0; k < values.size(); ++k) {
    const auto i = static_cast<int64_t>(k);
    switch (dtype) {
      case DType::f32:
        put(to, i, static_cast<float>(values[k]));
        break;
      case DType::bf16:
        put(to, i, to_bf16(static_cast<float>(values[k])));
        break;
      case DType::f64:
        put(to, i, values[k]);
        break;
      case DType::i32:
        put(to, i, static_cast<int32_t>(values[k]));
        break;
      case DType::u8:
        put(to, i, static_cast<uint8_t>(values[k]));
        break;
    }
  }
}

Values decode(const std::byte* from, DType dtype, int64_t n) {
  Values values(static_cast<size_t>(n));
  for (int64_t i = 0; i < n; ++i) {
    double& x = values[static_cast<size_t>(i)];
    switch (dtype) {
      case DType::f32:
        x = get<float>(from, i);
        break;
      case DType::bf16:
        x = to_float(get<bf16>(from, i));
        break;
      case DType::f64:
        x = get<double>(from, i);
        break;
      case DType::i32:
        x = get<int32_t>(from, i);
        break;
      case DType::u8:
        x = get<uint8_t>(from, i);
        break;
    }
  }
  return values;
}

}  // namespace trireme
