// Shapes of sum_rows.
#include "ops/sum_rows/sum_rows.h"

#include <fmt/format.h>

#include "ops/op.h"

namespace trireme {

std::vector<OpCase> sum_rows_cases() {
  std::vector<OpCase> cases;
  for (const Shape& shape : {Shape{1, 1}, Shape{1, 2}, Shape{8, 2}, Shape{24, 3}, Shape{129, 3}})
    for (const int64_t lanes : {1, 3, 4, 8})
      if (shape[0] % lanes == 0)
        cases.push_back({.name = fmt::format("{} lanes {}", to_string(shape), lanes),
                         .kind = "sum_rows",
                         .attrs = pack_attrs(SumRowsAttrs{lanes}),
                         .inputs = {{DType::f64, shape}},
                         .bf16 = false});
  return cases;
}

}  // namespace trireme
