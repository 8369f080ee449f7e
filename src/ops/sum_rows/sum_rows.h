// Attributes of sum_rows.
#pragma once
#include <cstdint>

namespace trireme {

struct SumRowsAttrs {
  int64_t lanes = 1;  // equal parts of the rows that are summed on their own
  template <class F>
  void fields(F&& f) {
    f("lanes", lanes);
  }
};

}  // namespace trireme
