// The row loops of all norms: one version per instruction set.
#pragma once
#include <cstdint>

#include "base/dtype.h"
#include "device/cpu/isa.h"

namespace trireme {

enum class NormKind : uint8_t { layer, rms };

// Pointers to the first of `rows` rows; x, addend, sum, weight, bias, y in the compute dtype.
struct NormForward {
  const void* x;
  const void* addend;  // null, or added to x first
  void* sum;           // x + addend, rounded: what is normalised; null without addend
  const void* weight;  // [width]
  const void* bias;    // [width] or null
  void* y;
  float* mean;  // [rows]; null for rms
  float* rstd;  // [rows]
  int64_t rows, width;
  float eps;
};

struct NormBackward {
  const void* x;
  const void* weight;
  const float* mean;  // null for rms
  const float* rstd;
  const void* dy;
  const void* residual;  // added to dx, or null
  void* dx;              // may be dy or residual
  float* dweight;        // [width] f32, overwritten with the sum over these rows
  float* dbias;          // likewise, or null
  int64_t rows, width;
};

struct NormKernels {
  void (*forward)(const NormForward& call);
  void (*backward)(const NormBackward& call);
  // sum[i] += the sum over chunks of parts[chunk * stride + i], i < n, in index order.
  void (*add_chunks)(const float* parts, int64_t chunks, int64_t stride, float* sum, int64_t n);
};

NormKernels norm_kernels(NormKind kind, DType dtype, CpuIsa isa);

NormKernels norm_kernels_baseline(NormKind kind, DType dtype);
NormKernels norm_kernels_avx2(NormKind kind, DType dtype);
NormKernels norm_kernels_avx512(NormKind kind, DType dtype);
NormKernels norm_kernels_avx512_bf16(NormKind kind, DType dtype);

}  // namespace trireme
