// rmsnorm and rmsnorm_grad on the CPU, by the row loops of the layernorm folder.
#include "device/cpu/kernels.h"
#include "ops/layernorm/cpu_rows.h"
#include "ops/layernorm/norm.h"

namespace trireme {

CpuKernel prepare_rmsnorm(const OpSig& sig, const CpuContext& context) {
  const DType dtype = sig.inputs[0].dtype;
  const int64_t width = count(sig.inputs[1].shape), rows = count(sig.inputs[0].shape) / width;
  const auto eps = static_cast<float>(unpack_attrs<NormAttrs>(sig.attrs).eps);
  const NormKernels kernels = norm_kernels(NormKind::rms, dtype, context.isa);
  return [=, threads = context.threads](const Operands& o) {
    norm_forward_rows(kernels, dtype, threads,
                      {.x = o.inputs[0],
                       .addend = nullptr,
                       .sum = nullptr,
                       .weight = o.inputs[1],
                       .bias = nullptr,
                       .y = o.outputs[0],
                       .mean = nullptr,
                       .rstd = o.out<float>(1),
                       .rows = rows,
                       .width = width,
                       .eps = eps});
  };
}

CpuKernel prepare_rmsnorm_grad(const OpSig& sig, const CpuContext& context) {
  const DType dtype = sig.inputs[0].dtype;
  const int64_t width = count(sig.inputs[1].shape), rows = count(sig.inputs[0].shape) / width;
  const NormKernels kernels = norm_kernels(NormKind::rms, dtype, context.isa);
  return [=, threads = context.threads](const Operands& o) {
    norm_backward_rows(kernels, dtype, threads,
                       {.x = o.inputs[0],
                        .weight = o.inputs[1],
                        .mean = nullptr,
                        .rstd = o.in<float>(2),
                        .dy = o.inputs[3],
                        .residual = o.inputs[4],
                        .dx = o.outputs[0],
                        .dweight = o.out<float>(1),
                        .dbias = nullptr,
                        .rows = rows,
                        .width = width},
                       reinterpret_cast<float*>(o.scratch));
  };
}

}  // namespace trireme
