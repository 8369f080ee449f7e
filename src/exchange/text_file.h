// A small file, written whole and durable.
#pragma once
#include <string>
#include <string_view>

namespace trireme {

void write_text_file(const std::string& path, std::string_view text);  // must not be there; EnvError

}  // namespace trireme
