// A tensor's extents, row-major.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

namespace trireme {

using Shape = std::vector<int64_t>;

int64_t count(const Shape& shape);          // the product; 1 for a scalar
std::string to_string(const Shape& shape);  // "4,1024,768"

}  // namespace trireme
