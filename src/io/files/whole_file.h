// Small files and standard input as one string.
#pragma once
#include <cstdio>
#include <string>

namespace trireme {

// The rest of an open stream; `name` stands for it in messages. EnvError.
std::string read_stream(std::FILE* stream, const std::string& name);
std::string read_whole_file(const std::string& path);  // EnvError

}  // namespace trireme
