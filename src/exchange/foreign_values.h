// The elements of foreign tensors as f32, straight from the mapped files. bf16 and f16 are exact, f64 is
// rounded once to nearest even.
#pragma once
#include <span>
#include <string>
#include <vector>

#include "exchange/foreign_tensors.h"
#include "io/files/mapped_file.h"

namespace trireme {

int64_t size_of(ForeignDType dtype);  // bytes per element

// All functions of a const one may be called from several threads.
class ForeignValues {
 public:
  // Maps the files. EnvError when one cannot be read or ends before what is said to be in it.
  explicit ForeignValues(ForeignTensors tensors);

  const ForeignTensors& tensors() const { return tensors_; }

  // Elements first, first + step, first + 2 step, ... of the tensor in row-major order.
  void read(const ForeignTensor& tensor, int64_t first, int64_t step, std::span<float> values) const;

 private:
  ForeignTensors tensors_;
  std::vector<MappedFile> files_;
};

}  // namespace trireme
