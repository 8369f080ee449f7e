// Memory, then time, then the run. Ranks of a pipeline stand side by side where they differ.
#include "plan/report.h"

#include <fmt/format.h>

#include <algorithm>

#include "hardware/assumptions.h"
#include "plan/calculators/worked.h"
#include "plan/changes.h"
#include "plan/quantities.h"
#include "plan/reasons.h"

namespace trireme {
namespace {

constexpr size_t kColumns = 8;

std::string_view device_noun(const Cluster& cluster) {
  return cluster.hardware->kind == DeviceClass::cpu ? "core" : "device";
}

std::string heading(const Plan& plan) {
  const RunSpec& spec = plan.spec;
  const Cluster& cluster = plan.cluster;
  std::string text =
      fmt::format("{}: {} parameters on {} of {}, {} ({})\n", spec.run.name, grouped(plan.parameters),
                  counted(plan.devices, device_noun(cluster)), counted(cluster.nodes, "node"),
                  cluster.hardware->name, cluster.hardware->device);
  if (!plan.fits()) text += shortage_text(outcome_of(plan)) + "\n";
  text += assumptions_text(*cluster.hardware);
  text += fmt::format("layout: {}, {}\n", counted(all_ranks(spec), "rank"), text_of(layout_of(spec)));
  if (cluster.hardware->kind == DeviceClass::gpu && plan.devices > all_ranks(spec))
    text += fmt::format("{} of the nodes are idle\n", counted(plan.devices - all_ranks(spec), "device"));
  return text + fmt::format("step: {} of {} tokens = {} tokens; {} on each of {}\n",
                            counted(spec.batch.sequences, "sequence"), spec.data.seq_len,
                            grouped(tokens_per_step(spec)),
                            micro_batches_per_step(spec) == 1
                                ? "1 micro-batch"
                                : fmt::format("{} micro-batches", micro_batches_per_step(spec)),
                            counted(data_parallel_ranks(spec), "data-parallel rank"));
}

std::string peak_time(const Plan& plan, const RankMemory& memory) {
  if (memory.peak.timeline != "train") return "";
  for (const SimRank& rank : plan.step.ranks) {
    if (rank.program != static_cast<size_t>(memory.stage_rank)) continue;
    for (const SimSpan& span : rank.spans)
      if (span.action == static_cast<size_t>(memory.peak.action.index))
        return fmt::format(", {} into the step", seconds_text(span.start_s));
  }
  return "";
}

// Though ZeRO 2 and 3 would cut them.
bool keeps_gradients_whole(const RunSpec& spec) {
  const ParallelSpec& p = spec.parallel;
  return p.zero >= 2 && p.dp_shard * p.cp > 1 && micro_batches_per_step(spec) > 1 &&
         !sums_each_micro_batch(layout_of(spec));
}

std::string memory_text(const Plan& plan) {
  const RankMemory& fullest = plan.fullest();
  std::string text = fmt::format("\nmemory of {}\n",
                                 plan.memory.size() > 1
                                     ? fmt::format("the fullest rank, {} of the pipeline", fullest.stage_rank)
                                     : "a rank");
  text += fmt::format("  {:<14} {:>18} {:>10}\n", "part", "bytes", "GB");
  const auto row = [&](std::string_view name, int64_t bytes, std::string_view meaning) {
    text += fmt::format("  {:<14} {:>18} {:>10.3f}{}{}\n", name, grouped(bytes),
                        static_cast<double>(bytes) / 1e9, meaning.empty() ? "" : "   ", meaning);
  };
  for (int i = 0; i < kMemoryParts; ++i) {
    const auto part = static_cast<MemoryPart>(i);
    if (fullest.part(part) == 0) continue;
    const bool whole = part == MemoryPart::gradients && keeps_gradients_whole(plan.spec);
    row(name_of(part), fullest.part(part),
        whole ? "whole sums of all micro-batches; parallel.reduce_each_micro_batch = true cuts them"
              : meaning_of(part));
  }
  row("total", fullest.total_bytes(), "");
  const int64_t overhead = fullest.part(MemoryPart::overhead);
  row("there is", plan.room_bytes() + overhead, "");
  row(plan.fits() ? "left" : "too many", std::abs(plan.missing_bytes()), "");
  return text + fmt::format("  fullest at {}{}\n", fullest.when, peak_time(plan, fullest));
}

// All ranks of a pipeline, the rows of parts that they have.
std::string stages_text(const Plan& plan) {
  if (plan.memory.size() == 1) return "";
  std::string text = "\nmemory by rank of the pipeline, GB\n";
  for (size_t from = 0; from < plan.memory.size(); from += kColumns) {
    const size_t to = std::min(plan.memory.size(), from + kColumns);
    text += fmt::format("  {:<14}", "rank");
    for (size_t r = from; r < to; ++r) text += fmt::format(" {:>9}", plan.memory[r].stage_rank);
    for (int i = 0; i <= kMemoryParts; ++i) {
      const auto bytes = [&](const RankMemory& memory) {
        return i == kMemoryParts ? memory.total_bytes() : memory.bytes[static_cast<size_t>(i)];
      };
      if (std::all_of(plan.memory.begin(), plan.memory.end(), [&](const auto& m) { return bytes(m) == 0; }))
        continue;
      text += fmt::format("\n  {:<14}", i == kMemoryParts ? "total" : name_of(static_cast<MemoryPart>(i)));
      for (size_t r = from; r < to; ++r)
        text += fmt::format(" {:>9.3f}", static_cast<double>(bytes(plan.memory[r])) / 1e9);
    }
    text += "\n";
  }
  return text;
}

std::string_view time_meaning(TimePart part) {
  switch (part) {
    case TimePart::compute:
      return "forward, backward and the weights' preparation";
    case TimePart::bubble:
      return "waiting for another stage's compute";
    case TimePart::optimizer:
      return "norm and update";
    case TimePart::loader:
      return "batches to the device";
    default:
      return "communication that nothing hides";
  }
}

// Whose kernels the times are those of, where that is not ours.
std::string software_text(const Hardware& hardware) {
  if (hardware.kind == DeviceClass::cpu || hardware.kernels.unfused <= 1) return "";
  return fmt::format(
      "  as software that moves {} times the bytes of fused kernels between products (kernels.unfused);\n"
      "  fused by hand: --assume kernels.unfused=1\n",
      hardware.kernels.unfused);
}

std::string time_text(const Plan& plan) {
  const SimRank& busiest = plan.step.busiest();
  std::string text =
      fmt::format("\ntime of a step{}: {}, as rank {} spends it\n", plan.fits() ? "" : ", if it did fit",
                  seconds_text(plan.step_s()), busiest.rank);
  text += fmt::format("  {:<14} {:>12} {:>8}\n", "part", "time", "share");
  for (int i = 0; i < kTimeParts; ++i) {
    const auto part = static_cast<TimePart>(i);
    const double s = busiest.part(part);
    if (s == 0 && (is_communication(part) || part == TimePart::bubble)) continue;
    text += fmt::format("  {:<14} {:>12} {:>8}   {}\n", name_of(part), seconds_text(s),
                        fmt::format("{:.1f} %", 100 * s / plan.step_s()), time_meaning(part));
  }
  return text + software_text(*plan.cluster.hardware);
}

std::string speed_text(const Plan& plan) {
  std::string text =
      fmt::format("\nspeed: {} tokens/s, {} on each {}\n", grouped(static_cast<int64_t>(plan.tokens_per_s())),
                  grouped(static_cast<int64_t>(plan.tokens_per_s() / static_cast<double>(plan.devices))),
                  device_noun(plan.cluster));
  text += fmt::format(
      "  MFU {}: the model's FLOPs, 6 for each parameter of a product and token, and attention over the "
      "whole\n"
      "      square, recomputation not counted, over the peak of the devices that have ranks\n"
      "  HFU {}: FLOPs that are computed, recomputation and the update among them, attention as the mask "
      "lets\n"
      "      through, over the same peak\n",
      as_percent(plan.mfu()), as_percent(plan.hfu()));
  text += fmt::format(
      "run: {} steps, {:.4g} tokens: {:.4g} hours, {:.4g} {}-hours, without evaluation, saves and failures\n",
      grouped(plan.spec.run.steps), plan.run_tokens(), plan.run_hours(), plan.device_hours(),
      plan.cluster.hardware->kind == DeviceClass::cpu ? "core" : "GPU");
  return text;
}

}  // namespace

std::string plan_text(const Plan& plan) {
  return heading(plan) + memory_text(plan) + stages_text(plan) + time_text(plan) + speed_text(plan);
}

std::string fixes_text(const Plan& plan, const std::vector<Fix>& fixes) {
  if (plan.fits()) return "";
  std::string text;
  if (const int64_t staging = plan.fullest().part(MemoryPart::staging); staging > 0) {
    const bool enough = std::ranges::all_of(plan.memory, [&](const RankMemory& rank) {
      return rank.arena_bytes - rank.part(MemoryPart::staging) <= plan.room_bytes();
    });
    text += fmt::format("\ncheckpoint.async = false would leave out the staging copy, {}{}\n",
                        bytes_text(staging), enough ? ": it fits then" : "");
  }
  if (fixes.empty())
    return text +
           "\nno change of its layout makes it fit; take devices with more memory, or a smaller model\n";
  text += "\nchanges that fit, the fastest first; speed is for each device, against the plan above\n";
  for (const Fix& fix : fixes)
    text += fmt::format(
        "  {:>8}  {:>12}  {:>10}  {}{}\n", change_percent(fix.speed),
        fmt::format("{} tok/s", grouped(static_cast<int64_t>(fix.outcome.tokens_per_s))),
        bytes_text(fix.outcome.fullest.total_bytes()), change_text(layout_of(plan.spec), fix.outcome.layout),
        fix.outcome.devices == plan.devices ? "" : fmt::format(" ({} devices)", fix.outcome.devices));
  return text;
}

}  // namespace trireme
