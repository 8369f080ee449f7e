// What a stage leaves whole and what it divides.
#include "plan/calculators/state_bytes.h"

#include <fmt/format.h>

#include "base/dtype.h"
#include "base/error.h"
#include "plan/calculators/worked.h"

namespace trireme {
namespace {

struct Division {
  double whole = 0, divided = 0;
};

Division divide(const StateBytes& state, int zero) {
  CHECK(zero >= 0 && zero < kZeroStages, "zero = {}", zero);
  Division division{.whole = state.total()};
  const auto cut = [&](double bytes) {
    division.whole -= bytes;
    division.divided += bytes;
  };
  if (zero >= 1) cut(state.master + state.moments);
  if (zero >= 2) cut(state.gradient);
  if (zero >= 3) cut(state.compute_copy);
  return division;
}

}  // namespace

StateBytes published_state() { return {.compute_copy = 2, .gradient = 2, .master = 4, .moments = 8}; }

StateBytes engine_state(OptimizerKind optimizer, Compute compute) {
  const auto f32 = static_cast<double>(size_of(DType::f32));
  return {.compute_copy = compute == Compute::bf16 ? static_cast<double>(size_of(DType::bf16)) : 0,
          .gradient = f32,
          .master = f32,
          .moments = optimizer == OptimizerKind::adamw ? 2 * f32 : f32};
}

double bytes_per_parameter(const StateBytes& state, int zero, int64_t shards) {
  const Division division = divide(state, zero);
  return division.whole + division.divided / static_cast<double>(shards);
}

StateFormula state_formula(const StateBytes& state, int zero, int64_t shards) {
  const Division division = divide(state, zero);
  if (division.divided == 0) return {};
  const auto with = [&](const std::string& n) {
    const std::string divided = fmt::format("{}/{}", plain(division.divided), n);
    return division.whole == 0 ? divided : fmt::format("{} + {}", plain(division.whole), divided);
  };
  return {.symbols = with("N"), .numbers = with(std::to_string(shards))};
}

}  // namespace trireme
