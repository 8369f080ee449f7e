// Prints the floor of GPT-2 124M's training step, in bf16 and fp32 on one and two threads, and beside each of
// oneDNN's products the engine's own.
//   bench_products [bf16 | f32 | both = both] [threads = 0: 1 and 2] [repeats = 3]
#include <fmt/format.h>

#include <cstdlib>

#include "product_floor.h"

namespace trireme::bench {
namespace {

void print(const FloorSpec& spec) {
  const Floor floor = measure_floor(spec);
  fmt::print("{} on {} thread(s)\n{:<38} {:>5} {:>14} {:>12}\n", name_of(spec.dtype), spec.threads, "product",
             "times", "oneDNN GFLOP/s", "own GFLOP/s");
  for (const FloorRow& row : floor.rows)
    fmt::print("{:<38} {:>5} {:>14.0f} {:>12.0f}\n", row.name, row.count,
               static_cast<double>(row.flops) / row.onednn_s * 1e-9,
               static_cast<double>(row.flops) / row.own_s * 1e-9);
  fmt::print("all products {:.2f} s by oneDNN, {:.2f} s by the engine; attention at oneDNN's rate {:.2f} s\n",
             floor.products_s, floor.own_products_s, floor.attention_s);
  fmt::print("floor: {:.0f} tokens/s\n\n", floor.tokens_per_s);
}

}  // namespace
}  // namespace trireme::bench

int main(int argc, char** argv) {
  const std::string dtype = argc > 1 ? argv[1] : "both";
  const int threads = argc > 2 ? std::atoi(argv[2]) : 0, repeats = argc > 3 ? std::atoi(argv[3]) : 3;
  for (const auto type : {trireme::DType::bf16, trireme::DType::f32})
    for (const int team : {1, 2})
      if ((dtype == "both" || dtype == trireme::name_of(type)) && (threads == 0 || threads == team))
        trireme::bench::print({.dtype = type, .threads = team, .repeats = repeats});
  return 0;
}
