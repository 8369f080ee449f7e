// A folder of a store as it will be once its marker stands: lets what is staged be verified before it is
// published.
#pragma once
#include <memory>
#include <string>

#include "io/store/byte_store.h"

namespace trireme {

// Reads like `store`, but `folder` has the marker. Nothing may be written through it. `store` must outlive
// it.
std::unique_ptr<ByteStore> view_with_marker(const ByteStore& store, const std::string& folder,
                                            const Marker& marker);

}  // namespace trireme
