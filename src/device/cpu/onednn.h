// Matrix products by oneDNN behind plain structs: C = A B (+ bias), or C += A B in f32. Kernels make a
// Product when they are prepared and run it on pointers. No oneDNN type leaves onednn.cpp, and oneDNN's
// scratch lies in the caller's memory; where an older instruction set makes it ask for more than the planned
// bound, the Product owns the scratch.
#pragma once
#include <cstddef>
#include <cstdint>
#include <memory>

#include "base/dtype.h"

namespace trireme {

// How a matrix lies in memory. `packed` is the blocked layout of `Repack`, for B alone.
enum class MatrixLayout : uint8_t { row_major, transposed, packed };

struct ProductSpec {
  int64_t m = 0, n = 0, k = 0;  // A[m,k] B[k,n] C[m,n]; C is row-major
  DType in = DType::f32;        // of A, B and the bias: f32 or bf16
  DType out = DType::f32;
  MatrixLayout a = MatrixLayout::row_major;
  MatrixLayout b = MatrixLayout::row_major;
  bool accumulate = false;  // C += instead of C =
  bool bias = false;        // adds bias[n] to every row
  int threads = 1;
};

struct ProductOperands {
  const void* a = nullptr;
  const void* b = nullptr;
  void* c = nullptr;
  const void* bias = nullptr;
  std::byte* scratch = nullptr;  // product_scratch_bytes(k, threads) of ops/linear/linear.h, 64-byte aligned
};

// Whether this machine's products read packed B faster than plain; where not, nobody packs.
bool products_read_packed(DType in);

// Results are the same on every number of threads: C is cut along m and n alone. Not to be run by two
// threads at once.
class Product {
 public:
  explicit Product(const ProductSpec& spec);
  Product(Product&&) noexcept;
  Product& operator=(Product&&) noexcept;
  ~Product();
  void run(const ProductOperands& operands) const;
  const char* implementation() const;  // oneDNN's name of it

 private:
  struct State;
  std::unique_ptr<State> state_;
};

// Copies a plain B[k,n] into the packed layout.
struct RepackSpec {
  int64_t k = 0, n = 0;
  DType dtype = DType::f32;
  MatrixLayout from = MatrixLayout::row_major;
  int threads = 1;
};

class Repack {
 public:
  explicit Repack(const RepackSpec& spec);
  Repack(Repack&&) noexcept;
  Repack& operator=(Repack&&) noexcept;
  ~Repack();
  void run(const void* from, void* to) const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace trireme
