// A ByteStore in a directory of a POSIX file system. The root appears with the first object.
#pragma once
#include <memory>
#include <string>

#include "io/store/byte_store.h"

namespace trireme {

std::unique_ptr<ByteStore> open_directory_store(const std::string& root);

}  // namespace trireme
