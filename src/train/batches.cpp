// Field names to arrays.
#include "train/batches.h"

#include "base/error.h"

namespace trireme {

LoaderOptions rows_of_rank(const RunSpec& spec, const Mesh& mesh, int rank, int64_t first_sample) {
  const int64_t count = spec.batch.sequences / mesh.data_parallel();
  return {.first_sample = first_sample,
          .step_sequences = spec.batch.sequences,
          .offset = mesh.data_parallel_index(rank) * count,
          .count = count};
}

std::vector<BatchArrays> micro_batches(const Program& program, const StepBatch& rows, int64_t micro,
                                       int64_t seq_len) {
  const auto field = [&](const std::string& name) -> const std::vector<int32_t>& {
    if (name == "tokens") return rows.tokens;
    if (name == "targets") return rows.targets;
    if (name == "positions") return rows.positions;
    CHECK(name == "doc_start", "the loader has no {}", name);
    return rows.doc_start;
  };
  std::vector<BatchArrays> batches;
  for (int64_t row = 0; row + micro <= rows.rows; row += micro) {
    BatchArrays arrays;
    for (const BatchField& f : program.batch) arrays.push_back(field(f.name).data() + row * seq_len);
    batches.push_back(std::move(arrays));
  }
  return batches;
}

}  // namespace trireme
