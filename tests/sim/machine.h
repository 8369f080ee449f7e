// A machine with round numbers, for tests.
#pragma once
#include "sim/price.h"

namespace trireme {

// 1 TFLOP/s in bf16, 100 GB/s of memory, 10 GB/s between devices of a node of 8, 1 GB/s a device between
// nodes; nothing else costs anything.
inline Hardware round_hardware() {
  Hardware h;
  h.name = "round";
  h.peak[static_cast<size_t>(PeakType::bf16)] = 1e12;
  h.peak[static_cast<size_t>(PeakType::fp32)] = 1e11;
  h.memory_bytes = 80'000'000'000;
  h.memory_bytes_per_s = 1e11;
  h.devices_per_node = 8;
  h.inside = {.bytes_per_s = 1e10};
  h.between = {.bytes_per_s = 1e9};
  h.host_bytes_per_s = 1e9;
  return h;
}

inline Cluster cluster_on(const Hardware& hardware, int64_t ranks_per_node, int64_t nodes) {
  return {&hardware,
          nodes,
          {.ranks_per_node = ranks_per_node,
           .memory_bytes_per_s = hardware.memory_bytes_per_s,
           .memory_bytes = hardware.memory_bytes}};
}

}  // namespace trireme
