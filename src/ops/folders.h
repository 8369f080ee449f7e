// What each op folder provides: its op and the ops that its gradient emits. table.cpp lists them.
#pragma once
#include <vector>

#include "ops/op.h"

namespace trireme {

std::vector<OpEntry> activation_ops();
std::vector<OpEntry> attention_ops();
std::vector<OpEntry> embedding_ops();
std::vector<OpEntry> head_ops();
std::vector<OpEntry> linear_ops();
std::vector<OpEntry> positions_ops();
std::vector<OpEntry> qk_norm_ops();
std::vector<OpEntry> rope_ops();
std::vector<OpEntry> swiglu_ops();

}  // namespace trireme
