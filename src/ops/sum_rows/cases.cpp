// Shapes of sum_rows.
#include "ops/op.h"

namespace trireme {

std::vector<OpCase> sum_rows_cases() {
  std::vector<OpCase> cases;
  for (const Shape& shape : {Shape{1, 1}, Shape{1, 2}, Shape{8, 2}, Shape{129, 3}})
    cases.push_back(
        {.name = to_string(shape), .kind = "sum_rows", .inputs = {{DType::f64, shape}}, .bf16 = false});
  return cases;
}

}  // namespace trireme
