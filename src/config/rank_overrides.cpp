// A number of ranks given for one start, over the data-parallel degrees that a config says.
#include "base/error.h"
#include "config/ranges.h"
#include "config/raw_config.h"

namespace trireme {

void spread_over(RawConfig& raw, int64_t ranks) {
  RawParallel& parallel = raw.parallel;
  const int64_t pp = parallel.pp.value_or(1), tp = parallel.tp.value_or(1), cp = parallel.cp.value_or(1);
  if (pp < 1 || tp < 1 || cp < 1 || pp > kMostRanks || tp > kMostRanks || cp > kMostRanks)
    return;  // the keys' ranges refuse them
  const int64_t inside = tp * cp, fixed = pp * inside;
  const std::string product =
      inside == 1 ? fmt::format("parallel.pp = {}", pp)
                  : fmt::format("parallel.pp x cp x tp = {} x {} x {} = {}", pp, cp, tp, fixed);
  if (ranks % fixed != 0)
    fail_user("--ranks {} is not a multiple of {}; use {}", ranks, product,
              ranks < fixed ? fmt::format("{}", fixed)
                            : fmt::format("{} or {}", ranks / fixed * fixed, (ranks / fixed + 1) * fixed));
  const bool cut = parallel.zero ? *parallel.zero > 0 : parallel.dp_shard.value_or(1) > 1;
  parallel.dp_shard = cut ? ranks / fixed : 1;
  parallel.dp_replicate = cut ? 1 : ranks / fixed;
  for (const char* key : {"parallel.dp_shard", "parallel.dp_replicate"}) raw.where[key] = "--ranks";
}

}  // namespace trireme
