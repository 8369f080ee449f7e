// add_layernorm and add_rmsnorm on the CPU, by the row loops of the layernorm folder.
#include "device/cpu/kernels.h"
#include "ops/layernorm/cpu_rows.h"
#include "ops/layernorm/norm.h"

namespace trireme {

CpuKernel prepare_add_layernorm(const OpSig& sig, const CpuContext& context) {
  const DType dtype = sig.inputs[0].dtype;
  const int64_t width = count(sig.inputs[2].shape), rows = count(sig.inputs[0].shape) / width;
  const auto eps = static_cast<float>(unpack_attrs<NormAttrs>(sig.attrs).eps);
  const NormKernels kernels = norm_kernels(NormKind::layer, dtype, context.isa);
  return [=, threads = context.threads](const Operands& o) {
    norm_forward_rows(kernels, dtype, threads,
                      {.x = o.inputs[0],
                       .addend = o.inputs[1],
                       .sum = o.outputs[0],
                       .weight = o.inputs[2],
                       .bias = o.inputs[3],
                       .y = o.outputs[1],
                       .mean = o.out<float>(2),
                       .rstd = o.out<float>(3),
                       .rows = rows,
                       .width = width,
                       .eps = eps});
  };
}

CpuKernel prepare_add_rmsnorm(const OpSig& sig, const CpuContext& context) {
  const DType dtype = sig.inputs[0].dtype;
  const int64_t width = count(sig.inputs[2].shape), rows = count(sig.inputs[0].shape) / width;
  const auto eps = static_cast<float>(unpack_attrs<NormAttrs>(sig.attrs).eps);
  const NormKernels kernels = norm_kernels(NormKind::rms, dtype, context.isa);
  return [=, threads = context.threads](const Operands& o) {
    norm_forward_rows(kernels, dtype, threads,
                      {.x = o.inputs[0],
                       .addend = o.inputs[1],
                       .sum = o.outputs[0],
                       .weight = o.inputs[2],
                       .bias = nullptr,
                       .y = o.outputs[1],
                       .mean = nullptr,
                       .rstd = o.out<float>(2),
                       .rows = rows,
                       .width = width,
                       .eps = eps});
  };
}

}  // namespace trireme
