// A cheap guess at a layout's step and memory, by which a search orders thousands of layouts before it
// compiles and simulates the best of them. Blocks are priced exactly (plan/block_prices.h); what lies between
// them is added up by rule. Guesses order layouts; nothing that is shown comes from here.
#pragma once
#include <compare>
#include <map>
#include <optional>
#include <string_view>
#include <tuple>
#include <vector>

#include "plan/block_prices.h"
#include "plan/calculators/state_bytes.h"
#include "plan/layout.h"
#include "plan/pipeline_length.h"

namespace trireme {

struct Estimate {
  double step_s = 0;
  int64_t arena_bytes = 0;  // of the fullest rank
};

// By which the guess of memory may be too high.
inline constexpr double kMemoryDoubt = 1.08;

// What decides how a block is cut: layouts alike in it share their BlockPrices.
struct BlockKey {
  int64_t tp = 1, cp = 1, ep = 1, micro = 1;
  bool sequence = true;
  RecomputeKind recompute{};
  auto operator<=>(const BlockKey&) const = default;
};
BlockKey block_key(const Layout& layout);

class Estimator {
 public:
  Estimator(const RunSpec& base, const Cluster& cluster)
      : base_(base),
        cluster_(cluster),
        state_(engine_state(base.optimizer.kind, base.precision.compute)),
        copy_bytes_(state_.compute_copy > 0 ? state_.compute_copy : state_.master) {}

  // Compiles one program for each way in which the layouts cut blocks, on `threads` threads. Layouts whose
  // blocks the run refuses get no estimate.
  void price(const std::vector<Layout>& layouts, int threads);

  // nullopt where the layout does not suit the run. Its blocks must have been priced.
  std::optional<Estimate> of(const Layout& layout);

 private:
  struct Stage {
    double forward_s = 0, backward_s = 0, input_s = 0, prepare_s = 0;
    double saved_bytes = 0, split_saved_bytes = 0, split_held_bytes = 0;
    double prepared_bytes = 0, elements = 0, expert_elements = 0;
    double most_elements = 0;  // of a block
  };
  using LengthKey = std::tuple<PipelineSchedule, int64_t, int64_t, int64_t, int64_t, int64_t, int64_t>;

  const std::vector<Stage>& stages_of(const Layout& layout, const BlockPrices& prices, int64_t count);
  std::optional<PipelineLength> length(const PipelineShape& shape, const StageCosts& costs);
  static void add(Stage& sum, const Stage& stage);
  static Stage rank_of(const Layout& layout, const std::vector<Stage>& stages, int64_t rank);
  static double pace_s(const Layout& layout, const std::vector<Stage>& stages);
  std::optional<PipelineLength> run_of(const Layout& layout, const std::vector<Stage>& stages,
                                       int64_t micro_batches);
  // Ranks of a stage that have something in common: rank 0 and others, `step` apart.
  struct Members {
    int64_t step = 1, count = 1;
    auto operator<=>(const Members&) const = default;
  };
  double wire_s(std::string_view op, double whole_bytes, const Members& members);
  double talk_s(const Layout& layout, const Stage& rank, double micro_batches);
  double state_bytes(const Layout& layout, const Stage& rank, double micro_batches) const;

  const RunSpec& base_;
  const Cluster& cluster_;
  StateBytes state_;   // of an element
  double copy_bytes_;  // of an element where it is gathered
  std::map<BlockKey, std::optional<BlockPrices>> prices_;
  std::map<std::tuple<BlockKey, int64_t, std::vector<int64_t>>, std::vector<Stage>> stages_;
  std::map<Members, std::vector<int32_t>> ranks_;
  std::map<LengthKey, std::optional<PipelineLength>> lengths_;
};

}  // namespace trireme
