// The op table: one line per op folder, in alphabetical order. A test walks it and lets nothing be missing.
#include <algorithm>

#include "ops/folders.h"

namespace trireme {

namespace {

std::vector<OpEntry> all_ops() {
  using Folder = std::vector<OpEntry> (*)();
  const std::vector<Folder> folders = {
      activation_ops, adamw_ops,     add_bias_ops,    add_norm_ops,  add_ops,         attention_ops,
      balance_ops,    cast_ops,      collectives_ops, embedding_ops, expert_bias_ops, experts_ops,
      grad_norm_ops,  head_ops,      layernorm_ops,   linear_ops,    mla_ops,         mtp_ops,
      overlap_ops,    positions_ops, qk_norm_ops,     rmsnorm_ops,   rope_ops,        router_ops,
      sgd_ops,        sum_rows_ops,  sum_squares_ops, swiglu_ops,    zero_ops,
  };
  std::vector<OpEntry> table;
  for (const Folder folder : folders)
    for (OpEntry& entry : folder()) table.push_back(std::move(entry));
  std::sort(table.begin(), table.end(),
            [](const OpEntry& a, const OpEntry& b) { return a.def.name < b.def.name; });
  return table;
}

}  // namespace

std::span<const OpEntry> op_table() {
  static const std::vector<OpEntry> table = all_ops();  // constant after the first call
  return table;
}

const OpEntry* find_op(std::string_view name) {
  const auto table = op_table();
  const auto it =
      std::lower_bound(table.begin(), table.end(), name,
                       [](const OpEntry& entry, std::string_view n) { return entry.def.name < n; });
  return it != table.end() && it->def.name == name ? &*it : nullptr;
}

const OpDef& op_def(std::string_view name) {
  const OpEntry* entry = find_op(name);
  CHECK(entry != nullptr, "no op {}", name);
  return entry->def;
}

}  // namespace trireme
