// Ranks for a longer axis come from dp_replicate, then from dp_shard, else from outside.
#include "plan/changes.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

namespace trireme {
namespace {

// Every key that the planner may change, with its value as text.
std::vector<std::pair<std::string_view, std::string>> keys_of(const Layout& layout) {
  const ParallelSpec& p = layout.parallel;
  return {
      {"parallel.dp_replicate", std::to_string(p.dp_replicate)},
      {"parallel.dp_shard", std::to_string(p.dp_shard)},
      {"parallel.zero", std::to_string(p.zero)},
      {"parallel.reduce_each_micro_batch", sums_each_micro_batch(layout) ? "true" : "false"},
      {"parallel.tp", std::to_string(p.tp)},
      {"parallel.sequence", p.tp == 1 || p.sequence ? "true" : "false"},
      {"parallel.cp", std::to_string(p.cp)},
      {"parallel.ep", std::to_string(p.ep)},
      {"parallel.pp", std::to_string(p.pp)},
      {"parallel.schedule", p.pp > 1 ? std::string(name_of_value(p.schedule)) : "none"},
      {"parallel.virtual_stages", std::to_string(p.pp > 1 ? p.virtual_stages.value_or(1) : 1)},
      {"batch.micro", std::to_string(layout.micro)},
      {"parallel.recompute", std::string(name_of_value(p.recompute))},
  };
}

// Data-parallel ranks divided by `by`; false where they do not divide.
bool take_ranks(Layout& layout, int64_t by) {
  ParallelSpec& p = layout.parallel;
  if (p.dp_replicate % by == 0) {
    p.dp_replicate /= by;
  } else if (p.dp_shard % by == 0) {
    p.dp_shard /= by;
  } else if (p.dp_replicate * p.dp_shard % by == 0 && p.zero == 0) {
    p.dp_replicate = p.dp_replicate * p.dp_shard / by;
    p.dp_shard = 1;
  } else {
    return false;
  }
  if (p.dp_shard * p.cp == 1) p.zero = 0;
  return true;
}

void give_ranks(Layout& layout, int64_t by) {
  (layout.parallel.zero > 0 ? layout.parallel.dp_shard : layout.parallel.dp_replicate) *= by;
}

Layout with_zero(Layout layout, int64_t zero) {
  ParallelSpec& p = layout.parallel;
  if (p.zero == 0 && p.dp_shard == 1) std::swap(p.dp_shard, p.dp_replicate);
  if (zero == 0) {
    p.dp_replicate *= p.dp_shard;
    p.dp_shard = 1;
  }
  p.zero = zero;
  return layout;
}

Layout with_pp(Layout layout, int64_t pp) {
  ParallelSpec& p = layout.parallel;
  if (p.pp == 1 || pp == 1) {
    p.schedule = PipelineSchedule::one_forward_one_backward;
    p.virtual_stages = 1;
    p.schedule_file.reset();
  }
  p.pp = pp;
  p.stages.clear();
  if (pp == 1) p.virtual_stages.reset();
  return layout;
}

Layout with_tp(Layout layout, int64_t tp) {
  if (layout.parallel.tp == 1) layout.parallel.sequence = true, layout.parallel.tp_chunks = 1;
  layout.parallel.etp = layout.parallel.tp > 1 && layout.parallel.etp == 1 ? 1 : tp;
  layout.parallel.tp = tp;
  return layout;
}

constexpr int kRecomputeKinds = 3;

Layout with_recompute(Layout layout, int kind) {
  layout.parallel.recompute = static_cast<RecomputeKind>(kind);
  return layout;
}

// Over as many ranks where that can be, else over `by` times as many where `most_ranks` allows.
void add_longer(std::vector<Layout>& found, const Layout& longer, int64_t by, int64_t most_ranks) {
  Layout same = longer;
  if (take_ranks(same, by))
    found.push_back(same);
  else if (ranks_of(longer) <= most_ranks)
    found.push_back(longer);
}

}  // namespace

std::vector<KeyChange> changed_keys(const Layout& before, const Layout& after) {
  const auto a = keys_of(before), b = keys_of(after);
  std::vector<KeyChange> changes;
  for (size_t i = 0; i < a.size(); ++i)
    if (a[i].second != b[i].second) changes.push_back({a[i].first, a[i].second, b[i].second});
  return changes;
}

std::string change_text(const Layout& before, const Layout& after) {
  std::vector<std::string> texts;
  for (const KeyChange& change : changed_keys(before, after))
    texts.push_back(fmt::format("{} {} -> {}", change.key, change.before, change.after));
  return fmt::format("{}", fmt::join(texts, ", "));
}

std::vector<Layout> smaller_layouts(const Layout& layout, int64_t most_ranks) {
  std::vector<Layout> found;
  const ParallelSpec& p = layout.parallel;
  const int64_t dp = data_parallel_of(layout);
  for (int64_t zero = std::max<int64_t>(1, p.zero); zero <= 3 && dp * p.cp > 1; ++zero) {
    if (zero > p.zero) found.push_back(with_zero(layout, zero));
    if (zero < 2 || sums_each_micro_batch(layout)) continue;
    found.push_back(with_zero(layout, zero));
    found.back().parallel.reduce_each_micro_batch = true;
  }
  for (int64_t by = 2; layout.micro % by == 0 && by <= layout.micro; by *= 2) {
    found.push_back(layout);
    found.back().micro /= by;
  }
  for (int kind = static_cast<int>(p.recompute) + 1; kind < kRecomputeKinds; ++kind)
    found.push_back(with_recompute(layout, kind));
  for (const int64_t by : {2, 4, 8}) {
    add_longer(found, with_tp(layout, p.tp * by), by, most_ranks);
    add_longer(found, with_pp(layout, p.pp * by), by, most_ranks);
  }
  for (int64_t by = 2; ranks_of(layout) * by <= most_ranks; by *= 2)
    for (int64_t zero = std::max<int64_t>(1, p.zero); zero <= 3; ++zero) {
      Layout wider = with_zero(layout, zero);
      wider.parallel.dp_shard *= by;
      found.push_back(wider);
    }
  return found;
}

std::vector<Layout> neighbours(const Layout& layout) {
  std::vector<Layout> found;
  const ParallelSpec& p = layout.parallel;
  const int64_t dp = data_parallel_of(layout);
  if (p.zero > 0) found.push_back(with_zero(layout, p.zero - 1));
  if (p.zero < 3 && dp * p.cp > 1) found.push_back(with_zero(layout, p.zero + 1));
  if (p.zero >= 2 && dp * p.cp > 1) {
    found.push_back(layout);
    found.back().parallel.reduce_each_micro_batch = !p.reduce_each_micro_batch;
  }
  if (layout.micro % 2 == 0) {
    found.push_back(layout);
    found.back().micro /= 2;
  }
  found.push_back(layout);
  found.back().micro *= 2;
  for (int kind = 0; kind < kRecomputeKinds; ++kind)
    if (kind != static_cast<int>(p.recompute)) found.push_back(with_recompute(layout, kind));
  const auto shorter = [&](Layout next) {
    give_ranks(next, 2);
    found.push_back(next);
  };
  add_longer(found, with_tp(layout, 2 * p.tp), 2, 0);
  if (p.tp % 2 == 0) shorter(with_tp(layout, p.tp / 2));
  if (p.tp > 1 && p.tp_chunks == 1) {
    found.push_back(layout);
    found.back().parallel.sequence = !p.sequence;
  }
  add_longer(found, with_pp(layout, 2 * p.pp), 2, 0);
  if (p.pp % 2 == 0) shorter(with_pp(layout, p.pp / 2));
  if (p.pp > 1 && p.schedule != PipelineSchedule::one_forward_one_backward) {
    found.push_back(layout);
    found.back().parallel.schedule = PipelineSchedule::one_forward_one_backward;
    found.back().parallel.virtual_stages = 1;
  }
  return found;
}

}  // namespace trireme
