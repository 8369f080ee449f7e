// A number of ranks given for one start, as overrides of the config's data-parallel degrees.
#include <fmt/format.h>

#include "base/error.h"
#include "config/run_spec.h"

namespace trireme {

std::vector<std::string> overrides_for_ranks(const RunSpec& spec, int64_t ranks) {
  const int64_t pp = pipeline_ranks(spec);
  if (ranks % pp != 0)
    fail_user(
        "{} ranks are not a multiple of parallel.pp = {}; use {}", ranks, pp,
        ranks < pp ? fmt::format("{}", pp) : fmt::format("{} or {}", ranks / pp * pp, (ranks / pp + 1) * pp));
  const bool cut = spec.parallel.zero > 0;
  return {fmt::format("parallel.dp_shard={}", cut ? ranks / pp : 1),
          fmt::format("parallel.dp_replicate={}", cut ? 1 : ranks / pp)};
}

}  // namespace trireme
