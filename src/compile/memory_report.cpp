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

namespace {

struct MemoryPart {
  int64_t bytes;
  std::string_view name;
};

std::vector<MemoryPart> parts_of(const MemoryMoment& moment) {
  std::vector<MemoryPart> parts;
  for (int c = 0; c < kBufferClasses; ++c)
    if (moment.bytes[static_cast<size_t>(c)] > 0)
      parts.push_back({moment.bytes[static_cast<size_t>(c)], name_of(static_cast<BufferClass>(c))});
  std::stable_sort(parts.begin(), parts.end(),
                   [](const MemoryPart& a, const MemoryPart& b) { return a.bytes > b.bytes; });
  return parts;
}

double megabytes(int64_t bytes) { return static_cast<double>(bytes) / 1e6; }

}  // namespace

std::string memory_summary(const Program& program) {
  const MemoryMoment peak = memory_peak(program);
  std::string text;
  for (const MemoryPart& part : parts_of(peak))
    text += fmt::format("{}{} {:.1f}", text.empty() ? "" : ", ", part.name, megabytes(part.bytes));
  return fmt::format("memory: one arena of {} bytes ({:.1f} MB); at its peak {:.1f} MB: {}",
                     program.memory.arena_bytes, megabytes(program.memory.arena_bytes),
                     megabytes(peak.total()), text);
}

std::string memory_table(const Program& program) {
  int64_t parameters = 0;
  for (const Param& param : program.params) parameters += count(param.shape);
  const MemoryMoment peak = memory_peak(program);
  std::string text = fmt::format("arena {} bytes ({:.1f} MB), {} parameters\n", program.memory.arena_bytes,
                                 megabytes(program.memory.arena_bytes), parameters);
  text += fmt::format("peak: timeline {}, action {}\n", peak.timeline, peak.action.index);
  text += fmt::format("{:<12} {:>14} {:>12} {:>16}\n", "part", "bytes", "MB", "B / parameter");
  const auto row = [&](std::string_view name, int64_t bytes) {
    text += fmt::format("{:<12} {:>14} {:>12.1f} {:>16.2f}\n", name, bytes, megabytes(bytes),
                        static_cast<double>(bytes) / static_cast<double>(parameters));
  };
  for (const MemoryPart& part : parts_of(peak)) row(part.name, part.bytes);
  row("gaps", program.memory.arena_bytes - peak.total());
  row("total", program.memory.arena_bytes);
  return text;
}

}  // namespace trireme
