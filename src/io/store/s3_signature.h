// AWS signature, version 4, in a header:
// https://docs.aws.amazon.com/IAM/latest/UserGuide/create-signed-request.html libcurl has one of its own,
// which until 8.x neither sorts queries nor encodes paths as S3 does.
#pragma once
#include <cstddef>
#include <map>
#include <span>
#include <string>

namespace trireme {

struct SigningKey {
  std::string access_key, secret_key;
  std::string region;  // "us-east-1"
  std::string service = "s3";
};

// What is signed. Every header that stands here must be sent as it stands.
struct SignedRequest {
  std::string method;                          // "GET"
  std::string path;                            // encoded, begins with "/"
  std::map<std::string, std::string> query;    // not encoded
  std::map<std::string, std::string> headers;  // names in lower case; host and x-amz-date among them
  std::string payload_sha256;                  // hexadecimal
};

std::string query_text(const std::map<std::string, std::string>& query);  // "a=1&b=x%20y", sorted
std::string canonical_request(const SignedRequest& request);
// The value of the Authorization header. x-amz-date is like "20130524T000000Z".
std::string authorization(const SignedRequest& request, const SigningKey& key);

std::string sha256_hex(std::span<const std::byte> bytes);
std::string md5_base64(std::span<const std::byte> bytes);  // "" where this machine's rules (FIPS) forbid MD5

}  // namespace trireme
