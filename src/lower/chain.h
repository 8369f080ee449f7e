// What lowering starts from: blocks in the order in which a micro-batch passes them.
#pragma once
#include <string>
#include <vector>

#include "ir/program.h"

namespace trireme {

struct ChainBlock {
  std::string name;
  CodeId code;
  std::vector<ParamId> params;  // in the order of the code's values of role param
};

using Chain = std::vector<ChainBlock>;

}  // namespace trireme
