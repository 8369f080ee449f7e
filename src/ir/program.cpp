// Names of a program's enumerations.
#include "ir/program.h"

namespace trireme {

std::string_view name_of(ActionKind kind) {
  constexpr std::array<std::string_view, 12> kNames = {
      "load",           "unshard",         "prepare", "zero",         "forward",   "backward",
      "backward_input", "backward_weight", "loss",    "norm_partial", "grad_norm", "optimizer"};
  return kNames[static_cast<size_t>(kind)];
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

std::string_view name_of(Stream stream) { return stream == Stream::compute ? "compute" : "comm"; }

std::string_view name_of(BufferClass cls) {
  constexpr std::array<std::string_view, kBufferClasses> kNames = {
      "master", "moment", "gradient",  "compute", "prepared", "activation",
      "saved",  "held",   "workspace", "batch",   "cache",    "scalar"};
  return kNames[static_cast<size_t>(cls)];
}

const Timeline* find_timeline(const Program& program, std::string_view name) {
  for (const Timeline& timeline : program.timelines)
    if (timeline.name == name) return &timeline;
  return nullptr;
}

}  // namespace trireme
