// Names of a program's enumerations.
#include "ir/program.h"

namespace trireme {

std::string_view name_of(ActionKind kind) {
  constexpr std::array<std::string_view, kActionKinds> kNames = {
      "load",        "unshard",        "gather_params",   "prepare",     "zero",          "forward",
      "backward",    "backward_input", "backward_weight", "send_act",    "recv_act",      "send_grad",
      "recv_grad",   "combine_lanes",  "combine_uses",    "reduce_grad", "gather_losses", "loss",
      "reduce_loss", "norm_partial",   "gather_norm",     "group_norm",  "grad_norm",     "optimizer"};
  return kNames[static_cast<size_t>(kind)];
}

bool is_backward(ActionKind kind) {
  return kind == ActionKind::backward || kind == ActionKind::backward_input ||
         kind == ActionKind::backward_weight;
}

bool is_update(ActionKind kind) {
  return kind == ActionKind::norm_partial || kind == ActionKind::group_norm ||
         kind == ActionKind::grad_norm || kind == ActionKind::optimizer;
}

Section section_of(ActionKind kind) {
  switch (kind) {
    case ActionKind::prepare:
      return Section::prepare;
    case ActionKind::backward:
      return Section::backward;
    case ActionKind::backward_input:
      return Section::backward_input;
    case ActionKind::backward_weight:
      return Section::backward_weight;
    default:
      return Section::forward;
  }
}

std::string_view name_of(Stream stream) {
  constexpr std::array<std::string_view, kStreams> kNames = {"compute", "comm", "p2p"};
  return kNames[static_cast<size_t>(stream)];
}

std::string_view name_of(CommOp op) {
  constexpr std::array<std::string_view, kCommOps> kNames = {"all_reduce", "reduce_scatter", "all_gather",
                                                             "send", "recv"};
  return kNames[static_cast<size_t>(op)];
}

std::string_view name_of(BufferClass cls) {
  constexpr std::array<std::string_view, kBufferClasses> kNames = {
      "master", "moment",    "gradient", "compute", "prepared", "activation", "saved",
      "held",   "workspace", "batch",    "cache",   "scalar",   "staging"};
  return kNames[static_cast<size_t>(cls)];
}

const Timeline* find_timeline(const Program& program, std::string_view name) {
  for (const Timeline& timeline : program.timelines)
    if (timeline.name == name) return &timeline;
  return nullptr;
}

}  // namespace trireme
