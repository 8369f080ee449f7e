// Files that people write, as text.
#pragma once
#include <string>

namespace trireme {

// `what` is the file's part in messages: "the price file". UserError when it is a folder, EnvError when it
// cannot be read.
std::string read_text_file(const std::string& path, const std::string& what);

}  // namespace trireme
