// The overlap of two boxes is a box; its rows, as long as both boxes have them in one piece, are the runs.
#include "io/checkpoint/box_runs.h"

#include <algorithm>

namespace trireme {
namespace {

// The overlap, cut into equal runs by its outer dims.
class Overlap {
 public:
  Overlap(const BoxPart& from, const BoxPart& to) : from_(from), to_(to) {
    const size_t dims = from.shape.size();
    begin_.resize(dims);
    shape_.resize(dims);
    for (size_t d = 0; d < dims; ++d) {
      begin_[d] = std::max(from.offset[d], to.offset[d]);
      const int64_t end = std::min(from.offset[d] + from.shape[d], to.offset[d] + to.shape[d]);
      shape_[d] = std::max(int64_t{0}, end - begin_[d]);
      empty_ = empty_ || shape_[d] == 0;
    }
    outer_ = dims;
    while (outer_ > 0) {
      --outer_;
      run_ *= shape_[outer_];
      if (shape_[outer_] != from.shape[outer_] || shape_[outer_] != to.shape[outer_]) break;
    }
    for (size_t d = 0; d < outer_; ++d) runs_ *= shape_[d];
    if (empty_) runs_ = 0;
  }

  int64_t runs() const { return runs_; }

  // Of the boxes, not of the parts.
  BoxRun run(int64_t number) const {
    BoxRun run{0, 0, run_};
    int64_t stride_from = 1, stride_to = 1;
    for (size_t d = shape_.size(); d-- > 0;) {
      int64_t index = 0;
      if (d < outer_) {
        index = number % shape_[d];
        number /= shape_[d];
      }
      run.from += (begin_[d] + index - from_.offset[d]) * stride_from;
      run.to += (begin_[d] + index - to_.offset[d]) * stride_to;
      stride_from *= from_.shape[d];
      stride_to *= to_.shape[d];
    }
    return run;
  }

  // The first run that ends behind element `at` of the box `from`.
  int64_t first_behind(int64_t at) const {
    int64_t low = 0, high = runs_;
    while (low < high) {
      const int64_t middle = low + (high - low) / 2;
      if (run(middle).from + run_ > at)
        high = middle;
      else
        low = middle + 1;
    }
    return low;
  }

 private:
  const BoxPart& from_;
  const BoxPart& to_;
  Shape begin_, shape_;  // in the tensor
  size_t outer_ = 0;     // dims outside of a run
  int64_t run_ = 1, runs_ = 1;
  bool empty_ = false;
};

}  // namespace

BoxPart whole_of(const Shape& shape) { return {Shape(shape.size(), 0), shape, 0, count(shape)}; }

std::vector<BoxRun> overlap_of(const BoxPart& from, const BoxPart& to) {
  std::vector<BoxRun> runs;
  const Overlap overlap(from, to);
  for (int64_t i = overlap.first_behind(from.first); i < overlap.runs(); ++i) {
    BoxRun run = overlap.run(i);
    if (run.from >= from.last) break;
    const int64_t skip = std::max({int64_t{0}, from.first - run.from, to.first - run.to});
    const int64_t end = std::min({run.count, from.last - run.from, to.last - run.to});
    if (skip < end) runs.push_back({run.from + skip - from.first, run.to + skip - to.first, end - skip});
  }
  return runs;
}

}  // namespace trireme
