// Field names to arrays, and the context axis's part of them.
#include "train/batches.h"

#include <algorithm>

#include "base/error.h"
#include "ops/attention/context_rows.h"

namespace trireme {

LoaderOptions rows_of_rank(const RunSpec& spec, const Mesh& mesh, int rank, int64_t first_sample) {
  const int64_t count = spec.batch.sequences / mesh.data_parallel();
  return {.first_sample = first_sample,
          .step_sequences = spec.batch.sequences,
          .offset = mesh.data_parallel_index(rank) * count,
          .count = count};
}

StepBatch context_part(const StepBatch& rows, const RunSpec& spec, const Mesh& mesh, int rank) {
  const int64_t T = spec.data.seq_len;
  const std::vector<RowRange> ranges =
      context_rows(T, mesh.cp, mesh.cp_index(rank), context_rows_of(name_of_value(spec.parallel.cp_mode)));
  StepBatch part;
  part.first_sample = rows.first_sample, part.rows = rows.rows;
  part.counted = rows.counted, part.ids = rows.ids, part.wraps = rows.wraps;
  const auto cut = [&](const std::vector<int32_t>& whole, std::vector<int32_t>& to) {
    for (int64_t row = 0; row < rows.rows && !whole.empty(); ++row)
      for (const RowRange& r : ranges)
        to.insert(to.end(), whole.begin() + row * T + r.begin, whole.begin() + row * T + r.begin + r.count);
  };
  cut(rows.tokens, part.tokens);
  cut(rows.targets, part.targets);
  cut(rows.positions, part.positions);
  cut(rows.doc_start, part.doc_start);
  if (!rows.positions.empty()) return part;
  for (int64_t row = 0; row < rows.rows; ++row)
    for (const RowRange& r : ranges)
      for (int64_t t = r.begin; t < r.begin + r.count; ++t) part.positions.push_back(static_cast<int32_t>(t));
  return part;
}

namespace {

std::vector<BatchArrays> arrays_of(const Program& program, const StepBatch& rows, int64_t micro,
                                   int64_t length) {
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
    for (const BatchField& f : program.batch) {
      CHECK(field(f.name).size() == static_cast<size_t>(rows.rows * length), "{} of {} rows: {} elements",
            f.name, rows.rows, field(f.name).size());
      arrays.push_back(field(f.name).data() + row * length);
    }
    batches.push_back(std::move(arrays));
  }
  return batches;
}

}  // namespace

MicroBatches micro_batches(const Program& program, const StepBatch& rows, const RunSpec& spec) {
  const Mesh& mesh = program.mesh;
  const bool told =
      std::ranges::any_of(program.batch, [](const BatchField& f) { return f.name == "positions"; });
  const bool apart = mesh.cp > 1 || (told && rows.positions.empty());
  MicroBatches made;
  if (apart) made.part = context_part(rows, spec, mesh, program.rank);
  made.arrays = arrays_of(program, apart ? made.part : rows, spec.batch.micro, spec.data.seq_len / mesh.cp);
  return made;
}

}  // namespace trireme
