// Blocks are put together to stages, stages to a pipeline; then what data-parallel ranks say to each other
// and cannot hide, and the update.
#include "plan/estimate.h"

#include <algorithm>
#include <cmath>

#include "base/error.h"
#include "lower/stages.h"
#include "plan/in_parallel.h"

namespace trireme {
namespace {

constexpr double kRatioSteps = 8;

bool v_shaped(PipelineSchedule schedule) {
  return schedule == PipelineSchedule::zbv || schedule == PipelineSchedule::dualpipev;
}

// The stages of a rank; DualPipe keeps each on two.
std::vector<size_t> stages_on(const Layout& layout, int64_t rank) {
  const int64_t p = layout.parallel.pp, v = layout.parallel.virtual_stages.value_or(1);
  if (p == 1) return {0};
  const PipelineSchedule schedule = layout.parallel.schedule;
  const auto at = [](int64_t s) { return static_cast<size_t>(s); };
  if (schedule == PipelineSchedule::dualpipe) return {at(rank), at(p - 1 - rank)};
  if (v_shaped(schedule)) return {at(rank), at(2 * p - 1 - rank)};
  std::vector<size_t> stages;
  for (int64_t i = 0; i < v; ++i) stages.push_back(at(i * p + rank));
  return stages;
}

bool runs_both_ways(const Layout& layout) {
  return layout.parallel.pp > 1 && layout.parallel.schedule == PipelineSchedule::dualpipe;
}

int64_t stages_per_rank(const Layout& layout) {
  return layout.parallel.pp == 1 ? 1 : layout.parallel.virtual_stages.value_or(1);
}

// A table of the user's own is guessed as a usual one of as many stages.
PipelineSchedule schedule_of(const Layout& layout) {
  const bool own = layout.parallel.schedule_file.has_value();
  return own && stages_per_rank(layout) > 1 ? PipelineSchedule::interleaved : layout.parallel.schedule;
}

int64_t rounded_ratio(double a, double b) { return std::llround(kRatioSteps * a / std::max(b, 1e-12)); }

}  // namespace

BlockKey block_key(const Layout& layout) {
  const ParallelSpec& p = layout.parallel;
  return {.tp = p.tp,
          .cp = p.cp,
          .ep = p.ep,
          .micro = layout.micro,
          .sequence = p.tp == 1 || p.sequence,
          .recompute = p.recompute};
}

void Estimator::price(const std::vector<Layout>& layouts, int threads) {
  std::map<BlockKey, const Layout*> wanted;
  for (const Layout& layout : layouts) {
    if (prices_.contains(block_key(layout))) continue;
    const Layout*& first = wanted[block_key(layout)];
    if (first == nullptr || (first->parallel.pp == 1 && layout.parallel.pp > 1)) first = &layout;
  }
  const std::vector<std::pair<BlockKey, const Layout*>> list(wanted.begin(), wanted.end());
  std::vector<std::optional<BlockPrices>> found(list.size());
  in_parallel(list.size(), threads, [&](size_t i) {
    try {
      found[i] = price_blocks(base_, *list[i].second, cluster_);
    } catch (const UserError&) {  // it does not divide
    }
  });
  for (size_t i = 0; i < list.size(); ++i) prices_[list[i].first] = std::move(found[i]);
}

const std::vector<Estimator::Stage>& Estimator::stages_of(const Layout& layout, const BlockPrices& prices,
                                                          int64_t count) {
  const std::vector<int64_t>& layers = layout.parallel.stages;
  const auto [it, fresh] = stages_.try_emplace({block_key(layout), count, layers});
  if (!fresh) return it->second;
  std::vector<double> costs;
  for (const BlockPrice& block : prices.blocks) costs.push_back(block.flops);
  for (const BlockRange& range :
       cut_chain(std::move(costs), base_.model.layers, static_cast<int32_t>(count), layers)) {
    Stage stage;
    for (size_t b = range.first; b < range.end; ++b) {
      const BlockPrice& block = prices.blocks[b];
      const auto real = [](int64_t n) { return static_cast<double>(n); };
      add(stage, {.forward_s = block.forward_s,
                  .backward_s = block.backward_s,
                  .input_s = block.input_s,
                  .prepare_s = block.prepare_s,
                  .saved_bytes = real(block.saved_bytes + prices.boundary_bytes),
                  .split_saved_bytes = real(block.split_saved_bytes + prices.boundary_bytes),
                  .split_held_bytes = real(block.split_held_bytes),
                  .prepared_bytes = real(block.prepared_bytes),
                  .elements = real(block.elements),
                  .expert_elements = real(block.expert_elements),
                  .most_elements = real(block.elements + block.expert_elements)});
    }
    it->second.push_back(stage);
  }
  return it->second;
}

// Schedules are timed for rounded ratios of the parts of a step, so that layouts nearly alike share them;
// what rounding adds or leaves out is taken back in proportion.
std::optional<PipelineLength> Estimator::length(const PipelineShape& shape, const StageCosts& costs) {
  const int64_t input = rounded_ratio(costs.input_s, costs.forward_s),
                weight = rounded_ratio(costs.weight_s, costs.forward_s), held = rounded_ratio(costs.held, 1);
  const auto [it, fresh] = lengths_.try_emplace(
      {shape.schedule, shape.ranks, shape.stages_per_rank, shape.micro_batches, input, weight, held});
  const StageCosts rounded{.forward_s = 1,
                           .input_s = static_cast<double>(input) / kRatioSteps,
                           .weight_s = static_cast<double>(weight) / kRatioSteps,
                           .held = static_cast<double>(held) / kRatioSteps};
  if (fresh) it->second = pipeline_length(shape, rounded);
  std::optional<PipelineLength> out = it->second;
  if (out)
    out->length_s *= (costs.forward_s + costs.input_s + costs.weight_s) /
                     (rounded.forward_s + rounded.input_s + rounded.weight_s);
  return out;
}

// Round a ring each of n ranks sends (n-1)/n of the whole, and twice that where all get the sum.
double Estimator::wire_s(std::string_view op, double whole_bytes, const Members& members) {
  if (members.count <= 1) return 0;
  const auto n = static_cast<double>(members.count);
  std::vector<int32_t>& ranks = ranks_[members];
  if (ranks.empty())
    for (int64_t i = 0; i < members.count; ++i) ranks.push_back(static_cast<int32_t>(i * members.step));
  const double sent = whole_bytes * (n - 1) / n * (op == "all_reduce" ? 2 : 1);
  return wire_time(cluster_, op, std::llround(sent), ranks).seconds;
}

// What data-parallel ranks wait for each other in a step.
double Estimator::talk_s(const Layout& layout, const Stage& rank, double micro_batches) {
  const ParallelSpec& p = layout.parallel;
  const int64_t shards = p.dp_shard * p.cp;
  const bool cuts = p.zero > 0 && shards > 1;
  const double elements = rank.elements + rank.expert_elements / static_cast<double>(p.ep);
  const Members all{p.tp, p.dp_replicate * shards}, shard{p.tp, shards},
      copies{p.tp * shards, p.dp_replicate};
  const double share = rank.most_elements / std::max(1.0, rank.elements + rank.expert_elements);
  const double reduce =
      cuts ? wire_s("reduce_scatter", state_.gradient * elements, shard) +
                 wire_s("all_reduce", state_.gradient * elements / static_cast<double>(shards), copies)
           : wire_s("all_reduce", state_.gradient * elements, all);
  const double gather = cuts ? wire_s("all_gather", copy_bytes_ * elements, shard) : 0;
  const bool gathers_often = cuts && p.zero == 3, again = gathers_often && p.reshard_after_forward;
  double sum = 0;
  if (sums_each_micro_batch(layout))  // one link for sums and for what is gathered again
    sum += micro_batches * std::max(reduce + (again ? gather : 0) - rank.backward_s, reduce * share);
  else
    sum += std::max(reduce - rank.backward_s, reduce * share) +
           (again ? micro_batches * std::max(0.0, gather - rank.backward_s) : 0);
  if (gathers_often)
    sum += micro_batches * std::max(0.0, gather - rank.forward_s) + gather * share;
  else if (cuts)
    sum += std::max(gather - rank.forward_s, gather * share);
  return sum;
}

// Everything that lasts, and what is gathered at once.
double Estimator::state_bytes(const Layout& layout, const Stage& rank, double micro_batches) const {
  const ParallelSpec& p = layout.parallel;
  const bool cuts = p.zero > 0 && p.dp_shard * p.cp > 1;
  const double shards = cuts ? static_cast<double>(p.dp_shard * p.cp) : 1;
  const double expert_shards = cuts ? std::max(1.0, shards / static_cast<double>(p.ep)) : 1;
  const double whole = rank.elements + rank.expert_elements;
  const double own = rank.elements / shards + rank.expert_elements / expert_shards;
  const double saved = state_.master + state_.moments;
  const double lanes = has_fixed_lanes(base_)
                           ? std::max(1.0, static_cast<double>(base_.batch.lanes) /
                                               static_cast<double>(data_parallel_of(layout)))
                           : 1;
  double bytes = own * saved;
  if (base_.checkpoint.async)
    bytes += saved * whole / static_cast<double>(p.dp_replicate * p.dp_shard * p.cp);
  const bool one_by_one = cuts && p.zero >= 2 && (micro_batches <= 1 || sums_each_micro_batch(layout));
  bytes += state_.gradient * (one_by_one ? own + 2 * rank.most_elements : whole * (1 + std::log2(lanes)));
  const double held = p.zero == 3 && cuts
                          ? std::min(whole, (1.0 + static_cast<double>(p.prefetch)) * rank.most_elements)
                          : whole;
  if (rank.prepared_bytes > 0)
    bytes += rank.prepared_bytes * held / std::max(1.0, whole);
  else
    bytes += copy_bytes_ * held;
  return bytes;
}

void Estimator::add(Stage& sum, const Stage& stage) {
  sum.forward_s += stage.forward_s;
  sum.backward_s += stage.backward_s;
  sum.input_s += stage.input_s;
  sum.prepare_s += stage.prepare_s;
  sum.saved_bytes += stage.saved_bytes;
  sum.split_saved_bytes += stage.split_saved_bytes;
  sum.split_held_bytes += stage.split_held_bytes;
  sum.prepared_bytes += stage.prepared_bytes;
  sum.elements += stage.elements;
  sum.expert_elements += stage.expert_elements;
  sum.most_elements = std::max(sum.most_elements, stage.most_elements);
}

// What lies on a rank: all of its stages.
Estimator::Stage Estimator::rank_of(const Layout& layout, const std::vector<Stage>& stages, int64_t rank) {
  Stage sum;
  for (const size_t s : stages_on(layout, rank)) add(sum, stages[s]);
  return sum;
}

// Of a micro-batch in the middle of a step: what the busiest rank takes, or, where all forwards come before
// all backwards, the slowest stage of either.
double Estimator::pace_s(const Layout& layout, const std::vector<Stage>& stages) {
  const PipelineSchedule schedule = layout.parallel.schedule;
  const auto p = static_cast<size_t>(layout.parallel.pp);
  double pace = 0;
  if (schedule == PipelineSchedule::gpipe || schedule == PipelineSchedule::looped_bfs) {
    for (size_t first = 0; first < stages.size(); first += p) {
      double forward = 0, backward = 0;
      for (size_t s = first; s < first + p; ++s) {
        forward = std::max(forward, stages[s].forward_s);
        backward = std::max(backward, stages[s].backward_s);
      }
      pace += forward + backward;
    }
    return pace;
  }
  // DualPipe's ranks run each of their stages for half of the micro-batches.
  const double share = runs_both_ways(layout) ? 0.5 : 1;
  for (int64_t r = 0; r < layout.parallel.pp; ++r) {
    const Stage rank = rank_of(layout, stages, r);
    pace = std::max(pace, share * (rank.forward_s + rank.backward_s));
  }
  return pace;
}

// The busiest rank sets the pace of the middle of a step; around it a rank waits as it would among even
// stages.
std::optional<PipelineLength> Estimator::run_of(const Layout& layout, const std::vector<Stage>& stages,
                                                int64_t micro_batches) {
  const auto m = static_cast<double>(micro_batches), count = static_cast<double>(stages.size());
  if (layout.parallel.pp == 1)
    return PipelineLength{.length_s = m * (stages[0].forward_s + stages[0].backward_s), .stored = {1}};
  Stage mean;
  for (const Stage& stage : stages) add(mean, stage);
  const StageCosts costs{.forward_s = mean.forward_s / count,
                         .input_s = mean.input_s / count,
                         .weight_s = (mean.backward_s - mean.input_s) / count,
                         .held = mean.split_held_bytes / std::max(1.0, mean.split_saved_bytes)};
  const int64_t per_rank = stages_per_rank(layout);
  std::optional<PipelineLength> run =
      length({schedule_of(layout), layout.parallel.pp, per_rank, micro_batches}, costs);
  if (!run) return run;
  const double even_s = static_cast<double>(per_rank) * (costs.forward_s + costs.input_s + costs.weight_s);
  run->length_s += m * (pace_s(layout, stages) - even_s);
  return run;
}

std::optional<Estimate> Estimator::of(const Layout& layout) {
  const auto found = prices_.find(block_key(layout));
  CHECK(found != prices_.end(), "blocks of {} have no prices", text_of(layout));
  const ParallelSpec& p = layout.parallel;
  const int64_t per_rank = stages_per_rank(layout), data_parallel = data_parallel_of(layout);
  const int64_t count = p.pp * per_rank;
  if (!found->second || count > base_.model.layers + 2) return {};
  if (base_.batch.sequences % (layout.micro * data_parallel) != 0) return {};
  const BlockPrices& prices = *found->second;
  const std::vector<Stage>& stages = stages_of(layout, prices, count);
  const int64_t whole_micro_batches = base_.batch.sequences / layout.micro / data_parallel;
  const auto micro_batches = static_cast<double>(whole_micro_batches);
  const std::optional<PipelineLength> run = run_of(layout, stages, whole_micro_batches);
  if (!run) return {};
  Estimate out;
  Stage heaviest;  // by parameters: what ranks of the stage wait for each other is the most there
  for (int64_t r = 0; r < p.pp; ++r) {
    const Stage rank = rank_of(layout, stages, r);
    const double in_flight = run->stored[static_cast<size_t>(r)] /
                             static_cast<double>(runs_both_ways(layout) ? 2 * per_rank : per_rank);
    const double bytes =
        state_bytes(layout, rank, micro_batches) +
        in_flight * (run->split ? rank.split_saved_bytes : rank.saved_bytes) +
        static_cast<double>(prices.workspace_bytes + 4 * prices.boundary_bytes + 2 * prices.overhead_bytes);
    out.arena_bytes = std::max(out.arena_bytes, static_cast<int64_t>(std::llround(bytes)));
    if (rank.elements + rank.expert_elements > heaviest.elements + heaviest.expert_elements) heaviest = rank;
  }
  const double shards = p.zero > 0 ? static_cast<double>(p.dp_shard * p.cp) : 1;
  const double rest_s =
      prices.optimizer_s_per_element * (heaviest.elements + heaviest.expert_elements) / shards +
      heaviest.prepare_s + talk_s(layout, heaviest, micro_batches);
  out.step_s = run->length_s + rest_s + micro_batches * prices.load_s;
  if (p.pp > 1)
    out.step_s +=
        2 * static_cast<double>(count - 1) *
        wire_time(cluster_, "send", prices.boundary_bytes, {0, static_cast<int32_t>(ranks_of(layout) / p.pp)})
            .seconds;
  return out;
}

}  // namespace trireme
