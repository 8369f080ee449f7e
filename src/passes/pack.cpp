// Which operand of which op is a weight, and the rewriting.
#include "passes/pack.h"

#include <array>
#include <map>
#include <string_view>
#include <utility>

#include "base/error.h"
#include "ops/linear/linear.h"
#include "ops/op.h"

namespace trireme {
namespace {

struct WeightOperand {
  std::string_view op;
  size_t input;
  std::string_view use;
};
constexpr std::array kWeightOperands = {WeightOperand{"linear", 1, "forward"},
                                        WeightOperand{"linear_grad_input", 1, "input_grad"},
                                        WeightOperand{"head_loss", 1, "forward"},
                                        WeightOperand{"head_loss_grad", 1, "forward"},
                                        WeightOperand{"head_loss_grad", 2, "input_grad"},
                                        WeightOperand{"head_logits", 1, "forward"},
                                        WeightOperand{"experts", 3, "forward"},
                                        WeightOperand{"experts", 4, "forward"},
                                        WeightOperand{"experts_grad", 5, "input_grad"},
                                        WeightOperand{"experts_grad", 6, "input_grad"},
                                        WeightOperand{"experts_grad", 9, "forward"}};

class Packer {
 public:
  explicit Packer(Code& code) : code_(code) {}

  void rewrite(std::vector<Op>& ops) {
    for (Op& op : ops)
      for (const WeightOperand& weight : kWeightOperands)
        if (op.kind == weight.op) replace(op.inputs[weight.input], weight.use);
  }

 private:
  void replace(ValueId& operand, std::string_view use) {
    if (!operand.valid() || code_.value(operand).role != ValueRole::param) return;
    const auto [it, fresh] = packed_.try_emplace({operand, std::string(use)});
    if (fresh) it->second = pack(operand, use);
    operand = it->second;
  }

  ValueId pack(ValueId weight, std::string_view use) {
    const Value& param = code_.value(weight);
    Op op{"pack", pack_attrs(PackAttrs{.use = std::string(use)}), {weight}, {}};
    const std::vector<TensorType> types = op_def("pack").infer(op.attrs, std::array{param.type});
    const ValueId packed(static_cast<int64_t>(code_.values.size()));
    code_.values.push_back(
        {param.name + "." + std::string(use), types[0], ValueRole::prepared, param.placements});
    op.outputs = {packed};
    code_.prepare.push_back(std::move(op));
    return packed;
  }

  Code& code_;
  std::map<std::pair<ValueId, std::string>, ValueId> packed_;
};

}  // namespace

void pack_weights(Code& code) {
  Packer packer(code);
  packer.rewrite(code.forward);
  packer.rewrite(code.backward);
}

}  // namespace trireme
