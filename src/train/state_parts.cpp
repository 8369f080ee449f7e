// Boxes of parameters (ir/state_boxes.h) to parts of tensors.
#include "train/state_parts.h"

#include <algorithm>
#include <cstring>
#include <thread>

#include "base/error.h"
#include "ir/state_boxes.h"

namespace trireme {

bool keeps(const Program& program, ParamState state) {
  return std::ranges::any_of(program.groups, [&](const ParamGroup& group) {
    return (state == ParamState::master    ? group.master
            : state == ParamState::moment1 ? group.moment1
                                           : group.moment2)
        .valid();
  });
}

int64_t state_bytes(const Program& program) {
  int64_t elements = 0;
  for (const Param& param : program.params) elements += count(param.shape);
  return elements * static_cast<int64_t>(kTrainingStates.size()) * size_of(DType::f32);
}

std::vector<TensorPart> written_parts(const Engine& engine) {
  const Program& program = engine.program();
  std::vector<TensorPart> parts;
  if (!engine.host_addressable()) return parts;
  for (size_t i = 0; i < program.params.size(); ++i) {
    const Param& param = program.params[i];
    const std::vector<StateBox> boxes = written_boxes(program, ParamId(static_cast<int64_t>(i)));
    if (boxes.empty()) continue;
    for (const NamedState& named : kTrainingStates) {
      if (!keeps(program, named.state)) continue;
      const std::span<const float> shard = engine.shard(param.group, named.state);
      for (const StateBox& box : boxes)
        parts.push_back({named.prefix + param.name, DType::f32, param.shape,
                         BoxPart{box.offset, box.shape, box.first, box.last},
                         std::as_bytes(shard.subspan(static_cast<size_t>(box.at),
                                                     static_cast<size_t>(box.last - box.first)))});
    }
  }
  return parts;
}

std::vector<TensorPart> staged(std::vector<TensorPart> parts, std::span<std::byte> staging, int threads) {
  struct Copy {
    std::byte* to;
    std::span<const std::byte> from;
  };
  // Cut so that threads can share large tensors.
  constexpr size_t kCopyBytes = size_t{4} << 20;
  std::vector<Copy> copies;
  size_t at = 0;
  for (TensorPart& part : parts) {
    CHECK(at + part.bytes.size() <= staging.size(), "{} bytes of staging are too few", staging.size());
    for (size_t i = 0; i < part.bytes.size(); i += kCopyBytes)
      copies.push_back(
          {staging.data() + at + i, part.bytes.subspan(i, std::min(kCopyBytes, part.bytes.size() - i))});
    part.bytes = staging.subspan(at, part.bytes.size());
    at += part.bytes.size();
  }
  const auto copy_every = [&](size_t first) {
    for (size_t i = first; i < copies.size(); i += static_cast<size_t>(threads))
      std::memcpy(copies[i].to, copies[i].from.data(), copies[i].from.size());
  };
  std::vector<std::jthread> helpers;
  for (int t = 1; t < threads && static_cast<size_t>(t) < copies.size(); ++t)
    helpers.emplace_back([&copy_every, t] { copy_every(static_cast<size_t>(t)); });
  copy_every(0);
  return parts;
}

}  // namespace trireme
