// Which checkpoints a new one makes superfluous. Called after a save, with the listing of the store; removes
// nothing itself and knows no store.
#pragma once
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "io/checkpoint/checkpoint.h"

namespace trireme {

// Names to remove now that the checkpoint of saved_step stands, by step, ascending. Looks only at committed
// ones of steps up to saved_step: the `newest` of them stay, those of steps that every_steps divides, and the
// pinned ones (being mirrored). The latter two count among the newest when they are, so they take no place of
// an older one; a pinned one that is older goes after the first save for which it is pinned no more. Nothing
// goes when saved_step itself is not there and committed. Any order of `all`; whatever is not named as
// checkpoint_name would is never in the result.
std::vector<std::string> superseded(std::span<const CheckpointName> all, int64_t saved_step,
                                    const Retention& keep, std::span<const std::string> pinned);

}  // namespace trireme
