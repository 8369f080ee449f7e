#include "train/context_cut.h"

namespace trireme {

std::vector<std::pair<int64_t, int64_t>> rows_of(int64_t length, int64_t ranks, int64_t rank, bool zigzag) {
  if (!zigzag) return {{rank * (length / ranks), length / ranks}};
  const int64_t chunk = length / (2 * ranks);
  return {{rank * chunk, chunk}, {(2 * ranks - 1 - rank) * chunk, chunk}};
}

}  // namespace trireme
