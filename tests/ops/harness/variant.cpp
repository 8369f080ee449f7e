// Builds operands for the oracle and for kernels from the same random numbers, and runs both.
#include "ops/harness/variant.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstring>

#include "base/error.h"
#include "ops/harness/guarded_buffer.h"

namespace trireme {
namespace {

// Inputs that a product also takes packed, and for what.
struct PackedOperand {
  std::string_view kind;
  size_t input;
  std::string use;
};

const std::vector<PackedOperand>& packed_operands() {
  static const std::vector<PackedOperand> list = {{"linear", 1, "forward"},
                                                  {"linear_grad_input", 1, "input_grad"},
                                                  {"head_loss", 1, "forward"},
                                                  {"head_loss_grad", 1, "forward"},
                                                  {"head_loss_grad", 2, "input_grad"},
                                                  {"head_logits", 1, "forward"},
                                                  {"experts", 3, "forward"},
                                                  {"experts", 4, "forward"},
                                                  {"experts_grad", 5, "input_grad"},
                                                  {"experts_grad", 6, "input_grad"}};
  return list;
}

Attrs pack_use(const std::string& use) { return {{{"use", AttrValue(use)}}}; }

OpSig with_outputs(const OpDef& def, OpSig sig) {
  sig.outputs = def.infer(sig.attrs, sig.inputs);
  return sig;
}

OpSig in_f32(OpSig sig) {
  for (auto* types : {&sig.inputs, &sig.outputs})
    for (TensorType& type : *types)
      if (type.dtype == DType::bf16) type.dtype = DType::f32;
  return sig;
}

std::vector<InputFill> all_fills(const OpDef& def, const OpCase& op_case) {
  std::vector<InputFill> fills = op_case.fills;
  fills.resize(def.inputs.size() + def.outputs.size());
  return fills;
}

void* pointer(GuardedBuffer& buffer) { return buffer.size() > 0 ? buffer.data() : nullptr; }

struct Memory {
  std::vector<GuardedBuffer> inputs, outputs;
  std::vector<void*> input_pointers, output_pointers;

  explicit Memory(const OpSig& sig) {
    for (const TensorType& type : sig.inputs) inputs.emplace_back(bytes_of(type));
    for (const TensorType& type : sig.outputs) outputs.emplace_back(bytes_of(type));
    for (GuardedBuffer& b : inputs) input_pointers.push_back(pointer(b));
    for (GuardedBuffer& b : outputs) output_pointers.push_back(pointer(b));
  }
};

void pack_into(const TensorType& weight, const std::string& use, const Values& values,
               const CpuContext& context, GuardedBuffer& to) {
  const Attrs attrs = pack_use(use);
  const OpSig sig{"pack", attrs, {weight}, op_def("pack").infer(attrs, std::span(&weight, 1))};
  GuardedBuffer plain(bytes_of(weight));
  encode(values, weight.dtype, plain.data());
  const PrepareCpuKernel prepare = find_cpu_kernel("pack");
  CHECK(prepare != nullptr, "pack has no CPU kernel");
  void* in = plain.data();
  void* out = to.data();
  prepare(sig, context)({std::span(&in, 1), std::span(&out, 1), nullptr});
}

void fill_kernel_inputs(const OpVariant& v, const std::vector<Values>& start, const CpuContext& context,
                        Memory& memory) {
  for (size_t i = 0; i < v.sig.inputs.size(); ++i) {
    if (!present(v.sig.inputs[i])) continue;
    const Values& values = start[i];
    if (v.sig.inputs[i] == v.plain.inputs[i]) {
      encode(values, v.sig.inputs[i].dtype, memory.inputs[i].data());
      continue;
    }
    for (const PackedOperand& p : packed_operands())
      if (p.kind == v.sig.kind && p.input == i)
        pack_into(v.plain.inputs[i], p.use, values, context, memory.inputs[i]);
  }
}

void fill_outputs(const OpDef& def, const OpSig& sig, const std::vector<Values>& start, Memory& memory) {
  for (size_t i = 0; i < sig.outputs.size(); ++i)
    if (starts_filled(def, i) && present(sig.outputs[i]))
      encode(start[sig.inputs.size() + i], sig.outputs[i].dtype, memory.outputs[i].data());
}

OpRun collect(const OpSig& sig, const Memory& memory) {
  OpRun run;
  for (size_t i = 0; i < sig.outputs.size(); ++i) {
    const auto* data = static_cast<const std::byte*>(memory.output_pointers[i]);
    run.bytes.emplace_back(data, data + memory.outputs[i].size());
    run.outputs.push_back(data == nullptr ? Values()
                                          : decode(data, sig.outputs[i].dtype, count(sig.outputs[i].shape)));
    if (!memory.outputs[i].intact()) run.fault = fmt::format("output {} was written outside", i);
  }
  for (size_t i = 0; i < sig.inputs.size(); ++i)
    if (!memory.inputs[i].intact()) run.fault = fmt::format("input {} was written outside", i);
  return run;
}

}  // namespace

bool is_always_f32(std::string_view operand) {
  static constexpr std::array<std::string_view, 9> names = {
      "mean", "rstd", "lse", "state", "weights", "scores", "counts", "dweights", "dscores"};
  return std::find(names.begin(), names.end(), operand) != names.end();
}

bool starts_filled(const OpDef& def, size_t output) {
  using Use = OperandDef::Use;
  const Use use = def.outputs[output].use;
  return use == Use::accumulate || use == Use::optional_accumulate || use == Use::update;
}

std::vector<OpVariant> variants_of(const OpDef& def, const OpCase& op_case) {
  std::vector<OpVariant> variants;
  for (const bool half : {false, true}) {
    if (half && !op_case.bf16) continue;
    OpVariant v{op_case.name + (half ? " bf16" : " f32"), {}, {}, {}, all_fills(def, op_case)};
    v.plain = {op_case.kind, op_case.attrs, op_case.inputs, {}};
    v.plain.inputs.resize(def.inputs.size(), absent_type());
    for (size_t i = 0; half && i < v.plain.inputs.size(); ++i) {
      TensorType& type = v.plain.inputs[i];
      if (type.dtype == DType::f32 && present(type) && !is_always_f32(def.inputs[i].name))
        type.dtype = DType::bf16;
    }
    v.plain = v.sig = with_outputs(def, v.plain);
    v.reference = in_f32(v.plain);
    variants.push_back(v);
    for (size_t pair = 0; pair < def.in_place.size(); ++pair) {
      const auto& in = v.sig.inputs[static_cast<size_t>(def.in_place[pair].first)];
      const auto& out = v.sig.outputs[static_cast<size_t>(def.in_place[pair].second)];
      if (!present(in) || bytes_of(in) != bytes_of(out)) continue;
      variants.push_back(v);
      variants.back().name += " in place";
      variants.back().in_place = static_cast<int>(pair);
    }
    OpVariant packed = v;
    packed.name += " packed";
    for (const PackedOperand& p : packed_operands())
      if (p.kind == op_case.kind && v.plain.inputs[p.input].shape.size() >= 2)
        packed.sig.inputs[p.input] =
            op_def("pack").infer(pack_use(p.use), std::span(&v.plain.inputs[p.input], 1))[0];
    if (packed.sig.inputs != v.sig.inputs) variants.push_back(packed);
  }
  return variants;
}

std::vector<Values> starting_values(const OpVariant& v) {
  std::vector<TensorType> types = v.plain.inputs;
  types.insert(types.end(), v.plain.outputs.begin(), v.plain.outputs.end());
  std::vector<Values> start;
  for (size_t i = 0; i < types.size(); ++i)
    start.push_back(random_values(v.fills[i], types[i], fmt::format("{}/{}", v.sig.kind, i)));
  return start;
}

OpRun run_reference(const OpEntry& entry, const OpVariant& v, const std::vector<Values>& start) {
  Memory memory(v.reference);
  for (size_t i = 0; i < v.reference.inputs.size(); ++i)
    if (present(v.reference.inputs[i]))
      encode(start[i], v.reference.inputs[i].dtype, memory.inputs[i].data());
  fill_outputs(entry.def, v.reference, start, memory);
  entry.reference(v.reference, {memory.input_pointers, memory.output_pointers, nullptr});
  return collect(v.reference, memory);
}

OpRun run_kernel(const OpEntry& entry, const OpVariant& v, const std::vector<Values>& start,
                 const CpuContext& context) {
  const OpDef& def = entry.def;
  Memory memory(v.sig);
  fill_kernel_inputs(v, start, context, memory);
  fill_outputs(def, v.sig, start, memory);
  if (v.in_place >= 0) {
    const auto [in, out] = def.in_place[static_cast<size_t>(v.in_place)];
    memory.output_pointers[static_cast<size_t>(out)] = memory.input_pointers[static_cast<size_t>(in)];
  }
  GuardedBuffer scratch(def.scratch_bytes != nullptr ? def.scratch_bytes(v.sig, context.threads) : 0);
  const CpuKernel kernel = find_cpu_kernel(def.name)(v.sig, context);
  kernel({memory.input_pointers, memory.output_pointers, scratch.size() > 0 ? scratch.data() : nullptr});
  OpRun run = collect(v.sig, memory);
  if (!scratch.intact()) run.fault = "wrote outside the declared scratch";
  return run;
}

}  // namespace trireme
