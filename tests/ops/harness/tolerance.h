// How far a kernel may be from the oracle, derived from dtypes and the length of the sums.
#pragma once
#include <string>

#include "ops/harness/values.h"

namespace trireme {

struct Tolerance {
  double relative;    // of the element
  double of_largest;  // of the tensor's largest element
  double rms;         // rms(error) / rms(reference)
};

// With unit roundoff u (2^-24 in f32, 2^-8 in bf16) and sums of n terms:
// * Both sides compute in f32. A sum of n random terms of size s, added in any order, has size s sqrt(n); its
//   rounding errors are a random walk of n steps of at most u s sqrt(n) each: u s n in all, that is
//   u sqrt(n) relative to the sum's typical size. The maximum over a tensor lies within 4 deviations. Both
//   sides err, and the functions inside (exp, 1/sqrt, ...) are right to 4 u.
// * A bf16 output is rounded once more: u16 of the element.
// * In the bf16 form, sums may take operands that were rounded to bf16 in between (the weights of
//   attention, the gradient of logits): u16 of the typical size, `roundings` times.
Tolerance tolerance_of(DType output, bool half, int64_t reduction, int roundings = 1);

// "" when all of `got` is within; else the worst element.
std::string compare(const Values& got, const Values& want, const Tolerance& tolerance);

}  // namespace trireme
