// layernorm and layernorm_grad on the CPU.
#include "device/cpu/kernels.h"
#include "ops/layernorm/cpu_rows.h"
#include "ops/layernorm/norm.h"

namespace trireme {

CpuKernel prepare_layernorm(const OpSig& sig, const CpuContext& context) {
  const DType dtype = sig.inputs[0].dtype;
  const int64_t width = count(sig.inputs[1].shape), rows = count(sig.inputs[0].shape) / width;
  const auto eps = static_cast<float>(unpack_attrs<NormAttrs>(sig.attrs).eps);
  const NormKernels kernels = norm_kernels(NormKind::layer, dtype, context.isa);
  return [=, threads = context.threads](const Operands& o) {
    norm_forward_rows(kernels, dtype, threads,
                      {.x = o.inputs[0],
                       .addend = nullptr,
                       .sum = nullptr,
                       .weight = o.inputs[1],
                       .bias = o.inputs[2],
                       .y = o.outputs[0],
                       .mean = o.out<float>(1),
                       .rstd = o.out<float>(2),
                       .rows = rows,
                       .width = width,
                       .eps = eps});
  };
}

CpuKernel prepare_layernorm_grad(const OpSig& sig, const CpuContext& context) {
  const DType dtype = sig.inputs[0].dtype;
  const int64_t width = count(sig.inputs[1].shape), rows = count(sig.inputs[0].shape) / width;
  const NormKernels kernels = norm_kernels(NormKind::layer, dtype, context.isa);
  return [=, threads = context.threads](const Operands& o) {
    norm_backward_rows(kernels, dtype, threads,
                       {.x = o.inputs[0],
                        .weight = o.inputs[1],
                        .mean = o.in<float>(2),
                        .rstd = o.in<float>(3),
                        .dy = o.inputs[4],
                        .residual = o.inputs[5],
                        .dx = o.outputs[0],
                        .dweight = o.out<float>(1),
                        .dbias = o.out<float>(2),
                        .rows = rows,
                        .width = width},
                       reinterpret_cast<float*>(o.scratch));
  };
}

}  // namespace trireme
