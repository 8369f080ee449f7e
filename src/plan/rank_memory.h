// Where a rank's memory goes at its fullest moment, in the parts that people ask for: the MemoryPlan that the
// engine allocates, buffer by buffer, and what drivers and libraries take beside it.
#pragma once
#include <array>
#include <cstdint>
#include <string>
#include <string_view>

#include "compile/memory_report.h"
#include "ir/program.h"

namespace trireme {

enum class MemoryPart : uint8_t {
  parameters,  // compute copies, gathered or whole, and what kernels have laid out of them
  gradients,
  master,
  moments,
  saved,          // activations kept from forward to backward
  activations,    // between the blocks of a rank
  communication,  // sent to and received from other stages
  scratch,        // inside a block
  staging,        // the copy that a checkpoint is written from
  batches,        // and sums
  gaps,           // between buffers
  overhead,       // of drivers and libraries, by the hardware file
};
inline constexpr int kMemoryParts = 12;
std::string_view name_of(MemoryPart part);
std::string_view meaning_of(MemoryPart part);

struct RankMemory {
  int32_t rank = 0;
  int32_t stage_rank = 0;  // of the pipeline
  std::array<int64_t, kMemoryParts> bytes{};
  int64_t arena_bytes = 0;
  MemoryMoment peak;
  std::string when;  // "timeline train, action 508: backward layers.3, micro-batch 4"

  int64_t part(MemoryPart which) const { return bytes[static_cast<size_t>(which)]; }
  int64_t total_bytes() const;  // with overhead
};

RankMemory memory_of(const Program& program, int64_t overhead_bytes);

}  // namespace trireme
