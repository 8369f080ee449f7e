// What a kernel's time is made of: the matrix products inside an op, and how long one takes on a device whose
// units work on tiles of its result in waves.
#pragma once
#include <vector>

#include "hardware/hardware.h"
#include "ops/op.h"

namespace trireme {

// result[rows,columns] = sum over inner, `times` of them.
struct ProductShape {
  int64_t rows = 0, columns = 0, inner = 0;
  int64_t times = 1;
  bool operator==(const ProductShape&) const = default;
};

// Empty for ops that are no matrix products, attention among them.
std::vector<ProductShape> products_of(const OpSig& sig);

// Of the peak, what is left when the last wave of tiles leaves units idle, the edges of tiles hang over and
// each tile is filled and drained: of (0, 1]. The kernel with the best of some sizes of tiles is taken;
// smaller ones reach less.
double tile_share(const KernelModel& kernels, const ProductShape& shape);

}  // namespace trireme
