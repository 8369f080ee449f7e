// A walk over lifetimes with running sums per class.
#include "compile/memory_report.h"

#include <fmt/format.h>

#include <algorithm>

namespace trireme {

int64_t MemoryMoment::total() const {
  int64_t sum = 0;
  for (const int64_t b : bytes) sum += b;
  return sum;
}

MemoryMoment memory_peak(const Program& program) {
  MemoryMoment lasting;
  for (const Buffer& buffer : program.memory.buffers)
    if (buffer.timeline < 0) lasting.bytes[static_cast<size_t>(buffer.cls)] += buffer.bytes;
  MemoryMoment peak = lasting;
  for (size_t t = 0; t < program.timelines.size(); ++t) {
    const Timeline& timeline = program.timelines[t];
    std::vector<std::array<int64_t, kBufferClasses>> change(timeline.actions.size() + 1);
    for (const Buffer& buffer : program.memory.buffers) {
      if (buffer.timeline != static_cast<int32_t>(t) || !buffer.first.valid()) continue;
      change[static_cast<size_t>(buffer.first.index)][static_cast<size_t>(buffer.cls)] += buffer.bytes;
      change[static_cast<size_t>(buffer.last.index) + 1][static_cast<size_t>(buffer.cls)] -= buffer.bytes;
    }
    MemoryMoment now = lasting;
    now.timeline = timeline.name;
    for (size_t a = 0; a < timeline.actions.size(); ++a) {
      for (size_t c = 0; c < now.bytes.size(); ++c) now.bytes[c] += change[a][c];
      now.action = ActionId(static_cast<int64_t>(a));
      if (now.total() > peak.total()) peak = now;
    }
  }
  return peak;
}

std::vector<std::string> memory_summary(const Program& program) {
  constexpr double kMB = 1e6;
  const MemoryMoment peak = memory_peak(program);
  std::vector<std::pair<int64_t, std::string_view>> parts;
  for (int c = 0; c < kBufferClasses; ++c)
    if (peak.bytes[static_cast<size_t>(c)] > 0)
      parts.emplace_back(peak.bytes[static_cast<size_t>(c)], name_of(static_cast<BufferClass>(c)));
  std::sort(parts.rbegin(), parts.rend());
  std::string text;
  for (const auto& [bytes, name] : parts)
    text += fmt::format("{}{} {:.1f}", text.empty() ? "" : ", ", name, static_cast<double>(bytes) / kMB);
  return {fmt::format("memory: one arena of {:.1f} MB; at its peak ({} {}) {:.1f} MB: {}",
                      static_cast<double>(program.memory.arena_bytes) / kMB, peak.timeline, peak.action.index,
                      static_cast<double>(peak.total()) / kMB, text)};
}

}  // namespace trireme
