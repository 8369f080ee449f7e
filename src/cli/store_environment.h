// The variables and the credentials file that S3 clients share.
#pragma once
#include "io/store/s3_options.h"

namespace trireme::cli {

// AWS_ENDPOINT_URL_S3 or AWS_ENDPOINT_URL; AWS_REGION or AWS_DEFAULT_REGION; AWS_ACCESS_KEY_ID,
// AWS_SECRET_ACCESS_KEY, AWS_SESSION_TOKEN, or else the profile AWS_PROFILE ("default") of
// AWS_SHARED_CREDENTIALS_FILE (~/.aws/credentials); AWS_CA_BUNDLE; HTTPS_PROXY, http_proxy, NO_PROXY. What is
// missing is left empty: opening a store says so.
S3Options s3_options_from_environment();

}  // namespace trireme::cli
