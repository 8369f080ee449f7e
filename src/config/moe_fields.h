// The keys of [moe], as config/fields.h explains. They are held by the model's struct.
#pragma once
#include "config/model.h"
#include "config/ranges.h"

namespace trireme {

template <class Moe, class Visit>
void router_fields(Moe& m, bool moe, Visit&& visit) {
  const bool sigmoid = moe && may_be(m.score, RouterScore::sigmoid);
  const bool softmax = moe && may_be(m.score, RouterScore::softmax);
  const bool sums_differ = sigmoid || (softmax && may_be(m.softmax_order, SoftmaxOrder::before));
  constexpr std::string_view kMoe = "moe.experts > 0", kSigmoid = "moe.score = \"sigmoid\"";
  visit(m.score,
        Field{.key = "score",
              .meaning = "what makes a token's scores of its logits",
              .only_for = kMoe,
              .applies = moe},
        RouterScore::softmax);
  visit(m.softmax_order,
        Field{.key = "softmax_order",
              .meaning = "before: softmax over all experts, then the choice; after: over the chosen only",
              .only_for = "moe.score = \"softmax\"",
              .applies = softmax},
        SoftmaxOrder::before);
  visit(m.normalize,
        Field{.key = "normalize",
              .meaning = "the weights of a token's experts are divided by their sum",
              .only_for = "moe.score = \"sigmoid\", or moe.softmax_order = \"before\"",
              .applies = sums_differ},
        true);
  visit(m.groups,
        Field{.key = "groups",
              .range = between(1, kMostExperts),
              .meaning = "experts are cut into so many groups; a group is as good as its two best experts",
              .only_for = kSigmoid,
              .applies = sigmoid},
        int64_t{1});
  visit(m.top_groups, Field{.key = "top_groups",
                            .by_default = "groups",
                            .range = between(1, kMostExperts),
                            .meaning = "a token chooses from so many groups, the best",
                            .only_for = kSigmoid,
                            .applies = sigmoid});
  visit(m.scale,
        Field{.key = "scale",
              .range = above(0),
              .meaning = "the weights of a token's experts are multiplied by it",
              .only_for = kMoe,
              .applies = moe},
        1.0);
}

template <class Moe, class Visit>
void balance_fields(Moe& m, bool moe, Visit&& visit) {
  constexpr std::string_view kMoe = "moe.experts > 0";
  visit(m.aux_loss,
        Field{.key = "aux_loss",
              .by_default = "0.01, or 0 with balance_rate",
              .range = at_least(0),
              .meaning = "coefficient of the loss that evens out the experts' load, E sum f p per "
                         "token and layer; 0: off",
              .only_for = kMoe,
              .applies = moe});
  visit(m.aux_scope,
        Field{.key = "aux_scope",
              .meaning = "the tokens over which the load is to be even",
              .only_for = "moe.aux_loss > 0",
              .applies = moe && may_exceed(m.aux_loss, 0.0)},
        AuxScope::micro_batch);
  visit(m.z_loss,
        Field{.key = "z_loss",
              .range = at_least(0),
              .meaning = "coefficient of logsumexp^2 of the router's logits; 0: off",
              .only_for = kMoe,
              .applies = moe},
        0.0);
  visit(m.balance_rate,
        Field{.key = "balance_rate",
              .by_default = "0.001",
              .range = at_least(0),
              .meaning = "how far a step moves the bias that experts are chosen with, up for those with less "
                         "than the mean load, else down; 0: no bias",
              .only_for = "moe.score = \"sigmoid\"",
              .applies = moe && may_be(m.score, RouterScore::sigmoid)});
}

template <class Model, class Visit>
void moe_fields(Model& model, Visit&& visit) {
  auto& m = model.moe;
  const bool gated = may_be(model.family, Family::llama, Family::deepseek);
  const bool moe = gated && may_exceed(m.experts, int64_t{0});
  constexpr std::string_view kMoe = "moe.experts > 0";
  visit(m.experts,
        Field{.key = "experts",
              .range = between(0, kMostExperts),
              .meaning = "experts of a MoE layer, of which a token uses top_k; 0: all layers are dense",
              .only_for = kGatedFamilies,
              .applies = gated},
        int64_t{0});
  visit(m.top_k,
        Field{.key = "top_k",
              .range = between(1, kMostExperts),
              .meaning = "experts that a token goes to; ties go to the first",
              .only_for = kMoe,
              .applies = moe},
        int64_t{2});
  visit(m.expert_ffn, Field{.key = "expert_ffn",
                            .by_default = "model.ffn",
                            .range = between(1, 1 << 24),
                            .meaning = "size of one expert's feed-forward layer",
                            .only_for = kMoe,
                            .applies = moe});
  visit(m.shared_ffn,
        Field{.key = "shared_ffn",
              .range = between(0, 1 << 24),
              .meaning = "size of the experts that every token goes to, together; 0: none",
              .only_for = kMoe,
              .applies = moe},
        int64_t{0});
  visit(m.first_dense,
        Field{.key = "first_dense",
              .unit = "layers",
              .range = between(0, kMostLayers),
              .meaning = "the first layers, which have no experts",
              .only_for = kMoe,
              .applies = moe},
        int64_t{0});
  visit(m.every,
        Field{.key = "every",
              .unit = "layers",
              .range = between(1, kMostLayers),
              .meaning = "of the layers after those, counted from 1, it is each n-th that has experts",
              .only_for = kMoe,
              .applies = moe},
        int64_t{1});
  router_fields(m, moe, visit);
  balance_fields(m, moe, visit);
  visit(
      m.capacity_factor,
      Field{.key = "capacity_factor",
            .range = at_least(0),
            .meaning = "an expert takes at most its even share of a micro-batch times this, in the order of "
                       "tokens, and drops the rest; 0: it takes all",
            .only_for = kMoe,
            .applies = moe},
      0.0);
  visit(m.receive_factor,
        Field{.key = "receive_factor",
              .range = at_least(0),
              .effect = Effect::logistics,
              .meaning = "with parallel.ep > 1: rows that a rank has memory for, of its even share; more are "
                         "worked off in rounds; 0: for as many as there can be",
              .only_for = kMoe,
              .applies = moe},
        1.5);
}

}  // namespace trireme
