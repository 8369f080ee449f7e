// Bytes per s b h L, then the product. With sequence parallelism 34/t stands for 10 + 24/t and 2/t for 2.
#include "plan/calculators/activation_bytes.h"

#include <fmt/format.h>

namespace trireme {
namespace {

struct Form {
  const char* key;
  const char* label;
  const char* symbols;           // with tp
  const char* sequence_symbols;  // and sequence parallel
};
constexpr Form kForms[kSavedForms] = {
    {"activations_with_scores", "saved with scores", "10 + 24/t + 5*a*s/(h*t)", "34/t + 5*a*s/(h*t)"},
    {"activations", "without scores (selective recompute)", "10 + 24/t", "34/t"},
    {"activations_full_recompute", "full recompute", "2", "2/t"}};

std::string with_numbers(const ActivationShape& shape, Saved saved) {
  const int64_t t = shape.tp;
  if (saved == Saved::inputs) return shape.sequence ? fmt::format("2/{}", t) : "2";
  const std::string linear = shape.sequence ? fmt::format("34/{}", t) : fmt::format("10 + 24/{}", t);
  if (saved == Saved::no_scores) return linear;
  return fmt::format("{} + 5*{}*{}/({}*{})", linear, shape.heads, shape.seq, shape.width, t);
}

double bytes_per_unit(const ActivationShape& shape, Saved saved) {
  const auto t = static_cast<double>(shape.tp);
  if (saved == Saved::inputs) return shape.sequence ? 2 / t : 2;
  const double linear = shape.sequence ? 34 / t : 10 + 24 / t;
  if (saved == Saved::no_scores) return linear;
  return linear + 5.0 * static_cast<double>(shape.heads) * static_cast<double>(shape.seq) /
                      (static_cast<double>(shape.width) * t);
}

}  // namespace

double activation_bytes(const ActivationShape& shape, Saved saved) {
  return static_cast<double>(shape.seq) * static_cast<double>(shape.micro) *
         static_cast<double>(shape.width) * static_cast<double>(shape.layers) * bytes_per_unit(shape, saved);
}

std::vector<Worked> worked_activations(const ActivationShape& shape) {
  std::vector<Worked> results;
  for (int i = 0; i < kSavedForms; ++i) {
    const auto saved = static_cast<Saved>(i);
    const Form& form = kForms[i];
    results.push_back(worked_bytes(
        {.key = form.key,
         .label = form.label,
         .value = activation_bytes(shape, saved),
         .formula = fmt::format("s*b*h*L * ({})", shape.sequence ? form.sequence_symbols : form.symbols),
         .numbers = fmt::format("{}*{}*{}*{} * ({})", shape.seq, shape.micro, shape.width, shape.layers,
                                with_numbers(shape, saved))}));
  }
  return results;
}

}  // namespace trireme
