// The collectives on the CPU: the axis's communicator moves slices that lie one after another; where a
// tensor's do not, they go through scratch.
#include <cstring>

#include "comm/axis_comm.h"
#include "device/cpu/kernels.h"
#include "device/cpu/parallel_copy.h"
#include "ops/collectives/collectives.h"

namespace trireme {
namespace {

// Pieces of a slice: `piece` bytes each, at `piece * i` in the slice and at `stride * i` in the whole.
struct Strided {
  int64_t pieces = 0, piece = 0, stride = 0;

  Strided(const Slicing& slicing, int64_t ranks, DType dtype)
      : pieces(slicing.outer), piece(slicing.inner * size_of(dtype)), stride(piece * ranks) {}
  int64_t grain() const { return std::max<int64_t>(1, kCopyGrainBytes / std::max<int64_t>(1, piece)); }
};

// Out of the whole (where it has the slice's first piece) into a slice, and back.
void take(int threads, const Strided& s, const std::byte* whole, std::byte* slice) {
  parallel_for(threads, s.pieces, s.grain(), [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i)
      std::memcpy(slice + i * s.piece, whole + i * s.stride, static_cast<size_t>(s.piece));
  });
}
void put(int threads, const Strided& s, const std::byte* slice, std::byte* whole) {
  parallel_for(threads, s.pieces, s.grain(), [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i)
      std::memcpy(whole + i * s.stride, slice + i * s.piece, static_cast<size_t>(s.piece));
  });
}

CpuKernel copy_kernel(const OpSig& sig, const CpuContext& context) {
  return [bytes = bytes_of(sig.inputs[0]), threads = context.threads](const Operands& operands) {
    parallel_copy(threads, operands.in<std::byte>(0), operands.out<std::byte>(0), bytes);
  };
}

// What failure messages call it.
std::string work_name(const OpSig& sig, const AxisAttrs& on) { return sig.kind + " on " + on.axis; }

}  // namespace

CpuKernel prepare_all_gather(const OpSig& sig, const CpuContext& context) {
  const auto a = unpack_attrs<GatherAttrs>(sig.attrs);
  if (a.on.ranks == 1) return copy_kernel(sig, context);
  const Slicing slicing = slicing_of(a.from, a.dim, sig.inputs[0].shape);
  const Strided strided(slicing, a.on.ranks, sig.inputs[0].dtype);
  return [strided, bytes = bytes_of(sig.inputs[0]), ranks = a.on.ranks, threads = context.threads,
          what = work_name(sig, a.on)](const Operands& operands) {
    auto* whole = operands.out<std::byte>(0);
    std::byte* slices = strided.pieces == 1 ? whole : operands.scratch;
    operands.comm->ranks->all_gather(operands.inputs[0], slices, bytes, what);
    if (slices == whole) return;
    for (int64_t r = 0; r < ranks; ++r) put(threads, strided, slices + r * bytes, whole + r * strided.piece);
  };
}

CpuKernel prepare_slice(const OpSig& sig, const CpuContext& context) {
  const auto a = unpack_attrs<SliceAttrs>(sig.attrs);
  const Slicing slicing = slicing_of(a.to, a.dim, sig.outputs[0].shape);
  const Strided strided(slicing, a.on.ranks, sig.inputs[0].dtype);
  return [strided, rank = a.on.rank, threads = context.threads](const Operands& operands) {
    const auto* first = operands.in<std::byte>(0) + rank * strided.piece;
    if (strided.pieces == 1)
      parallel_copy(threads, first, operands.out<std::byte>(0), strided.piece);
    else
      take(threads, strided, first, operands.out<std::byte>(0));
  };
}

CpuKernel prepare_reduce_scatter(const OpSig& sig, const CpuContext& context) {
  const auto a = unpack_attrs<SliceAttrs>(sig.attrs);
  if (a.on.ranks == 1) return copy_kernel(sig, context);
  const DType dtype = sig.inputs[0].dtype;
  const Strided strided(slicing_of(a.to, a.dim, sig.outputs[0].shape), a.on.ranks, dtype);
  return
      [strided, dtype, n = count(sig.outputs[0].shape), bytes = bytes_of(sig.outputs[0]), ranks = a.on.ranks,
       threads = context.threads, what = work_name(sig, a.on)](const Operands& operands) {
        const auto* whole = operands.in<std::byte>(0);
        const std::byte* slices = strided.pieces == 1 ? whole : operands.scratch;
        if (slices != whole)
          for (int64_t r = 0; r < ranks; ++r)
            take(threads, strided, whole + r * strided.piece, operands.scratch + r * bytes);
        operands.comm->ranks->reduce_scatter(slices, operands.outputs[0], n, dtype, what);
      };
}

CpuKernel prepare_all_reduce(const OpSig& sig, const CpuContext& context) {
  const auto on = unpack_attrs<AxisAttrs>(sig.attrs);
  const DType dtype = sig.inputs[0].dtype;
  return [dtype, alone = on.ranks == 1, n = count(sig.inputs[0].shape), bytes = bytes_of(sig.inputs[0]),
          threads = context.threads, what = work_name(sig, on)](const Operands& operands) {
    parallel_copy(threads, operands.in<std::byte>(0), operands.out<std::byte>(0), bytes);
    if (!alone) operands.comm->ranks->all_reduce(operands.outputs[0], n, dtype, what);
  };
}

}  // namespace trireme
