// Products with a weight W[O,I]: linear (y = x W^T + b), the two parts of its gradient, and pack, which lays
// a weight out for them once per step; of experts' weights [E,O,I], one after another.
#pragma once
#include <string>
#include <vector>

#include "ops/op.h"

namespace trireme {

struct PackAttrs {
  std::string use = "forward";  // forward: read by linear; input_grad: read by linear_grad_input
  template <class F>
  void fields(F&& f) {
    f("use", use);
  }
};

// linear, linear_grad_input
struct LinearAttrs {
  int64_t in = 0, out = 0;
  template <class F>
  void fields(F&& f) {
    f("in", in);
    f("out", out);
  }
};

struct LinearGradWeightAttrs {
  int64_t in = 0, out = 0;
  int64_t bias = 0;  // 1: dbias is there too
  template <class F>
  void fields(F&& f) {
    f("in", in);
    f("out", out);
    f("bias", bias);
  }
};

// Elements of the packed form of a weight [out,in]: the inner dim of the product (in forward, out for
// input_grad) is rounded up to a multiple of 32 and the other to one of 64. The same on every machine; what
// lies inside is the backend's own affair.
int64_t packed_count(int64_t out, int64_t in, const std::string& use);

// Upper bound of the scratch of one product with inner dim k, in bytes: a multiple of 64.
int64_t product_scratch_bytes(int64_t k, int threads);

// The weight operand of a product: plain [out,in], or packed for `use`.
bool is_weight(const TensorType& weight, const LinearAttrs& attrs, const std::string& use);
inline bool is_packed(const TensorType& weight) { return weight.shape.size() == 1; }

// The same of a weight gradient, with a block of x laid out for the product.
int64_t weight_gradient_scratch_bytes(int64_t rows, int64_t in, DType dtype, int threads);

// Products whose number of rows is known only when they run go in blocks of so many and a padded rest, where
// there is no kernel for any number (device/cpu/row_product.h).
inline constexpr int64_t kRowBlock = 128, kGradientRowBlock = 256;
// Upper bounds of their scratch, in bytes: of rows times a weight with inner dim k and n outputs, and of a
// weight's gradient over at most `rows` rows.
int64_t row_product_scratch_bytes(int64_t k, int64_t n, DType dtype, int threads);
int64_t row_gradient_scratch_bytes(int64_t rows, int64_t out, int64_t in, DType dtype, int threads);

// Weight gradients are summed over this many rows of x at a time.
inline constexpr int64_t kWeightGradRows = 1024;

}  // namespace trireme
