// Linear layers on the CPU's products; the bias gradient is a sum of columns of its own.
#include <memory>

#include "device/cpu/kernels.h"
#include "device/cpu/parallel.h"
#include "device/cpu/weight_product.h"
#include "ops/linear/column_sums.h"
#include "ops/linear/linear.h"

namespace trireme {
namespace {

int64_t rows_of(const TensorType& type) { return count(type.shape) / type.shape.back(); }

ColumnSums column_sums(CpuIsa isa) {
  if (isa >= CpuIsa::avx512) return column_sums_avx512();
  return isa >= CpuIsa::avx2 ? column_sums_avx2() : column_sums_baseline();
}

std::shared_ptr<WeightProduct> make_product(const OpSig& sig, WeightUse use, const CpuContext& context) {
  const auto attrs = unpack_attrs<LinearAttrs>(sig.attrs);
  const WeightProductSpec spec{.weight = {attrs.out, attrs.in, sig.inputs[1].dtype, use},
                               .rows = rows_of(sig.inputs[0]),
                               .packed = is_packed(sig.inputs[1]),
                               .bias = sig.inputs.size() > 2 && present(sig.inputs[2]),
                               .out = sig.outputs[0].dtype};
  // std::function copies its target: the copies share the primitives.
  return std::make_shared<WeightProduct>(spec, context);
}

}  // namespace

void sum_columns(const CpuContext& context, const TensorType& type, const void* dy, float* sum) {
  const ColumnSums sums = column_sums(context.isa);
  const int64_t rows = rows_of(type), width = type.shape.back();
  constexpr int64_t kColumns = 64;  // that a kernel sums at once
  parallel_for(context.threads, width, kColumns, [&](int64_t begin, int64_t end) {
    if (type.dtype == DType::f32)
      sums.of_f32(static_cast<const float*>(dy), rows, width, begin, end, sum);
    else
      sums.of_bf16(static_cast<const bf16*>(dy), rows, width, begin, end, sum);
  });
}

CpuKernel prepare_pack(const OpSig& sig, const CpuContext& context) {
  const TensorType& weight = sig.inputs[0];
  const size_t dims = weight.shape.size();
  const bool forward = unpack_attrs<PackAttrs>(sig.attrs).use == "forward";
  const WeightSpec spec{weight.shape[dims - 2], weight.shape[dims - 1], weight.dtype,
                        forward ? WeightUse::forward : WeightUse::input_grad};
  const auto packer = std::make_shared<WeightPacker>(spec, context);
  const int64_t weights = dims == 3 ? weight.shape[0] : 1;
  const int64_t plain_bytes = bytes_of(weight) / weights, packed_bytes = bytes_of(sig.outputs[0]) / weights;
  return [=](const Operands& operands) {
    for (int64_t w = 0; w < weights; ++w)
      packer->run(operands.in<std::byte>(0) + w * plain_bytes, operands.out<std::byte>(0) + w * packed_bytes);
  };
}

CpuKernel prepare_linear(const OpSig& sig, const CpuContext& context) {
  const auto product = make_product(sig, WeightUse::forward, context);
  return [product](const Operands& operands) {
    product->run({.a = operands.inputs[0],
                  .b = operands.inputs[1],
                  .c = operands.outputs[0],
                  .bias = operands.inputs.size() > 2 ? operands.inputs[2] : nullptr,
                  .scratch = operands.scratch});
  };
}

CpuKernel prepare_linear_grad_input(const OpSig& sig, const CpuContext& context) {
  const auto product = make_product(sig, WeightUse::input_grad, context);
  return [product](const Operands& operands) {
    product->run({.a = operands.inputs[0],
                  .b = operands.inputs[1],
                  .c = operands.outputs[0],
                  .scratch = operands.scratch});
  };
}

CpuKernel prepare_linear_grad_weight(const OpSig& sig, const CpuContext& context) {
  const auto attrs = unpack_attrs<LinearGradWeightAttrs>(sig.attrs);
  const auto gradient = std::make_shared<WeightGradient>(
      WeightGradientSpec{rows_of(sig.inputs[0]), attrs.out, attrs.in, sig.inputs[0].dtype}, context);
  return [=](const Operands& operands) {
    gradient->run(operands.inputs[1], operands.inputs[0], operands.out<float>(0), operands.scratch);
    if (operands.outputs.size() > 1 && operands.outputs[1] != nullptr)
      sum_columns(context, sig.inputs[1], operands.inputs[1], operands.out<float>(1));
  };
}

}  // namespace trireme
