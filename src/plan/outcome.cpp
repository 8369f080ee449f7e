// make_plan for many layouts; spans and programs are dropped at once.
#include "plan/outcome.h"

#include "base/error.h"
#include "plan/in_parallel.h"

namespace trireme {

Outcome outcome_of(const Plan& plan) {
  return {.layout = layout_of(plan.spec),
          .devices = plan.devices,
          .fullest = plan.fullest(),
          .missing_bytes = plan.missing_bytes(),
          .step_s = plan.step_s(),
          .tokens_per_s = plan.tokens_per_s(),
          .mfu = plan.mfu(),
          .hfu = plan.hfu(),
          .parts = plan.step.busiest().parts};
}

int64_t work_of(const RunSpec& base, const Layout& layout) {
  constexpr int64_t kProgramMicroBatches = 16;
  const int64_t micro_batches = base.batch.sequences / layout.micro / data_parallel_of(layout);
  return (micro_batches + kProgramMicroBatches * layout.parallel.pp) * (base.model.layers + 2);
}

std::vector<std::optional<Outcome>> try_layouts(const RunSpec& base, const std::vector<Layout>& layouts,
                                                const Hardware& hardware, int64_t nodes, int threads) {
  std::vector<std::optional<Outcome>> outcomes(layouts.size());
  in_parallel(layouts.size(), threads, [&](size_t i) {
    try {
      const RunSpec spec = with_layout(base, layouts[i]);
      outcomes[i] =
          outcome_of(make_plan(spec, hardware, nodes > 0 ? nodes : least_nodes(hardware, all_ranks(spec))));
    } catch (const UserError&) {  // it does not suit the run
    }
  });
  return outcomes;
}

}  // namespace trireme
