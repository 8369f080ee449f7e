// Loops from the outermost choice to the innermost; each keeps what is left of the ranks whole.
#include "plan/layouts.h"

#include <algorithm>

namespace trireme {
namespace {

constexpr int64_t kMostMicro = 64;
constexpr int64_t kMostMicroTokens = 32768;  // of a micro-batch, where it has several sequences
constexpr int64_t kMostContext = 32;
constexpr int64_t kMostStages = 128;
constexpr int64_t kLeastChunk = 16;  // tokens of a context rank's two chunks

std::vector<int64_t> powers_of_two(int64_t most, int64_t divides) {
  std::vector<int64_t> powers;
  for (int64_t n = 1; n <= most && divides % n == 0; n *= 2) powers.push_back(n);
  return powers;
}

std::vector<int64_t> divisors(int64_t most, int64_t of) {
  std::vector<int64_t> found;
  for (int64_t n = 1; n <= std::min(most, of); ++n)
    if (of % n == 0) found.push_back(n);
  return found;
}

struct Piping {
  PipelineSchedule schedule;
  int64_t virtual_stages;
};
constexpr Piping kPipings[] = {
    {PipelineSchedule::one_forward_one_backward, 1},
    {PipelineSchedule::gpipe, 1},
    {PipelineSchedule::interleaved, 2},
    {PipelineSchedule::interleaved, 3},
    {PipelineSchedule::interleaved, 4},
    {PipelineSchedule::interleaved, 5},
    {PipelineSchedule::interleaved, 8},
    {PipelineSchedule::interleaved, 10},
    {PipelineSchedule::looped_bfs, 2},
    {PipelineSchedule::looped_bfs, 4},
    {PipelineSchedule::zb_h1, 1},
    {PipelineSchedule::interleaved_zb, 2},
    {PipelineSchedule::interleaved_zb, 4},
    {PipelineSchedule::zbv, 2},
    {PipelineSchedule::dualpipe, 1},
    {PipelineSchedule::dualpipev, 2},
};

class Enumeration {
 public:
  Enumeration(const RunSpec& base, const SearchSpace& space) : base_(base), space_(space) {
    start_ = layout_of(base);
    start_.parallel.schedule_file.reset();
    start_.parallel.stages.clear();
  }

  std::vector<Layout> all() {
    const int64_t most_tp = space_.across_nodes ? space_.ranks : space_.devices_per_node;
    for (const int64_t tp : divisors(most_tp, space_.ranks)) {
      if (base_.model.heads % tp != 0 || base_.model.kv_heads % tp != 0) continue;
      Layout layout = start_;
      layout.parallel.tp = tp;
      layout.parallel.etp = base_.parallel.tp > 1 && base_.parallel.etp == 1 ? 1 : tp;
      with_context(layout);
    }
    return std::move(found_);
  }

 private:
  void with_context(Layout layout) {
    const int64_t rest = space_.ranks / layout.parallel.tp;
    for (const int64_t cp : powers_of_two(kMostContext, rest)) {
      if (cp > 1 && base_.data.seq_len < 2 * cp * kLeastChunk) break;
      layout.parallel.cp = cp;
      for (const int64_t pp : divisors(std::min(kMostStages, base_.model.layers + 2), rest / cp))
        with_pipeline(layout, pp, rest / cp / pp);
    }
  }

  void with_pipeline(Layout layout, int64_t pp, int64_t dp) {
    if (base_.batch.sequences % dp != 0) return;
    layout.parallel.pp = pp;
    layout.parallel.virtual_stages.reset();
    if (pp == 1) return with_data(layout, dp);
    for (const Piping& piping : kPipings) {
      if (pp * piping.virtual_stages > base_.model.layers + 2) continue;
      layout.parallel.schedule = piping.schedule;
      layout.parallel.virtual_stages = piping.virtual_stages;
      with_data(layout, dp);
    }
  }

  void with_data(Layout layout, int64_t dp) {
    const int64_t inside =
        std::max<int64_t>(1, space_.devices_per_node / layout.parallel.tp / layout.parallel.cp);
    for (int64_t zero = 0; zero <= 3; ++zero) {
      layout.parallel.zero = zero;
      std::vector<int64_t> shards = {zero == 0 ? 1 : dp};
      if (zero > 0 && dp * layout.parallel.cp == 1) continue;
      if (zero == 3 && inside > 1 && inside < dp && dp % inside == 0) shards.push_back(inside);
      for (const int64_t shard : shards) {
        layout.parallel.dp_shard = shard;
        layout.parallel.dp_replicate = dp / shard;
        with_experts(layout, dp);
      }
    }
  }

  void with_experts(Layout layout, int64_t dp) {
    const int64_t experts = base_.model.moe.experts;
    const int64_t most = experts > 0 ? std::min(experts, layout.parallel.dp_shard * layout.parallel.cp) : 1;
    for (const int64_t ep : powers_of_two(most, most)) {
      if (ep > 1 && (experts % ep != 0 || layout.parallel.dp_shard * layout.parallel.cp % ep != 0)) continue;
      layout.parallel.ep = ep;
      with_micro(layout, base_.batch.sequences / dp);
    }
  }

  void with_micro(Layout layout, int64_t sequences) {
    for (int64_t micro = 1; micro <= std::min(kMostMicro, sequences); micro *= 2) {
      if (micro > 1 && micro > base_.batch.micro && micro * base_.data.seq_len > kMostMicroTokens) break;
      if (sequences % micro != 0) continue;
      layout.micro = micro;
      layout.parallel.reduce_each_micro_batch = false;
      with_recompute(layout);
      if (layout.parallel.zero < 2 || sequences == micro || fixed_lanes_) continue;
      layout.parallel.reduce_each_micro_batch = true;
      with_recompute(layout);
    }
  }

  void with_recompute(Layout layout) {
    for (const RecomputeKind kind : {RecomputeKind::none, RecomputeKind::selective, RecomputeKind::full}) {
      layout.parallel.recompute = kind;
      found_.push_back(layout);
    }
  }

  const RunSpec& base_;
  SearchSpace space_;
  bool fixed_lanes_ = has_fixed_lanes(base_);  // an order of sums
  Layout start_;
  std::vector<Layout> found_;
};

}  // namespace

std::vector<Layout> layouts(const RunSpec& base, const SearchSpace& space) {
  return Enumeration(base, space).all();
}

}  // namespace trireme
