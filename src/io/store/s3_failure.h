// What a person can do about a request that S3 refused.
#pragma once
#include <string>

#include "io/store/http_call.h"
#include "io/store/s3_address.h"
#include "io/store/s3_options.h"
#include "io/store/s3_xml.h"

namespace trireme {

// "" when there is nothing to say.
std::string cure_of(const HttpAnswer& answer, const S3Error& error, const S3Place& place,
                    const S3Options& options);

}  // namespace trireme
