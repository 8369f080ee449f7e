// Printing and counting extents.
#include "base/shape.h"

namespace trireme {

int64_t count(const Shape& shape) {
  int64_t n = 1;
  for (const int64_t extent : shape) n *= extent;
  return n;
}

std::string to_string(const Shape& shape) {
  std::string text;
  for (const int64_t extent : shape) text += (text.empty() ? "" : ",") + std::to_string(extent);
  return text;
}

}  // namespace trireme
