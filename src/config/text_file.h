// Files that people write: configs, hardware files, prices.
#pragma once
#include <string>

namespace trireme {

// The bytes of the file, or of the pipe, at `path`. `what` names it in messages: "the price file". EnvError
// where it cannot be read; UserError of a folder, and of more than any such text has (/dev/zero, a shard).
std::string read_text_file(const std::string& path, const std::string& what);

}  // namespace trireme
