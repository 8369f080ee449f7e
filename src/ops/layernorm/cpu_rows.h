// Norms over all rows of a call, shared out among threads: what the cpu.cpp of the three norm folders call.
#pragma once
#include "device/cpu/kernel.h"
#include "ops/layernorm/cpu_kernels.h"

namespace trireme {

// `call` has the pointers of the first row and the number of all rows.
void norm_forward_rows(const NormKernels& kernels, DType dtype, int threads, const NormForward& call);

// Adds to `dweight` and `dbias` of `call`; `scratch` has norm_chunks(rows) * width floats, twice that with
// dbias.
void norm_backward_rows(const NormKernels& kernels, DType dtype, int threads, const NormBackward& call,
                        float* scratch);

}  // namespace trireme
