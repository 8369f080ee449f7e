// Whether weights that were saved with one config are those of another.
#pragma once
#include <string>

#include "config/run_spec.h"

namespace trireme {

// UserError, by key, where the model of `saved` computes something else than `spec`. What pairs rotated dims,
// how far positions reach and what only training sees may differ. `from` is for messages.
void require_same_model(const RunSpec& saved, const std::string& from, const ModelSpec& spec);

}  // namespace trireme
