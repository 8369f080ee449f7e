// A sum over the buffers that are alive at the peak. What p2p actions move is told from other activations by
// who touches it.
#include "plan/rank_memory.h"

#include <fmt/format.h>

#include <set>

#include "compile/timeline_text.h"

namespace trireme {
namespace {

struct PartText {
  std::string_view name, meaning;
};
constexpr std::array<PartText, kMemoryParts> kTexts = {{
    {"parameters", "in the compute dtype, whole or gathered, and as kernels have them laid out"},
    {"gradients", "sums in fp32"},
    {"master", "weights in fp32"},
    {"moments", "of the optimizer, in fp32"},
    {"saved", "activations kept from forward to backward"},
    {"activations", "between the blocks of a rank"},
    {"communication", "sent to and received from other stages"},
    {"scratch", "inside the block at work, its collectives' buffers among it"},
    {"staging", "the copy that a checkpoint is written from"},
    {"batches", "tokens, and sums over them"},
    {"gaps", "between buffers"},
    {"overhead", "of drivers and libraries, by the hardware file"},
}};

std::set<BufferId> moved_between_stages(const Timeline& timeline) {
  std::set<BufferId> moved;
  for (const Action& action : timeline.actions) {
    if (action.stream != Stream::p2p) continue;
    for (const Transfer& transfer : action.transfers)
      moved.insert(transfer.op == CommOp::send ? transfer.from.buffer : transfer.to.buffer);
  }
  return moved;
}

MemoryPart part_of(BufferClass cls) {
  using enum BufferClass;
  switch (cls) {
    case compute:
    case prepared:
      return MemoryPart::parameters;
    case gradient:
      return MemoryPart::gradients;
    case master:
      return MemoryPart::master;
    case moment:
      return MemoryPart::moments;
    case saved:
    case held:
      return MemoryPart::saved;
    case activation:
    case cache:
      return MemoryPart::activations;
    case workspace:
      return MemoryPart::scratch;
    case staging:
      return MemoryPart::staging;
    case batch:
    case scalar:
      return MemoryPart::batches;
  }
  return MemoryPart::batches;
}

std::string text_of(const Program& program, const MemoryMoment& peak) {
  const Timeline* timeline = find_timeline(program, peak.timeline);
  if (timeline == nullptr) return "all the time";
  const Action& action = timeline->actions[static_cast<size_t>(peak.action.index)];
  std::string text = fmt::format("timeline {}, action {}: {} {}", timeline->name, peak.action.index,
                                 name_of(action.kind), subject_of(program, action));
  if (action.micro_batch >= 0) text += fmt::format(", micro-batch {}", action.micro_batch);
  return text;
}

}  // namespace

std::string_view name_of(MemoryPart part) { return kTexts[static_cast<size_t>(part)].name; }
std::string_view meaning_of(MemoryPart part) { return kTexts[static_cast<size_t>(part)].meaning; }

int64_t RankMemory::total_bytes() const {
  int64_t sum = 0;
  for (const int64_t b : bytes) sum += b;
  return sum;
}

RankMemory memory_of(const Program& program, int64_t overhead_bytes) {
  RankMemory memory;
  memory.rank = program.rank;
  memory.stage_rank = program.mesh.stage_rank(program.rank);
  memory.arena_bytes = program.memory.arena_bytes;
  memory.peak = memory_peak(program);
  memory.when = text_of(program, memory.peak);
  const auto add = [&](MemoryPart part, int64_t bytes) { memory.bytes[static_cast<size_t>(part)] += bytes; };
  const Timeline* timeline = find_timeline(program, memory.peak.timeline);
  const int64_t index = timeline == nullptr ? -1 : timeline - program.timelines.data();
  const std::set<BufferId> moved =
      timeline == nullptr ? std::set<BufferId>{} : moved_between_stages(*timeline);
  for (size_t b = 0; b < program.memory.buffers.size(); ++b) {
    const Buffer& buffer = program.memory.buffers[b];
    const bool lasts = buffer.timeline < 0;
    if (!lasts && (buffer.timeline != index || !buffer.first.valid() || buffer.first > memory.peak.action ||
                   buffer.last < memory.peak.action))
      continue;
    const bool talks =
        buffer.cls == BufferClass::activation && moved.contains(BufferId(static_cast<int64_t>(b)));
    add(talks ? MemoryPart::communication : part_of(buffer.cls), buffer.bytes);
  }
  add(MemoryPart::gaps, memory.arena_bytes - memory.peak.total());
  add(MemoryPart::overhead, overhead_bytes);
  return memory;
}

}  // namespace trireme
