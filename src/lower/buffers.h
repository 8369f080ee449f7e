// Adds buffers to a Program's memory plan; place() gives them their offsets.
#pragma once
#include <string>

#include "ir/program.h"

namespace trireme {

inline constexpr int32_t kLasting = -1;  // lives as long as the program

BufferId add_buffer(Program& program, std::string name, BufferClass cls, int64_t bytes,
                    int32_t timeline = kLasting);

}  // namespace trireme
