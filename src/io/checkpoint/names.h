// Which names in a store are ours.
#pragma once
#include <cstdint>
#include <optional>
#include <string_view>

namespace trireme {

std::optional<int64_t> step_of_name(std::string_view name);  // the inverse of checkpoint_name
bool is_leftover(std::string_view name);  // ".tmp-step-00000100": a save or removal that was killed

}  // namespace trireme
