// By the keys that differ.
#include "exchange/same_model.h"

#include <algorithm>
#include <array>

#include "base/error.h"

namespace trireme {
namespace {

// What does not change which function the weights are of, or is meant to be changed when a model is trained
// on: positions that reach further, what training alone sees.
constexpr std::array kMayDiffer = {
    "model.rope_layout",     "model.rope_theta",  "model.context", "model.window", "model.ffn",
    "model.init_std",        "model.init_from",   "model.z_loss",  "model.mtp",    "model.mtp_weight",
    "model.mla.score_scale", "moe.aux_loss",      "moe.aux_scope", "moe.z_loss",   "moe.balance_rate",
    "moe.capacity_factor",   "moe.receive_factor"};

bool may_differ(const std::string& key) {
  return key.starts_with("model.rope_scaling.") || std::ranges::find(kMayDiffer, key) != kMayDiffer.end();
}

// A softmax over all experts whose chosen ones are divided by their sum is one over the chosen.
RunSpec with_one_softmax(RunSpec spec) {
  MoeSpec& moe = spec.model.moe;
  if (moe.score == RouterScore::softmax && moe.normalize) moe.softmax_order = SoftmaxOrder::after;
  if (moe.softmax_order == SoftmaxOrder::after) moe.normalize = true;
  return spec;
}

}  // namespace

void require_same_model(const RunSpec& saved, const std::string& from, const ModelSpec& spec) {
  RunSpec ours = saved;
  ours.model = spec;
  for (const Difference& difference : diff(with_one_softmax(saved), with_one_softmax(ours)))
    if (!may_differ(difference.key))
      fail_user("{} = {}, but {} has a model with {}: use that, or other weights", difference.key,
                difference.after.empty() ? "(unset)" : difference.after, from,
                difference.before.empty() ? "(unset)" : difference.before);
}

}  // namespace trireme
