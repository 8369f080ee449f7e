// Names as the text reports have them.
#include "plan/json_parts.h"

#include <nlohmann/json.hpp>
#include <string>

namespace trireme {

nlohmann::ordered_json cluster_json(const Cluster& cluster) {
  return {{"hardware", cluster.hardware->name},
          {"assumed", cluster.hardware->assumed},
          {"nodes", cluster.nodes},
          {"devices", cluster.nodes * cluster.hardware->devices_per_node},
          {"room_bytes", cluster.share.memory_bytes}};
}

nlohmann::ordered_json times_json(const std::array<double, kTimeParts>& parts) {
  nlohmann::ordered_json times;
  for (int i = 0; i < kTimeParts; ++i)
    times[std::string(name_of(static_cast<TimePart>(i)))] = parts[static_cast<size_t>(i)];
  return times;
}

}  // namespace trireme
