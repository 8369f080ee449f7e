// Where the scratch of experts and experts_grad lies, and the size of blocks.
#include <algorithm>

#include "ops/experts/experts.h"
#include "ops/linear/linear.h"
#include "ops/scratch.h"

namespace trireme {

int64_t experts_blocks(int64_t rows) {
  if (rows == 0) return 0;
  return std::max<int64_t>(1, (rows + kWeightGradRows / 2) / kWeightGradRows);
}

namespace {

class Carver {
 public:
  int64_t take(int64_t bytes) {
    const int64_t at = at_;
    at_ += scratch_piece(bytes);
    return at;
  }
  int64_t used() const { return at_; }

 private:
  int64_t at_ = 0;
};

int64_t block_rows(const ExpertsSizes& s) { return std::min(s.room, kExpertRows); }

int64_t forward_product_bytes(const ExpertsSizes& s, int threads) {
  return std::max(row_product_scratch_bytes(s.width, 2 * s.ffn, s.dtype, threads),
                  row_product_scratch_bytes(s.ffn, s.width, s.dtype, threads));
}

// What both kernels need.
void carve_tokens(const ExpertsSizes& s, ExpertsSpace& space, Carver& carver) {
  space.slot_of_choice = carver.take(s.choices() * 4);
  space.choice_of_slot = carver.take(s.choices() * 4);
  space.starts = carver.take(s.experts * 4);
  space.slots = carver.take(s.choices() * s.row_bytes());
  space.slot_weights = carver.take(s.choices() * 4);
  space.source = carver.take(s.room * 4);
  const int64_t block = block_rows(s);
  space.outputs = carver.take(block * s.row_bytes());
  space.gated = carver.take(block * s.gated_bytes());
  space.arrived_weights = carver.take(s.room * 4);
  if (s.ranks > 1) space.arrived = carver.take(s.room * s.row_bytes());
  if (s.ranks == 1 || s.rounds) space.rows = carver.take(block * s.row_bytes());
  if (s.rounds) space.hidden = carver.take(block * 2 * s.gated_bytes());
}

}  // namespace

ExpertsSpace experts_space(const ExpertsSizes& s, int threads) {
  ExpertsSpace space;
  Carver carver;
  carve_tokens(s, space, carver);
  space.product = carver.take(forward_product_bytes(s, threads));
  space.bytes = carver.used();
  return space;
}

ExpertsSpace experts_grad_space(const ExpertsSizes& s, int threads) {
  ExpertsSpace space;
  Carver carver;
  carve_tokens(s, space, carver);
  const int64_t block = block_rows(s);
  space.dgated = carver.take(block * s.gated_bytes());
  space.dhidden = carver.take(block * 2 * s.gated_bytes());
  if (s.rounds) {
    space.x_slots = carver.take(s.choices() * s.row_bytes());
    space.x_arrived = carver.take(s.room * s.row_bytes());
  }
  space.product = carver.take(std::max(
      {forward_product_bytes(s, threads), row_product_scratch_bytes(s.width, s.ffn, s.dtype, threads),
       row_product_scratch_bytes(2 * s.ffn, s.width, s.dtype, threads),
       row_gradient_scratch_bytes(block, s.width, s.ffn, s.dtype, threads),
       row_gradient_scratch_bytes(block, 2 * s.ffn, s.width, s.dtype, threads)}));
  space.bytes = carver.used();
  return space;
}

}  // namespace trireme
