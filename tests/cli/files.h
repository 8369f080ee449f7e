// Files of a run under test.
#pragma once
#include <string>
#include <vector>

#include "scratch_folder.h"

namespace trireme {

void write_bytes(const std::string& path, const std::string& bytes);  // makes its folders
std::vector<std::string> lines_of(const std::string& text);           // without the newlines
// Names in a folder, sorted; none when it is not there.
std::vector<std::string> names_in(const std::string& folder);

}  // namespace trireme
