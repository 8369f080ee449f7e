// The forms in which one case of an op is run: compute dtype f32 or bf16, weights plain or packed, outputs
// apart or in place of an input.
#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "device/cpu/kernel.h"
#include "ops/harness/values.h"
#include "ops/op.h"

namespace trireme {

struct OpVariant {
  std::string name;              // "gpt2 bf16 packed"
  OpSig sig;                     // what the kernel is prepared for
  OpSig plain;                   // the same with no weight packed
  OpSig reference;               // the same in f32, as the oracle sees it
  std::vector<InputFill> fills;  // one per input, then one per output
  int in_place = -1;             // index into def.in_place, or -1
};

// Operands that are f32 whatever the compute dtype: statistics and what a router says, by name.
bool is_always_f32(std::string_view operand);

// In the bf16 form every f32 input becomes bf16 except those that always are f32.
// Products that take packed weights (a table in variant.cpp) come in both forms.
std::vector<OpVariant> variants_of(const OpDef& def, const OpCase& op_case);

// Whether output i starts from contents that matter.
bool starts_filled(const OpDef& def, size_t output);

struct OpRun {
  std::vector<Values> outputs;  // empty for absent ones
  std::vector<std::vector<std::byte>> bytes;
  std::string fault;  // "" or what was written outside its buffer
};

// The numbers in each operand before the call, inputs first; packed weights as plain ones.
std::vector<Values> starting_values(const OpVariant& variant);

OpRun run_reference(const OpEntry& entry, const OpVariant& variant, const std::vector<Values>& start);
OpRun run_kernel(const OpEntry& entry, const OpVariant& variant, const std::vector<Values>& start,
                 const CpuContext& context);

}  // namespace trireme
