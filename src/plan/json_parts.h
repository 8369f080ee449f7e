// What several answers for machines have in common.
#pragma once
#include <array>
#include <nlohmann/json_fwd.hpp>

#include "sim/simulate.h"

namespace trireme {

nlohmann::ordered_json cluster_json(const Cluster& cluster);
nlohmann::ordered_json times_json(const std::array<double, kTimeParts>& parts);  // seconds by name

}  // namespace trireme
