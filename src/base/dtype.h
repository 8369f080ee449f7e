// Element types of tensors, and bfloat16 as a storage type.
#pragma once
#include <bit>
#include <cstdint>
#include <optional>
#include <string_view>

namespace trireme {

enum class DType : uint8_t { f32, bf16, f64, i32, u8 };

int64_t size_of(DType dtype);                             // bytes per element
std::string_view name_of(DType dtype);                    // "f32", "bf16", ...
std::optional<DType> dtype_named(std::string_view name);  // the inverse

// Storage only: kernels widen to float, compute, and round to nearest even on the way back.
struct bf16 {
  uint16_t bits = 0;
};

inline float to_float(bf16 x) { return std::bit_cast<float>(static_cast<uint32_t>(x.bits) << 16); }
inline float to_float(float x) { return x; }

// Round to nearest, ties to even; NaN stays NaN (quiet).
inline bf16 to_bf16(float x) {
  const uint32_t u = std::bit_cast<uint32_t>(x);
  if ((u & 0x7fffffffu) > 0x7f800000u) return {static_cast<uint16_t>((u >> 16) | 0x40u)};
  return {static_cast<uint16_t>((u + 0x7fffu + ((u >> 16) & 1u)) >> 16)};
}

template <class T>
T from_float(float x);
template <>
inline float from_float<float>(float x) {
  return x;
}
template <>
inline bf16 from_float<bf16>(float x) {
  return to_bf16(x);
}

}  // namespace trireme
