// Names of a program's enumerations.
#include "ir/program.h"

namespace trireme {

std::string_view name_of(ActionKind kind) {
  constexpr std::array<std::string_view, kActionKinds> kNames = {
      "load",        "unshard",        "gather_params",   "prepare",       "zero",        "forward",
      "backward",    "backward_input", "backward_weight", "combine_lanes", "reduce_grad", "loss",
      "reduce_loss", "norm_partial",   "gather_norm",     "grad_norm",     "optimizer"};
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

std::string_view name_of(CommAxis axis) {
  constexpr std::array<std::string_view, kCommAxes> kNames = {"dp", "dp_shard", "dp_replicate"};
  return kNames[static_cast<size_t>(axis)];
}

std::string_view name_of(CommOp op) {
  constexpr std::array<std::string_view, kCommOps> kNames = {"all_reduce", "reduce_scatter", "all_gather"};
  return kNames[static_cast<size_t>(op)];
}

int32_t size_of(const Mesh& mesh, CommAxis axis) {
  if (axis == CommAxis::dp) return mesh.ranks();
  return axis == CommAxis::dp_shard ? mesh.dp_shard : mesh.dp_replicate;
}

std::vector<int> members_of(const Mesh& mesh, CommAxis axis, int32_t rank) {
  const int32_t stride = axis == CommAxis::dp_replicate ? mesh.dp_shard : 1;
  const int32_t place = axis == CommAxis::dp         ? rank
                        : axis == CommAxis::dp_shard ? rank % mesh.dp_shard
                                                     : rank / mesh.dp_shard;
  std::vector<int> members;
  for (int32_t i = 0; i < size_of(mesh, axis); ++i) members.push_back(rank + (i - place) * stride);
  return members;
}

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
