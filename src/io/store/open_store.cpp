// The two kinds of stores.
#include "io/store/open_store.h"

#include "io/store/directory_store.h"
#include "io/store/s3_store.h"

namespace trireme {

std::unique_ptr<ByteStore> open_store(const std::string& where, const S3Options& s3) {
  if (is_s3_url(where)) return open_s3_store(parse_s3_url(where), s3);
  return open_directory_store(where);
}

}  // namespace trireme
