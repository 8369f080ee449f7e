// What of a run the simulator needs: the programs of one pipeline, compiled as the hardware's kernels want
// them.
#include <algorithm>

#include "sim/simulate.h"

namespace trireme {

CompileOptions compile_options(const RunSpec& spec, const Cluster& cluster) {
  CompileOptions options;
  options.threads = static_cast<int>(cluster.share.threads);
  // As train shares them among the ranks of a node; buffers have a part for each thread.
  if (spec.run.threads && cluster.hardware->kind == DeviceClass::cpu)
    options.threads =
        static_cast<int>(std::max<int64_t>(1, *spec.run.threads / cluster.share.ranks_per_node));
  if (cluster.hardware->kind == DeviceClass::gpu) options.weights = WeightForm::plain;
  if (spec.eval.every_steps > 0 && !spec.data.val.empty())
    options.eval_micro_batches = eval_micro_batches(spec, spec.eval.sequences);
  return options;
}

std::vector<Program> pipeline_programs(const RunSpec& spec, const CompileOptions& options) {
  CompileOptions each = options;
  const Mesh mesh = mesh_of(spec);
  std::vector<Program> programs;
  for (int32_t stage = 0; stage < mesh.pp; ++stage) {
    each.rank = stage * mesh.ranks_per_stage();
    programs.push_back(compile(spec, each).program);
  }
  return programs;
}

}  // namespace trireme
