// The rotation of one token's heads: one version per instruction set.
#pragma once
#include <cstdint>

#include "base/dtype.h"

namespace trireme {

enum class RotaryLayout : uint8_t { half, interleaved };

// x and y hold `heads` heads of `dim` elements, which lie one behind the other; y may be x. `turn` is the row
// of the position: layout half, dim/2 cosines then dim/2 sines; interleaved, dim cosines (each twice), then
// dim sines, -sin and +sin in turn. The inverse's sign is in the sines.
using RopeRow = void (*)(const void* x, void* y, const float* turn, int64_t heads, int64_t dim);

RopeRow rope_row_baseline(RotaryLayout layout, DType dtype);
RopeRow rope_row_avx2(RotaryLayout layout, DType dtype);
RopeRow rope_row_avx512(RotaryLayout layout, DType dtype);
RopeRow rope_row_avx512_bf16(RotaryLayout layout, DType dtype);

}  // namespace trireme
