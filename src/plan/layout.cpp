// Layouts as the config's keys, and as words.
#include "plan/layout.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <array>

#include "config/parallel_fields.h"

namespace trireme {
namespace {

// What resolve chooses where the user does not (config/resolve_sections.cpp).
int64_t usual_lanes(const RunSpec& spec) {
  const ParallelSpec& p = spec.parallel;
  const int64_t ranks = data_parallel_ranks(spec), micro_batches = spec.batch.sequences / spec.batch.micro;
  const bool halves = p.pp > 1 && !p.schedule_file && p.schedule == PipelineSchedule::dualpipe;
  return halves && micro_batches % (2 * ranks) == 0 ? 2 * ranks : ranks;
}

}  // namespace

// Keys that the config leaves idle get their defaults, for layouts in which they are not.
Layout layout_of(const RunSpec& spec) {
  Layout layout{spec.parallel, spec.batch.micro};
  parallel_fields(layout.parallel, [](auto& member, const Field& f, const auto&... fallback) {
    if (!f.applies) ((member = fallback), ...);
  });
  return layout;
}

int64_t data_parallel_of(const Layout& layout) {
  return layout.parallel.dp_replicate * layout.parallel.dp_shard;
}

int64_t ranks_of(const Layout& layout) {
  return data_parallel_of(layout) * layout.parallel.pp * layout.parallel.cp * layout.parallel.tp;
}

bool has_fixed_lanes(const RunSpec& spec) { return spec.batch.lanes != usual_lanes(spec); }

RunSpec with_layout(const RunSpec& base, const Layout& layout) {
  RunSpec spec = base;
  spec.parallel = layout.parallel;
  spec.batch.micro = layout.micro;
  if (!has_fixed_lanes(base)) spec.batch.lanes = usual_lanes(spec);
  return parse_config(to_toml(spec), "the layout " + text_of(layout));
}

bool sums_each_micro_batch(const Layout& layout) {
  const ParallelSpec& p = layout.parallel;
  return p.reduce_each_micro_batch && p.zero >= 2 && p.dp_shard * p.cp > 1;
}

std::string text_of(const Layout& layout) {
  const ParallelSpec& p = layout.parallel;
  std::vector<std::string> parts;
  if (p.dp_replicate > 1 || (p.dp_shard == 1 && ranks_of(layout) == 1))
    parts.push_back(fmt::format("{} replicated", p.dp_replicate));
  if (p.dp_shard > 1)
    parts.push_back(fmt::format("zero {} over {}", p.zero, p.dp_shard));
  else if (p.zero > 0 && p.cp > 1)
    parts.push_back(fmt::format("zero {} over cp", p.zero));
  if (sums_each_micro_batch(layout)) parts.back() += " after each micro-batch";
  if (p.tp > 1) parts.push_back(fmt::format("tp {}{}", p.tp, p.sequence ? "" : " without sequence"));
  if (p.cp > 1) parts.push_back(fmt::format("cp {} {}", p.cp, name_of_value(p.cp_mode)));
  if (p.ep > 1) parts.push_back(fmt::format("ep {}", p.ep));
  if (p.pp > 1) {
    parts.push_back(
        fmt::format("pp {} {}", p.pp, p.schedule_file ? *p.schedule_file : name_of_value(p.schedule)));
    if (p.virtual_stages.value_or(1) > 1) parts.back() += fmt::format(" x {}", *p.virtual_stages);
  }
  parts.push_back(fmt::format("micro {}", layout.micro));
  if (p.recompute != RecomputeKind::none)
    parts.push_back(fmt::format("recompute {}", name_of_value(p.recompute)));
  return fmt::format("{}", fmt::join(parts, ", "));
}

std::string_view name_of(Rung rung) {
  constexpr std::array<std::string_view, kRungs> kNames = {
      "replicated",         "zero 1",         "zero 2",   "zero 3",
      "tensor in the node", "experts spread", "pipeline", "context",
      "tensor across nodes"};
  return kNames[static_cast<size_t>(rung)];
}

Rung rung_of(const Layout& layout, int64_t devices_per_node) {
  const ParallelSpec& p = layout.parallel;
  if (p.tp > devices_per_node) return Rung::spanning;
  if (p.cp > 1) return Rung::context;
  if (p.pp > 1) return Rung::pipeline;
  if (p.ep > 1) return Rung::expert;
  if (p.tp > 1) return Rung::tensor;
  if (p.dp_shard == 1) return Rung::replicated;
  return static_cast<Rung>(p.zero);
}

int64_t complexity(const Layout& layout, int64_t devices_per_node) {
  const ParallelSpec& p = layout.parallel;
  int64_t c = static_cast<int64_t>(rung_of(layout, devices_per_node)) * 1000;
  c += p.zero * 100 + (p.ep > 1 ? 100 : 0);
  if (p.pp > 1) c += static_cast<int64_t>(p.schedule) * 10 + p.virtual_stages.value_or(1);
  if (p.dp_shard > 1 && p.dp_replicate > 1) c += 50;
  c += static_cast<int64_t>(p.recompute) * 20 + (sums_each_micro_batch(layout) ? 30 : 0);
  return c;
}

}  // namespace trireme
