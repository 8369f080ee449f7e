// Names and globs to files, in an order that no file system decides.
#pragma once
#include <string>
#include <vector>

namespace trireme {

// The files of a list of names and globs. A name that exists is taken as it is, whatever characters it has;
// else it is a glob(7) pattern, whose matches are sorted by the bytes of their names ("_10" before "_2"). A
// file that is already in the list is left out. UserError, with `key`, when a pattern matches nothing or is a
// directory.
std::vector<std::string> expand_files(const std::vector<std::string>& patterns, const std::string& key);

}  // namespace trireme
