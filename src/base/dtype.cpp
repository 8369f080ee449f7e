// Names and sizes of element types.
#include "base/dtype.h"

#include <array>

namespace trireme {
namespace {
struct Row {
  DType dtype;
  std::string_view name;
  int64_t bytes;
};
constexpr std::array kRows = {Row{DType::f32, "f32", 4}, Row{DType::bf16, "bf16", 2},
                              Row{DType::f64, "f64", 8}, Row{DType::i32, "i32", 4}, Row{DType::u8, "u8", 1}};
}  // namespace

int64_t size_of(DType dtype) { return kRows[static_cast<size_t>(dtype)].bytes; }
std::string_view name_of(DType dtype) { return kRows[static_cast<size_t>(dtype)].name; }
std::optional<DType> dtype_named(std::string_view name) {
  for (const Row& row : kRows)
    if (row.name == name) return row.dtype;
  return std::nullopt;
}

}  // namespace trireme
