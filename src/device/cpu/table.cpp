// The CPU kernels, one line per op. A test holds this list against the op table.
#include <vector>

#include "device/cpu/kernels.h"

namespace trireme {

PrepareCpuKernel find_cpu_kernel(std::string_view op) {
  struct Row {
    std::string_view op;
    PrepareCpuKernel prepare;
  };
  const std::vector<Row> rows = {
      {"attention", prepare_attention},
      {"attention_grad", prepare_attention_grad},
      {"cached_attention", prepare_cached_attention},
  };
  for (const Row& row : rows)
    if (row.op == op) return row.prepare;
  return nullptr;
}

}  // namespace trireme
