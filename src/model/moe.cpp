// A layer's experts: the router chooses some for each token (Shazeer et al. 2017), their outputs are summed
// by its weights; shared ones (DeepSeekMoE, Dai et al. 2024, section 3.2) see every token.
#include "model/rms_block.h"
#include "ops/balance/balance.h"
#include "ops/experts/experts.h"
#include "ops/router/router.h"

namespace trireme {
namespace {

struct Choice {
  ValueId ids, weights;
};

RouterAttrs router_attrs(const MoeSpec& moe, HeadResult result) {
  const bool sigmoid = moe.score == RouterScore::sigmoid;
  RouterAttrs attrs;
  attrs.experts = moe.experts;
  attrs.top_k = moe.top_k;
  attrs.score = name_of_value(moe.score);
  attrs.softmax_after = !sigmoid && moe.softmax_order == SoftmaxOrder::after ? 1 : 0;
  attrs.normalize = moe.normalize && attrs.softmax_after == 0 ? 1 : 0;
  attrs.groups = sigmoid ? moe.groups : 1;
  attrs.top_groups = sigmoid ? moe.top_groups : 1;
  attrs.scale = moe.scale;
  attrs.z_loss = moe.z_loss;
  // A generated token must not depend on how a prompt is cut into calls, so nothing is dropped there.
  attrs.capacity_factor = result == HeadResult::logits ? 0.0 : moe.capacity_factor;
  attrs.counts_per = moe.aux_loss > 0 ? name_of_value(moe.aux_scope) : "micro_batch";
  return attrs;
}

Choice choose(BlockBuilder& block, const ModelSpec& spec, const ModelInputs& inputs, ValueId x) {
  const MoeSpec& moe = spec.moe;
  const ValueId weight = block.param("moe.router.weight", {moe.experts, spec.width}, Init::normal);
  const ValueId state =
      block.param("moe.balance", {2, moe.experts}, Init::zeros, {ParamRole::router_state, {}, 1});
  const std::vector<ValueId> made =
      block.ops("router", pack_attrs(router_attrs(moe, inputs.head)), {x, weight, state},
                {"moe.ids", "moe.weights", "moe.scores", "moe.counts"});
  Choice choice{made[0], made[1]};
  if (moe.aux_loss == 0 || inputs.head == HeadResult::logits) return choice;
  BalanceAttrs attrs;
  attrs.experts = moe.experts;
  attrs.top_k = moe.top_k;
  attrs.coefficient = moe.aux_loss;
  attrs.tokens = inputs.batch * inputs.seq_len;
  choice.weights = block.op("balance", pack_attrs(attrs), {choice.weights, made[2], made[3]}, "moe.balanced");
  return choice;
}

ValueId chosen_experts(BlockBuilder& block, const ModelSpec& spec, ValueId x, const Choice& choice) {
  const MoeSpec& moe = spec.moe;
  const int64_t ffn = moe.expert_ffn;
  const ValueId gate_up = block.param("moe.experts.gate_up.weight", {moe.experts, 2 * ffn, spec.width},
                                      Init::normal, {ParamRole::expert_column, {ffn, ffn}, 1});
  const ValueId down = block.param("moe.experts.down.weight", {moe.experts, spec.width, ffn}, Init::residual,
                                   {ParamRole::expert_row, {}, 1});
  ExpertsAttrs attrs;
  attrs.experts = moe.experts;
  attrs.top_k = moe.top_k;
  attrs.width = spec.width;
  attrs.ffn = ffn;
  attrs.receive_factor = moe.receive_factor;
  return block.ops("experts", pack_attrs(attrs), {x, choice.ids, choice.weights, gate_up, down},
                   {"moe.experts", "moe.rows", "moe.hidden", "moe.plan"})[0];
}

}  // namespace

ValueId experts_layer(BlockBuilder& block, const ModelSpec& spec, const ModelInputs& inputs, ValueId x) {
  const Choice choice = choose(block, spec, inputs, x);
  const ValueId routed = chosen_experts(block, spec, x, choice);
  if (spec.moe.shared_ffn == 0) return routed;
  const ValueId shared = gated_layer(block, spec, x, "moe.shared", spec.moe.shared_ffn);
  return block.op("add", {}, {routed, shared}, "moe.sum");
}

}  // namespace trireme
