// The oracles. What needs other ranks is defined for a rank that is alone, where all of it is a copy;
// tests/ops/ranks checks more ranks against what the placements mean.
#include <cstring>

#include "base/error.h"
#include "ops/collectives/collectives.h"

namespace trireme {
namespace {

void copy_alone(const OpSig& sig, const AxisAttrs& on, const Operands& operands) {
  CHECK(on.ranks == 1, "the oracle of {} has no other ranks", sig.kind);
  std::memcpy(operands.outputs[0], operands.inputs[0], static_cast<size_t>(bytes_of(sig.inputs[0])));
}

}  // namespace

void all_gather_reference(const OpSig& sig, const Operands& operands) {
  copy_alone(sig, unpack_attrs<GatherAttrs>(sig.attrs).on, operands);
}

void reduce_scatter_reference(const OpSig& sig, const Operands& operands) {
  copy_alone(sig, unpack_attrs<SliceAttrs>(sig.attrs).on, operands);
}

void all_reduce_reference(const OpSig& sig, const Operands& operands) {
  copy_alone(sig, unpack_attrs<AxisAttrs>(sig.attrs), operands);
}

// Element by element: rows are counted, a dim's coordinate is taken apart from the others'.
void slice_reference(const OpSig& sig, const Operands& operands) {
  const auto a = unpack_attrs<SliceAttrs>(sig.attrs);
  const Shape &whole = sig.inputs[0].shape, &slice = sig.outputs[0].shape;
  const auto element = static_cast<size_t>(size_of(sig.inputs[0].dtype));
  const auto dim = static_cast<size_t>(a.dim);
  int64_t stride = 1;  // of the dim
  for (size_t i = dim + 1; i < slice.size(); ++i) stride *= slice[i];
  for (int64_t i = 0; i < count(slice); ++i) {
    int64_t from = a.on.rank * count(slice) + i;
    if (a.to == "shard") {
      const int64_t before = i / (stride * slice[dim]), here = i / stride % slice[dim];
      from = (before * whole[dim] + a.on.rank * slice[dim] + here) * stride + i % stride;
    }
    std::memcpy(operands.out<std::byte>(0) + static_cast<size_t>(i) * element,
                operands.in<std::byte>(0) + static_cast<size_t>(from) * element, element);
  }
}

}  // namespace trireme
