// What the cpu.cpp of the three norm folders share: norms over all rows of a call, shared out among threads,
// and the order of a norm's operands.
#pragma once
#include "device/cpu/kernels.h"
#include "ops/layernorm/cpu_kernels.h"

namespace trireme {

// `call` has the pointers of the first row and the number of all rows.
void norm_forward_rows(const NormKernels& kernels, DType dtype, int threads, const NormForward& call);

// Adds to `dweight` and `dbias` of `call`; `scratch` has norm_chunks(rows) * width floats, twice that with
// dbias.
void norm_backward_rows(const NormKernels& kernels, DType dtype, int threads, const NormBackward& call,
                        float* scratch);

// Inputs x, [addend], weight, [bias]; outputs [sum], y, [mean], rstd. Bias and mean are of layernorm alone,
// addend and sum of the norms that add first.
enum class NormInput : uint8_t { one, sum };
CpuKernel prepare_norm(const OpSig& sig, const CpuContext& context, NormKind kind, NormInput input);

// Inputs x, weight, [mean], rstd, dy, residual; outputs dx, dweight, [dbias].
CpuKernel prepare_norm_grad(const OpSig& sig, const CpuContext& context, NormKind kind);

}  // namespace trireme
