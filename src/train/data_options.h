// The data sections of a config as options of io/data.
#pragma once
#include <optional>

#include "config/run_spec.h"
#include "io/data/dataset.h"

namespace trireme {

// eot: the tokenizer's end-of-text id, where there is a tokenizer.
DataOptions training_options(const RunSpec& spec, std::optional<uint32_t> eot);
DataOptions validation_options(const RunSpec& spec, std::optional<uint32_t> eot);

}  // namespace trireme
