// What calibration measures: signatures of ops, of sizes that models have. Products, attention, experts and
// the head lie on grids of their sizes; what moves memory is taken from the Programs of small models of every
// family.
#pragma once
#include <vector>

#include "base/dtype.h"
#include "ops/op.h"

namespace trireme {

enum class Extent : uint8_t { quick, full };  // quick: coarser grids, for a first look and for tests

struct OpListOptions {
  DType compute = DType::bf16;
  Extent extent = Extent::full;
  int threads = 1;  // of a rank
};

// Those of grids: "linear", "attention", ....
std::vector<OpSig> grid_ops(const OpListOptions& options);
// Those of Programs that are on no grid and talk to no other rank.
std::vector<OpSig> program_ops(const OpListOptions& options);

// Whether the op lies on a grid: its time is more than that of the bytes that it moves.
bool on_grid(const OpSig& sig);

}  // namespace trireme
