// A number of ranks given for one start, over the data-parallel degrees that a config says.
#include "base/error.h"
#include "config/raw_config.h"

namespace trireme {

void spread_over(RawConfig& raw, int64_t ranks) {
  RawParallel& parallel = raw.parallel;
  const int64_t pp = parallel.pp.value_or(1);
  if (pp < 1) return;  // the key's range refuses it
  if (ranks % pp != 0)
    fail_user(
        "--ranks {} is not a multiple of parallel.pp = {}; use {}", ranks, pp,
        ranks < pp ? fmt::format("{}", pp) : fmt::format("{} or {}", ranks / pp * pp, (ranks / pp + 1) * pp));
  const bool cut = parallel.zero ? *parallel.zero > 0 : parallel.dp_shard.value_or(1) > 1;
  parallel.dp_shard = cut ? ranks / pp : 1;
  parallel.dp_replicate = cut ? 1 : ranks / pp;
  for (const char* key : {"parallel.dp_shard", "parallel.dp_replicate"}) raw.where[key] = "--ranks";
}

}  // namespace trireme
