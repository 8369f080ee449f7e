// Chunks of the context axis.
#include "ops/attention/context_rows.h"

#include <fmt/format.h>

#include <stdexcept>

namespace trireme {

ContextRows context_rows_of(std::string_view cp_mode) {
  return cp_mode == "ulysses" ? ContextRows::contiguous : ContextRows::zigzag;
}

std::vector<RowRange> context_rows(int64_t T, int64_t ranks, int64_t rank, ContextRows rows) {
  if (ranks == 1) return {{0, T}};
  const int64_t chunks = rows == ContextRows::zigzag ? 2 * ranks : ranks, chunk = T / chunks;
  if (T % chunks != 0)
    throw std::invalid_argument(
        fmt::format("{} rows do not divide into {} chunks for {} context ranks", T, chunks, ranks));
  if (rows == ContextRows::contiguous) return {{rank * chunk, chunk}};
  return {{rank * chunk, chunk}, {(chunks - 1 - rank) * chunk, chunk}};
}

}  // namespace trireme
