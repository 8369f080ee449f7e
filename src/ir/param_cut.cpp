// Roles to slices, slices to runs.
#include "ir/param_cut.h"

#include <fmt/format.h>

#include <algorithm>
#include <stdexcept>

namespace trireme {

bool is_expert(ParamRole role) { return role == ParamRole::expert_column || role == ParamRole::expert_row; }

namespace {

// Each part in equal slices.
DimCut cut_parts(int32_t dim, int64_t length, const ParamUse& use, int64_t ranks, int64_t rank) {
  const std::vector<int64_t> parts = use.parts.empty() ? std::vector{length} : use.parts;
  DimCut cut{dim, {}};
  int64_t begin = 0;
  for (const int64_t part : parts) {
    if (part % (ranks * use.unit) != 0)
      throw std::invalid_argument(
          fmt::format("{} ranks do not share {} in units of {}", ranks, part, use.unit));
    cut.ranges.push_back({begin + rank * (part / ranks), part / ranks});
    begin += part;
  }
  return cut;
}

// As many rows for every rank; the last ones may have padding.
DimCut cut_rounded_up(int64_t length, int64_t ranks, int64_t rank) {
  const int64_t own = (length + ranks - 1) / ranks, begin = std::min(length, rank * own);
  return {0, {{begin, std::min(length, begin + own) - begin}}};
}

int64_t tp_ranks(const ParamUse& use, const ParamAxes& axes) {
  return is_expert(use.role) ? axes.etp : axes.tp;
}

// The dim that tp cuts, or -1.
int32_t tp_dim(ParamRole role) {
  switch (role) {
    case ParamRole::column:
    case ParamRole::vocabulary:
      return 0;
    case ParamRole::row:
    case ParamRole::expert_column:
      return 1;
    case ParamRole::expert_row:
      return 2;
    default:
      return -1;
  }
}

int64_t length_of(const DimCut& cut) {
  int64_t n = 0;
  for (const IndexRange& range : cut.ranges) n += range.count;
  return n;
}

void add_run(std::vector<ElementRun>& runs, const ElementRun& run) {
  if (run.count == 0) return;
  ElementRun* last = runs.empty() ? nullptr : &runs.back();
  if (last != nullptr && last->whole + last->count == run.whole && last->own + last->count == run.own)
    last->count += run.count;
  else
    runs.push_back(run);
}

// What lies below dim, at these places of the whole and the own.
void add_runs(std::vector<ElementRun>& runs, const ParamCut& cut, const Shape& whole, size_t dim,
              int64_t at_whole, int64_t at_own) {
  if (dim == whole.size()) return add_run(runs, {at_whole, at_own, 1});
  int64_t below_whole = 1, below_own = 1;
  bool cut_below = false;
  for (size_t d = dim + 1; d < whole.size(); ++d) {
    below_whole *= whole[d];
    below_own *= cut.shape[d];
    cut_below = cut_below || whole[d] != cut.shape[d];
  }
  int64_t own = 0;
  for (const IndexRange& range : ranges_of(cut, dim)) {
    if (!cut_below) {
      add_run(runs,
              {at_whole + range.begin * below_whole, at_own + own * below_own, range.count * below_whole});
    } else {
      for (int64_t i = 0; i < range.count; ++i)
        add_runs(runs, cut, whole, dim + 1, at_whole + (range.begin + i) * below_whole,
                 at_own + (own + i) * below_own);
    }
    own += range.count;
  }
}

}  // namespace

std::string_view name_of(ParamRole role) {
  constexpr std::string_view kNames[] = {"whole",         "column",     "row",         "vocabulary",
                                         "expert_column", "expert_row", "router_state"};
  return kNames[static_cast<size_t>(role)];
}

std::vector<IndexRange> ranges_of(const ParamCut& cut, size_t dim) {
  for (const DimCut& d : cut.dims)
    if (d.dim == static_cast<int32_t>(dim)) return d.ranges;
  return {{0, cut.shape[dim]}};
}

bool is_cut_on_tp(ParamRole role, const Mesh& mesh) {
  return tp_dim(role) >= 0 && (is_expert(role) ? mesh.etp : mesh.tp) > 1;
}

Placements placements_of(const ParamUse& use, const ParamAxes& axes) {
  Placements placements;
  const int32_t dim = tp_dim(use.role);
  if (dim >= 0 && tp_ranks(use, axes) > 1)
    placements.axes[static_cast<size_t>(BlockAxis::tp)] = shard_of(dim);
  if (is_expert(use.role) && axes.ep > 1) placements.axes[static_cast<size_t>(BlockAxis::ep)] = shard_of(0);
  return placements;
}

ParamCut cut_param(const ParamUse& use, const Shape& whole, const ParamAxes& axes) {
  ParamCut cut{whole, {}};
  const auto add = [&](DimCut dim, int64_t length) {
    cut.shape[static_cast<size_t>(dim.dim)] = length;
    cut.dims.push_back(std::move(dim));
  };
  if (is_expert(use.role) && axes.ep > 1) {
    const DimCut experts = cut_parts(0, whole[0], {}, axes.ep, axes.ep_rank);
    add(experts, length_of(experts));
  }
  const int32_t dim = tp_dim(use.role);
  const int64_t ranks = tp_ranks(use, axes);
  if (dim < 0 || ranks == 1) return cut;
  if (use.role == ParamRole::vocabulary) {
    add(cut_rounded_up(whole[0], ranks, axes.tp_rank), (whole[0] + ranks - 1) / ranks);
  } else {
    const DimCut slices = cut_parts(dim, whole[static_cast<size_t>(dim)], use, ranks, axes.tp_rank);
    add(slices, length_of(slices));
  }
  return cut;
}

std::vector<ElementRun> runs_of(const ParamCut& cut, const Shape& whole) {
  std::vector<ElementRun> runs;
  add_runs(runs, cut, whole, 0, 0, 0);
  return runs;
}

}  // namespace trireme
