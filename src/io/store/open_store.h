// A store by its name: s3://bucket/prefix, or a folder.
#pragma once
#include <memory>
#include <string>

#include "io/store/byte_store.h"
#include "io/store/s3_options.h"

namespace trireme {

std::unique_ptr<ByteStore> open_store(const std::string& where, const S3Options& s3);

}  // namespace trireme
