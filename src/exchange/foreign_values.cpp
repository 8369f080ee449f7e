// Bytes to floats, and elements to the pieces that hold them.
#include "exchange/foreign_values.h"

#include <algorithm>
#include <bit>
#include <cstring>

#include "base/dtype.h"
#include "base/error.h"

namespace trireme {
namespace {

struct half {
  uint16_t bits;
};

// IEEE binary16. All its values, subnormal ones included, are f32's.
float to_float(half x) {
  const uint32_t sign = (x.bits & 0x8000u) << 16, exponent = (x.bits >> 10) & 31u, mantissa = x.bits & 1023u;
  if (exponent == 31) return std::bit_cast<float>(sign | 0x7f800000u | (mantissa << 13));
  if (exponent != 0) return std::bit_cast<float>(sign | ((exponent + 112) << 23) | (mantissa << 13));
  const float magnitude = static_cast<float>(mantissa) * 0x1p-24f;
  return sign != 0 ? -magnitude : magnitude;
}

float to_float(double x) { return static_cast<float>(x); }

template <class T>
void widen(const std::byte* from, int64_t step, std::span<float> values) {
  const size_t stride = static_cast<size_t>(step) * sizeof(T);
  for (size_t i = 0; i < values.size(); ++i) {
    T x;
    std::memcpy(&x, from + i * stride, sizeof(T));
    values[i] = to_float(x);
  }
}

void widen(ForeignDType dtype, const std::byte* from, int64_t step, std::span<float> values) {
  switch (dtype) {
    case ForeignDType::f32:
      if (step == 1) {
        std::memcpy(values.data(), from, values.size_bytes());
        return;
      }
      return widen<float>(from, step, values);
    case ForeignDType::bf16:
      return widen<bf16>(from, step, values);
    case ForeignDType::f16:
      return widen<half>(from, step, values);
    case ForeignDType::f64:
      return widen<double>(from, step, values);
  }
}

// Where an element of the tensor lies in a piece, and how many follow it there one after another.
struct Run {
  int64_t element = 0, length = 0;
};

std::vector<int64_t> coordinates(const Shape& shape, int64_t element) {
  std::vector<int64_t> at(shape.size());
  for (size_t d = shape.size(); d-- > 0;) {
    at[d] = element % shape[d];
    element /= shape[d];
  }
  return at;
}

// Length 0: the piece does not have it.
Run find_in(const ForeignPiece& piece, const std::vector<int64_t>& at) {
  int64_t element = 0;
  for (size_t d = 0; d < at.size(); ++d) {
    const int64_t inside = at[d] - piece.offset[d];
    if (inside < 0 || inside >= piece.shape[d]) return {};
    element = element * piece.shape[d] + inside;
  }
  return {element, at.empty() ? 1 : piece.offset.back() + piece.shape.back() - at.back()};
}

}  // namespace

int64_t size_of(ForeignDType dtype) {
  switch (dtype) {
    case ForeignDType::f32:
      return 4;
    case ForeignDType::f64:
      return 8;
    default:
      return 2;
  }
}

ForeignValues::ForeignValues(ForeignTensors tensors) : tensors_(std::move(tensors)) {
  for (const std::string& file : tensors_.files) files_.emplace_back(file);
  for (const auto& [name, tensor] : tensors_.tensors)
    for (const ForeignPiece& piece : tensor.pieces) {
      const auto bytes = static_cast<int64_t>(files_.at(piece.file).bytes().size());
      const int64_t end = piece.begin + count(piece.shape) * size_of(tensor.dtype);
      if (piece.begin < 0 || end > bytes)
        fail_env("{} has {} bytes, but {} lies in it up to byte {}: it is cut off; copy it anew",
                 tensors_.files[piece.file], bytes, name, end);
    }
}

void ForeignValues::read(const ForeignTensor& tensor, int64_t first, int64_t step,
                         std::span<float> values) const {
  const int64_t width = size_of(tensor.dtype);
  const auto bytes = [&](const ForeignPiece& piece, int64_t element) {
    return files_[piece.file].bytes().data() + piece.begin + element * width;
  };
  if (values.empty()) return;
  if (tensor.pieces.size() == 1) return widen(tensor.dtype, bytes(tensor.pieces[0], first), step, values);
  size_t hint = 0;
  while (!values.empty()) {
    const std::vector<int64_t> at = coordinates(tensor.shape, first);
    Run run;
    for (size_t tried = 0; tried < tensor.pieces.size(); ++tried) {
      run = find_in(tensor.pieces[hint], at);
      if (run.length > 0) break;
      hint = (hint + 1) % tensor.pieces.size();
    }
    CHECK(run.length > 0, "no piece has element {} of [{}]", first, to_string(tensor.shape));
    const int64_t n = std::min<int64_t>((run.length + step - 1) / step, static_cast<int64_t>(values.size()));
    widen(tensor.dtype, bytes(tensor.pieces[hint], run.element), step, values.first(static_cast<size_t>(n)));
    values = values.subspan(static_cast<size_t>(n));
    first += n * step;
  }
}

}  // namespace trireme
