// What `trireme --version` says.
#pragma once
#include <string>

namespace trireme::cli {

// Version, commit, compiler, build type, sanitizers, and what this machine's kernels will use.
std::string version_text();

}  // namespace trireme::cli
