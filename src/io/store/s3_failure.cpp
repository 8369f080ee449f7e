// Codes: https://docs.aws.amazon.com/AmazonS3/latest/API/ErrorResponses.html
#include "io/store/s3_failure.h"

#include "base/error.h"

namespace trireme {
namespace {

std::string cure_of_code(const S3Error& error, const S3Place& place, const S3Options& options) {
  const std::string from =
      options.credentials_source.empty() ? "" : fmt::format(" (from {})", options.credentials_source);
  if (error.code == "NoSuchBucket")
    return fmt::format("make the bucket {} first, or correct its name or AWS_ENDPOINT_URL_S3", place.bucket);
  if (error.code == "SignatureDoesNotMatch")
    return fmt::format("AWS_SECRET_ACCESS_KEY is not the one of key {}{}", options.access_key, from);
  if (error.code == "InvalidAccessKeyId")
    return fmt::format("the store knows no key {}{}: correct AWS_ACCESS_KEY_ID", options.access_key, from);
  if (error.code == "ExpiredToken" || error.code == "InvalidToken" || error.code == "TokenRefreshRequired")
    return fmt::format("get new credentials{} and set AWS_SESSION_TOKEN with them", from);
  if (error.code == "RequestTimeTooSkewed") return "set this machine's clock";
  if (error.code == "AuthorizationHeaderMalformed" || error.code == "PermanentRedirect" ||
      error.code == "IllegalLocationConstraintException")
    return fmt::format("the region {} is not the bucket's: set AWS_REGION to {}", options.region,
                       error.region.empty() ? "the right one" : error.region);
  if (error.code == "AccessDenied")
    return fmt::format(
        "key {}{} lacks a right: s3:ListBucket for {}, and s3:GetObject, s3:PutObject, s3:DeleteObject and "
        "s3:AbortMultipartUpload for what is in it",
        options.access_key, from, place.bucket);
  return "";
}

}  // namespace

std::string cure_of(const HttpAnswer& answer, const S3Error& error, const S3Place& place,
                    const S3Options& options) {
  if (answer.failure == HttpFailure::stopped) return "";
  if (answer.failure == HttpFailure::permanent)
    return "correct AWS_ENDPOINT_URL_S3, or set AWS_CA_BUNDLE to the store's certificates";
  if (answer.failure == HttpFailure::transient)
    return "look whether the store runs and can be reached, and at AWS_ENDPOINT_URL_S3";
  if (std::string cure = cure_of_code(error, place, options); !cure.empty()) return cure;
  const auto region = answer.headers.find("x-amz-bucket-region");
  if (answer.status == 301 || answer.status == 307 ||
      (region != answer.headers.end() && region->second != options.region && answer.status / 100 == 4))
    return fmt::format("set AWS_REGION to {}",
                       region == answer.headers.end() ? "the bucket's region" : region->second);
  if (answer.status == 401 || answer.status == 403)
    return fmt::format(
        "key {} may not do that, or its secret is wrong; S3 also says so of what is not there when the key "
        "lacks s3:ListBucket",
        options.access_key);
  if (answer.status == 404)
    return fmt::format("look at the name, the bucket {} and AWS_ENDPOINT_URL_S3", place.bucket);
  if (answer.status == 429 || answer.status >= 500) return "the store is overloaded or ill: try again later";
  return "";
}

}  // namespace trireme
