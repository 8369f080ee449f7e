// Ranges that keys of several sections share.
#pragma once
#include "config/field.h"

namespace trireme {

// Positions and ids are 32-bit in kernels and shards.
inline constexpr Range kTokenCounts = between(1, 2147483647);
inline constexpr Range kSequenceCounts = between(1, 1e9);
inline constexpr Range kStepCounts = between(0, 1e12);
inline constexpr double kMostMinutes = 1e7;
inline constexpr int64_t kMostRanks = 1 << 20;
inline constexpr Range kRankCounts = between(1, kMostRanks);
inline constexpr double kMostLayers = 100000;
inline constexpr double kMostExperts = 4096;

}  // namespace trireme
