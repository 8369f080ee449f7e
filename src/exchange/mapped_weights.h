// Our parameters read out of another project's tensors, by a NameMap.
#pragma once
#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "exchange/foreign_values.h"
#include "exchange/name_map.h"

namespace trireme {

// A tensor of another project's file that says nothing about the model: causal masks and rotary frequencies
// that old files carry along.
bool is_buffer(const std::string& name);

class MappedWeights {
 public:
  // UserError, by name and with both shapes, for tensors that are missing, have another shape, repeat
  // another one and differ from it, or are unknown. Buffers may be there.
  MappedWeights(NameMap map, ForeignTensors tensors);

  // Elements [first, first + values.size()) of the whole parameter. May be called from several threads.
  // EnvError, by name, for NaN and infinities.
  void read(const std::string& param, int64_t first, std::span<float> values) const;

  const std::vector<ParamSpec>& params() const { return map_.params; }

 private:
  void check_names() const;
  void check_copies() const;
  void check_finite(size_t param, int64_t first, std::span<const float> values) const;
  void read_piece(const MapPiece& piece, int64_t first, std::span<float> values) const;
  const ForeignTensor& tensor(const MapPiece& piece) const;

  NameMap map_;
  ForeignValues values_;
  std::vector<std::pair<size_t, size_t>> ranges_;  // of pieces, per parameter
  std::map<std::string, size_t> place_;            // of a parameter, by its name
};

}  // namespace trireme
