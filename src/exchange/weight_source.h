// What a path to weights is, told by its content, and the weights of any but our own as a model's.
#pragma once
#include <functional>
#include <string>

#include "exchange/mapped_weights.h"

namespace trireme {

enum class WeightSource : uint8_t { trireme, hf, llmc, torch_dcp };
const char* name_of(WeightSource source);

// UserError when it is nothing that is known.
WeightSource source_of(const std::string& path);

// Hears a line for each kind of thing in the source that is left out or cannot be checked.
using OnNote = std::function<void(const std::string&)>;

// UserError when the weights are another model's, by key or by tensor. `source` is not trireme.
MappedWeights open_foreign(WeightSource source, const std::string& path, const ModelSpec& spec,
                           const OnNote& on_note = {});

}  // namespace trireme
