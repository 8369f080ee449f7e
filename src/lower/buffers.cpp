// One line, kept apart so that every buffer is made in one place.
#include "lower/buffers.h"

namespace trireme {

BufferId add_buffer(Program& program, std::string name, BufferClass cls, int64_t bytes, int32_t timeline) {
  program.memory.buffers.push_back({std::move(name), cls, bytes, -1, timeline, {}, {}});
  return BufferId(static_cast<int64_t>(program.memory.buffers.size()) - 1);
}

}  // namespace trireme
