// A ByteStore in an S3 bucket, under a prefix. A folder is what begins with its name and a slash. Objects
// appear whole; there is no renaming, so a folder is written in its own place and counts once its marker,
// which is written last, stands (docs/object-storage.md).
#pragma once
#include <memory>

#include "io/store/byte_store.h"
#include "io/store/s3_address.h"
#include "io/store/s3_options.h"

namespace trireme {

// UserError when credentials are missing or the endpoint is none. The server is first asked by a call.
std::unique_ptr<ByteStore> open_s3_store(const S3Place& place, const S3Options& options);

}  // namespace trireme
