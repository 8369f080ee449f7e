// [moe]: layers whose feed-forward part is a choice of experts. A part of the model's shape, so it stands in
// ModelSpec; a section of its own in the file. Read by src/model/moe.cpp.
#pragma once
#include "config/field.h"

namespace trireme {

// What turns a router's logits into scores.
enum class RouterScore : uint8_t { softmax, sigmoid };
// before: softmax over all experts, then the choice; after: over the logits of the chosen ones only
// (Mixtral).
enum class SoftmaxOrder : uint8_t { before, after };
// Over which tokens the load is meant to be even.
enum class AuxScope : uint8_t { micro_batch, sequence };

std::span<const std::string_view> names_of_values(RouterScore);
std::span<const std::string_view> names_of_values(SoftmaxOrder);
std::span<const std::string_view> names_of_values(AuxScope);

template <template <class> class As>
struct MoeKeys {
  As<int64_t> experts{};      // E of a MoE layer; 0: there are none
  As<int64_t> top_k{};        // experts that a token goes to
  As<int64_t> expert_ffn{};   // F of one expert
  As<int64_t> shared_ffn{};   // F of the experts that all tokens go to, together; 0: none
  As<int64_t> first_dense{};  // layers before the first MoE layer
  As<int64_t> every{};        // of the others, those are MoE layers whose number, from 1 on, this divides
  As<RouterScore> score{};
  As<SoftmaxOrder> softmax_order{};
  As<bool> normalize{};      // weights of the chosen are divided by their sum
  As<int64_t> groups{};      // sigmoid: experts are cut into so many groups,
  As<int64_t> top_groups{};  // of which a token may choose from so many
  As<double> scale{};        // weights are multiplied by it
  As<double> aux_loss{};     // coefficient of the balancing loss; 0: none
  As<AuxScope> aux_scope{};
  As<double> z_loss{};           // coefficient of the router's logsumexp^2; 0: none
  As<double> balance_rate{};     // sigmoid: step of the choosing bias; 0: no bias
  As<double> capacity_factor{};  // tokens that an expert takes, of its even share; 0: all that come
  As<double> receive_factor{};   // rows that memory is planned for, of the even share; 0: for all there are
};

using MoeSpec = MoeKeys<Plain>;

}  // namespace trireme
