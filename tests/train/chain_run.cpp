// Every op is prepared when it runs; parameters are copied into each block that reads them.
#include "train/chain_run.h"

#include <cstring>
#include <stdexcept>

#include "passes/autodiff.h"
#include "passes/verify.h"

namespace trireme {
namespace {

template <class T>
std::vector<T> typed(const std::vector<std::byte>& bytes) {
  std::vector<T> values(bytes.size() / sizeof(T));
  std::memcpy(values.data(), bytes.data(), values.size() * sizeof(T));
  return values;
}

template <class T>
std::vector<std::byte> bytes_of_values(const std::vector<T>& values) {
  std::vector<std::byte> bytes(values.size() * sizeof(T));
  std::memcpy(bytes.data(), values.data(), bytes.size());
  return bytes;
}

size_t at(ValueId id) { return static_cast<size_t>(id.index); }

}  // namespace

ChainRun::ChainRun(const Model& model, Device& device) : model_(model), device_(device) {
  for (const Graph& graph : model.graphs) {
    codes_.push_back(autodiff(graph, BackwardForm::whole));
    verify(codes_.back(), "autodiff");
  }
  for (const ParamSpec& param : model.params) {
    params_.emplace_back(static_cast<size_t>(count(param.shape)));
    gradients_.emplace_back(static_cast<size_t>(count(param.shape)));
  }
  for (const ModelBlock& block : model.blocks) {
    blocks_.push_back({block.name, &codes_[static_cast<size_t>(block.graph)], {}, block.params});
    for (const Value& value : blocks_.back().code->values)
      blocks_.back().values.emplace_back(static_cast<size_t>(bytes_of(value.type)));
  }
}

void ChainRun::set_param(const std::string& name, const std::vector<float>& values) {
  for (size_t i = 0; i < params_.size(); ++i)
    if (model_.params[i].name == name) params_[i] = values;
}

std::vector<std::byte>& ChainRun::value_of(Block& block, ValueRole role, size_t ordinal) {
  return block.values[at(values_with(block.code->values, role).at(ordinal))];
}

void ChainRun::run(Block& block, const std::vector<Op>& ops) {
  for (const Op& op : ops) {
    const auto pointers = [&](const std::vector<ValueId>& ids) {
      std::vector<void*> out;
      for (const ValueId id : ids) out.push_back(id.valid() ? block.values[at(id)].data() : nullptr);
      return out;
    };
    const OpSig sig = signature(op, block.code->values);
    const OpDef& def = op_def(op.kind);
    std::vector<std::byte> scratch(
        static_cast<size_t>(def.scratch_bytes == nullptr ? 0 : def.scratch_bytes(sig, 2)) + 64);
    auto* aligned =
        reinterpret_cast<std::byte*>((reinterpret_cast<uintptr_t>(scratch.data()) + 63) / 64 * 64);
    const std::vector<void*> inputs = pointers(op.inputs), outputs = pointers(op.outputs);
    device_.run(device_.prepare(sig), {.inputs = inputs, .outputs = outputs, .scratch = aligned});
  }
}

void ChainRun::forward() {
  const std::vector<std::byte>* previous = nullptr;
  for (Block& block : blocks_) {
    const std::vector<ValueId> params = values_with(block.code->values, ValueRole::param);
    for (size_t i = 0; i < params.size(); ++i)
      block.values[at(params[i])] = bytes_of_values(params_[static_cast<size_t>(block.params[i])]);
    for (const ValueId id : values_with(block.code->values, ValueRole::batch))
      block.values[at(id)] = bytes_of_values(batch_.at(block.code->value(id).name));
    if (previous != nullptr) value_of(block, ValueRole::input) = *previous;
    run(block, block.code->forward);
    previous = &value_of(block, ValueRole::output);
  }
}

void ChainRun::backward() {
  const std::vector<std::byte>* next = nullptr;
  for (size_t b = blocks_.size(); b-- > 0;) {
    Block& block = blocks_[b];
    if (next != nullptr) value_of(block, ValueRole::output_grad) = *next;
    run(block, block.code->backward);
    const std::vector<ValueId> grads = values_with(block.code->values, ValueRole::param_grad);
    const std::vector<ValueId> params = values_with(block.code->values, ValueRole::param);
    for (const ValueId grad : grads)
      for (size_t i = 0; i < params.size(); ++i) {
        if (block.code->value(grad).name != block.code->value(params[i]).name + ".grad") continue;
        const std::vector<float> part = typed<float>(block.values[at(grad)]);
        std::vector<float>& sum = gradients_[static_cast<size_t>(block.params[i])];
        for (size_t k = 0; k < sum.size(); ++k) sum[k] += part[k];
      }
    if (b > 0) next = &value_of(block, ValueRole::input_grad);
  }
}

const ChainRun::Block& ChainRun::block_named(const std::string& name) const {
  for (const Block& block : blocks_)
    if (block.name == name) return block;
  throw std::out_of_range(name);
}

double ChainRun::loss(size_t which) const {
  const Block& head = blocks_.back();
  return typed<double>(head.values[at(values_with(head.code->values, ValueRole::output).at(0))]).at(which);
}

std::vector<float> ChainRun::floats(const std::string& block, const std::string& value) const {
  const Block& in = block_named(block);
  for (size_t i = 0; i < in.values.size(); ++i)
    if (in.code->values[i].name == value) return typed<float>(in.values[i]);
  throw std::out_of_range(value);
}

std::vector<int32_t> ChainRun::ints(const std::string& block, const std::string& value) const {
  const Block& in = block_named(block);
  for (size_t i = 0; i < in.values.size(); ++i)
    if (in.code->values[i].name == value) return typed<int32_t>(in.values[i]);
  throw std::out_of_range(value);
}

std::vector<float> ChainRun::gradient(const std::string& param) const {
  for (size_t i = 0; i < gradients_.size(); ++i)
    if (model_.params[i].name == param) return gradients_[i];
  throw std::out_of_range(param);
}

}  // namespace trireme
