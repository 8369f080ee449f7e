// PyTorch's distributed checkpoints.
#pragma once
#include <string>

#include "exchange/foreign_tensors.h"

namespace trireme {

ForeignTensors read_torch_dcp(const std::string& dir);

}  // namespace trireme
