// What each op folder provides: its op and the ops that its gradient emits. table.cpp lists them.
#pragma once
#include <vector>

#include "ops/op.h"

namespace trireme {

std::vector<OpEntry> activation_ops();
std::vector<OpEntry> adamw_ops();
std::vector<OpEntry> add_bias_ops();
std::vector<OpEntry> add_norm_ops();
std::vector<OpEntry> add_ops();
std::vector<OpEntry> attention_ops();
std::vector<OpEntry> balance_ops();
std::vector<OpEntry> cast_ops();
std::vector<OpEntry> collectives_ops();
std::vector<OpEntry> embedding_ops();
std::vector<OpEntry> expert_bias_ops();
std::vector<OpEntry> experts_ops();
std::vector<OpEntry> grad_norm_ops();
std::vector<OpEntry> head_ops();
std::vector<OpEntry> layernorm_ops();
std::vector<OpEntry> linear_ops();
std::vector<OpEntry> mla_ops();
std::vector<OpEntry> mtp_ops();
std::vector<OpEntry> overlap_ops();
std::vector<OpEntry> positions_ops();
std::vector<OpEntry> qk_norm_ops();
std::vector<OpEntry> rmsnorm_ops();
std::vector<OpEntry> rope_ops();
std::vector<OpEntry> router_ops();
std::vector<OpEntry> sgd_ops();
std::vector<OpEntry> sum_rows_ops();
std::vector<OpEntry> sum_squares_ops();
std::vector<OpEntry> swiglu_ops();
std::vector<OpEntry> zero_ops();

}  // namespace trireme
