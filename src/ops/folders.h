// What each op folder provides: its op and the ops that its gradient emits. table.cpp lists them.
#pragma once
#include <vector>

#include "ops/op.h"

namespace trireme {

std::vector<OpEntry> attention_ops();

}  // namespace trireme
