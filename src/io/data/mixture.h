// Which source every sample of a weighted mixture comes from, without state.
#pragma once
#include <cstdint>
#include <vector>

namespace trireme {

// The weights are normalised and taken as fractions with one denominator, the period: exactly when one up to
// 2^20 serves, else rounded to multiples of 2^-20. The sources of one period are laid out once; a position
// then needs a division and a look-up. After n samples, for every n, each source has been drawn within 1 of
// share * n times.
class Mixture {
 public:
  // Weights are finite and >= 0, at least one is > 0.
  explicit Mixture(const std::vector<double>& weights);

  struct Place {
    int32_t source;
    int64_t index;  // how many samples of this source came before
  };
  Place at(int64_t position) const;

  // How many of the first `samples` positions go to `source`.
  int64_t drawn(int32_t source, int64_t samples) const;

  double share(int32_t source) const;  // the fraction in force

 private:
  struct Slot {
    int32_t source, rank;  // rank: index of the slot among its source's in the period
  };
  std::vector<Slot> slots_;          // one period
  std::vector<int32_t> per_period_;  // slots of each source
};

}  // namespace trireme
