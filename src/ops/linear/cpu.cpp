// Linear layers on oneDNN. Weights are read plain or as `pack` laid them out.
#include <cstring>
#include <memory>

#include "device/cpu/kernels.h"
#include "device/cpu/onednn.h"
#include "device/cpu/parallel.h"
#include "ops/linear/column_sums.h"
#include "ops/linear/linear.h"

namespace trireme {
namespace {

int64_t rows_of(const TensorType& type) { return count(type.shape) / type.shape.back(); }

// A packed operand of a machine that reads plain weights holds the plain weight.
MatrixLayout weight_layout(const TensorType& weight, MatrixLayout plain) {
  return is_packed(weight) && products_read_packed(weight.dtype) ? MatrixLayout::packed : plain;
}

ColumnSums column_sums(CpuIsa isa) {
  if (isa >= CpuIsa::avx512) return column_sums_avx512();
  return isa >= CpuIsa::avx2 ? column_sums_avx2() : column_sums_baseline();
}

// dW[O,I] += dY^T X, in blocks of rows that depend on the shape alone.
class WeightGradient {
 public:
  WeightGradient(const OpSig& sig, const CpuContext& context)
      : attrs_(unpack_attrs<LinearGradWeightAttrs>(sig.attrs)),
        dtype_(sig.inputs[0].dtype),
        rows_(rows_of(sig.inputs[0])),
        threads_(context.threads),
        sums_(column_sums(context.isa)),
        packs_(products_read_packed(dtype_)) {
    const int64_t block = std::min(rows_, kWeightGradRows), tail = rows_ % block;
    full_ = std::make_unique<Block>(block, attrs_, dtype_, packs_, threads_);
    if (tail != 0) tail_ = std::make_unique<Block>(tail, attrs_, dtype_, packs_, threads_);
  }

  void run(const Operands& operands) const {
    const auto *x = operands.in<std::byte>(0), *dy = operands.in<std::byte>(1);
    auto *dw = operands.out<float>(0), *db = operands.out<float>(1);
    for (int64_t row = 0; row < rows_; row += full_->rows) {
      const Block& block = rows_ - row < full_->rows ? *tail_ : *full_;
      const std::byte* b = x + row * attrs_.in * size_of(dtype_);
      std::byte* own = operands.scratch;
      if (packs_) {
        block.repack.run(b, operands.scratch);
        b = operands.scratch;
        own += packed_count(attrs_.in, block.rows, "forward") * size_of(dtype_);
      }
      block.product.run({.a = dy + row * attrs_.out * size_of(dtype_), .b = b, .c = dw, .scratch = own});
    }
    if (db != nullptr) add_bias(dy, db);
  }

 private:
  struct Block {
    Block(int64_t n, const LinearGradWeightAttrs& a, DType dtype, bool packs, int threads)
        : rows(n),
          product({.m = a.out,
                   .n = a.in,
                   .k = n,
                   .in = dtype,
                   .out = DType::f32,
                   .a = MatrixLayout::transposed,
                   .b = packs ? MatrixLayout::packed : MatrixLayout::row_major,
                   .accumulate = true,
                   .threads = threads}),
          repack({.k = n, .n = a.in, .dtype = dtype, .threads = threads}) {}
    int64_t rows;
    Product product;
    Repack repack;
  };

  void add_bias(const std::byte* dy, float* db) const {
    parallel_for(threads_, attrs_.out, 64, [&](int64_t begin, int64_t end) {
      if (dtype_ == DType::f32)
        sums_.of_f32(reinterpret_cast<const float*>(dy), rows_, attrs_.out, begin, end, db);
      else
        sums_.of_bf16(reinterpret_cast<const bf16*>(dy), rows_, attrs_.out, begin, end, db);
    });
  }

  LinearGradWeightAttrs attrs_;
  DType dtype_;
  int64_t rows_;
  int threads_;
  ColumnSums sums_;
  bool packs_;
  std::unique_ptr<Block> full_, tail_;
};

}  // namespace

CpuKernel prepare_pack(const OpSig& sig, const CpuContext& context) {
  const TensorType& weight = sig.inputs[0];
  if (!products_read_packed(weight.dtype)) {
    const size_t bytes = static_cast<size_t>(bytes_of(weight));
    return [bytes](const Operands& operands) { std::memcpy(operands.outputs[0], operands.inputs[0], bytes); };
  }
  const bool forward = unpack_attrs<PackAttrs>(sig.attrs).use == "forward";
  const int64_t out = weight.shape[0], in = weight.shape[1];
  // std::function copies its target: the copies share the primitive.
  const auto repack = std::make_shared<Repack>(
      RepackSpec{.k = forward ? in : out,
                 .n = forward ? out : in,
                 .dtype = weight.dtype,
                 .from = forward ? MatrixLayout::transposed : MatrixLayout::row_major,
                 .threads = context.threads});
  return [repack](const Operands& operands) { repack->run(operands.inputs[0], operands.outputs[0]); };
}

CpuKernel prepare_linear(const OpSig& sig, const CpuContext& context) {
  const auto attrs = unpack_attrs<LinearAttrs>(sig.attrs);
  const auto product =
      std::make_shared<Product>(ProductSpec{.m = rows_of(sig.inputs[0]),
                                            .n = attrs.out,
                                            .k = attrs.in,
                                            .in = sig.inputs[0].dtype,
                                            .out = sig.outputs[0].dtype,
                                            .b = weight_layout(sig.inputs[1], MatrixLayout::transposed),
                                            .bias = sig.inputs.size() > 2 && present(sig.inputs[2]),
                                            .threads = context.threads});
  return [product](const Operands& operands) {
    product->run({.a = operands.inputs[0],
                  .b = operands.inputs[1],
                  .c = operands.outputs[0],
                  .bias = operands.inputs.size() > 2 ? operands.inputs[2] : nullptr,
                  .scratch = operands.scratch});
  };
}

CpuKernel prepare_linear_grad_input(const OpSig& sig, const CpuContext& context) {
  const auto attrs = unpack_attrs<LinearAttrs>(sig.attrs);
  const auto product =
      std::make_shared<Product>(ProductSpec{.m = rows_of(sig.inputs[0]),
                                            .n = attrs.in,
                                            .k = attrs.out,
                                            .in = sig.inputs[0].dtype,
                                            .out = sig.outputs[0].dtype,
                                            .b = weight_layout(sig.inputs[1], MatrixLayout::row_major),
                                            .threads = context.threads});
  return [product](const Operands& operands) {
    product->run({.a = operands.inputs[0],
                  .b = operands.inputs[1],
                  .c = operands.outputs[0],
                  .scratch = operands.scratch});
  };
}

CpuKernel prepare_linear_grad_weight(const OpSig& sig, const CpuContext& context) {
  const auto gradient = std::make_shared<WeightGradient>(sig, context);
  return [gradient](const Operands& operands) { gradient->run(operands); };
}

}  // namespace trireme
