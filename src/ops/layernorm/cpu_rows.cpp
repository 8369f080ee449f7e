// Rows of norms on threads.
#include "ops/layernorm/cpu_rows.h"

#include "device/cpu/parallel.h"
#include "ops/layernorm/norm.h"

namespace trireme {
namespace {

const void* after(const void* p, int64_t bytes) {
  return p == nullptr ? nullptr : static_cast<const std::byte*>(p) + bytes;
}
void* after(void* p, int64_t bytes) { return p == nullptr ? nullptr : static_cast<std::byte*>(p) + bytes; }
template <class T>
T* element(T* p, int64_t i) {
  return p == nullptr ? nullptr : p + i;
}

}  // namespace

NormKernels norm_kernels(NormKind kind, DType dtype, CpuIsa isa) {
  if (isa >= CpuIsa::avx512_bf16) return norm_kernels_avx512_bf16(kind, dtype);
  if (isa >= CpuIsa::avx512) return norm_kernels_avx512(kind, dtype);
  if (isa >= CpuIsa::avx2) return norm_kernels_avx2(kind, dtype);
  return norm_kernels_baseline(kind, dtype);
}

void norm_forward_rows(const NormKernels& kernels, DType dtype, int threads, const NormForward& call) {
  constexpr int64_t kGrain = 8;  // rows
  parallel_for(threads, call.rows, kGrain, [&](int64_t begin, int64_t end) {
    const int64_t at = begin * call.width * size_of(dtype);
    NormForward part = call;
    part.x = after(call.x, at);
    part.addend = after(call.addend, at);
    part.sum = after(call.sum, at);
    part.y = after(call.y, at);
    part.mean = element(call.mean, begin);
    part.rstd = element(call.rstd, begin);
    part.rows = end - begin;
    kernels.forward(part);
  });
}

void norm_backward_rows(const NormKernels& kernels, DType dtype, int threads, const NormBackward& call,
                        float* scratch) {
  const int64_t chunk_rows = norm_chunk_rows(call.rows), chunks = norm_chunks(call.rows);
  float* bias_parts = call.dbias != nullptr ? scratch + chunks * call.width : nullptr;
  parallel_for(threads, chunks, 1, [&](int64_t begin, int64_t end) {
    for (int64_t chunk = begin; chunk < end; ++chunk) {
      const int64_t row = chunk * chunk_rows, at = row * call.width * size_of(dtype);
      NormBackward part = call;
      part.x = after(call.x, at);
      part.dy = after(call.dy, at);
      part.residual = after(call.residual, at);
      part.dx = after(call.dx, at);
      part.mean = element(call.mean, row);
      part.rstd = element(call.rstd, row);
      part.dweight = scratch + chunk * call.width;
      part.dbias = element(bias_parts, chunk * call.width);
      part.rows = std::min(chunk_rows, call.rows - row);
      kernels.backward(part);
    }
  });
  constexpr int64_t kGrain = 256;  // columns
  parallel_for(threads, call.width, kGrain, [&](int64_t begin, int64_t end) {
    kernels.add_chunks(scratch + begin, chunks, call.width, call.dweight + begin, end - begin);
    if (call.dbias != nullptr)
      kernels.add_chunks(bias_parts + begin, chunks, call.width, call.dbias + begin, end - begin);
  });
}

CpuKernel prepare_norm(const OpSig& sig, const CpuContext& context, NormKind kind, NormInput input) {
  const bool adds = input == NormInput::sum, layer = kind == NormKind::layer;
  const size_t weight = adds ? 2 : 1, y = adds ? 1 : 0, rstd = y + (layer ? 2 : 1);
  const DType dtype = sig.inputs[0].dtype;
  const int64_t width = count(sig.inputs[weight].shape), rows = count(sig.inputs[0].shape) / width;
  const auto eps = static_cast<float>(unpack_attrs<NormAttrs>(sig.attrs).eps);
  const NormKernels kernels = norm_kernels(kind, dtype, context.isa);
  return [=, threads = context.threads](const Operands& o) {
    norm_forward_rows(kernels, dtype, threads,
                      {.x = o.inputs[0],
                       .addend = adds ? o.inputs[1] : nullptr,
                       .sum = adds ? o.outputs[0] : nullptr,
                       .weight = o.inputs[weight],
                       .bias = layer ? o.inputs[weight + 1] : nullptr,
                       .y = o.outputs[y],
                       .mean = layer ? o.out<float>(y + 1) : nullptr,
                       .rstd = o.out<float>(rstd),
                       .rows = rows,
                       .width = width,
                       .eps = eps});
  };
}

CpuKernel prepare_norm_grad(const OpSig& sig, const CpuContext& context, NormKind kind) {
  const bool layer = kind == NormKind::layer;
  const size_t rstd = layer ? 3 : 2;
  const DType dtype = sig.inputs[0].dtype;
  const int64_t width = count(sig.inputs[1].shape), rows = count(sig.inputs[0].shape) / width;
  const NormKernels kernels = norm_kernels(kind, dtype, context.isa);
  return [=, threads = context.threads](const Operands& o) {
    norm_backward_rows(kernels, dtype, threads,
                       {.x = o.inputs[0],
                        .weight = o.inputs[1],
                        .mean = layer ? o.in<float>(2) : nullptr,
                        .rstd = o.in<float>(rstd),
                        .dy = o.inputs[rstd + 1],
                        .residual = o.inputs[rstd + 2],
                        .dx = o.outputs[0],
                        .dweight = o.out<float>(1),
                        .dbias = layer ? o.out<float>(2) : nullptr,
                        .rows = rows,
                        .width = width},
                       reinterpret_cast<float*>(o.scratch));
  };
}

}  // namespace trireme
