// Against the examples that AWS publishes: those of S3's "Authenticating requests: using the Authorization
// header", and two of the Signature Version 4 test suite.
#include "io/store/s3_signature.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace trireme {
namespace {
using testing::EndsWith;
using testing::StartsWith;

constexpr const char* kEmpty = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";
const SigningKey kS3Key{"AKIAIOSFODNN7EXAMPLE", "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY", "us-east-1"};
const SigningKey kSuiteKey{"AKIDEXAMPLE", "wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY", "us-east-1", "service"};

SignedRequest s3_request(const std::string& method, const std::string& path,
                         const std::string& payload = kEmpty) {
  SignedRequest request{method, path, {}, {}, payload};
  request.headers = {{"host", "examplebucket.s3.amazonaws.com"},
                     {"x-amz-content-sha256", payload},
                     {"x-amz-date", "20130524T000000Z"}};
  return request;
}

TEST(S3Signature, GetOfARange) {
  SignedRequest request = s3_request("GET", "/test.txt");
  request.headers["range"] = "bytes=0-9";
  EXPECT_EQ(authorization(request, kS3Key),
            "AWS4-HMAC-SHA256 Credential=AKIAIOSFODNN7EXAMPLE/20130524/us-east-1/s3/aws4_request, "
            "SignedHeaders=host;range;x-amz-content-sha256;x-amz-date, "
            "Signature=f0e8bdb87c964420e857bd35b5d6ed310bd44f0170aba48dd91039c6036bdb41");
}

TEST(S3Signature, PutWithAnOddName) {
  const std::string text = "Welcome to Amazon S3.";
  SignedRequest request = s3_request("PUT", "/test%24file.text", sha256_hex(std::as_bytes(std::span(text))));
  request.headers["date"] = "Fri, 24 May 2013 00:00:00 GMT";
  request.headers["x-amz-storage-class"] = "REDUCED_REDUNDANCY";
  EXPECT_THAT(authorization(request, kS3Key),
              EndsWith("98ad721746da40c64f1a55b78f14c238d841ea1380cd77a1b5971af0ece108bd"));
}

TEST(S3Signature, QueriesWithAndWithoutValues) {
  SignedRequest request = s3_request("GET", "/");
  request.query = {{"lifecycle", ""}};
  EXPECT_THAT(authorization(request, kS3Key),
              EndsWith("fea454ca298b7da1c68078a5d1bdbfbbe0d65c699e0f91ac7a200a0136783543"));
  request.query = {{"prefix", "J"}, {"max-keys", "2"}};
  EXPECT_THAT(authorization(request, kS3Key),
              EndsWith("34b48302e7b5fa45bde8084f4b7868a86f0a534bc59db6670ed5711ef69dc6f7"));
}

TEST(S3Signature, OfTheSuite) {
  SignedRequest request{"GET", "/", {}, {}, kEmpty};
  request.headers = {{"host", "example.amazonaws.com"}, {"x-amz-date", "20150830T123600Z"}};
  EXPECT_THAT(authorization(request, kSuiteKey),
              EndsWith("5fa00fa31553b73ebf1942676e86291e8372ff2a2260956d9b8aae1d763fbf31"));
  request.query = {{"Param2", "value2"}, {"Param1", "value1"}};
  EXPECT_THAT(authorization(request, kSuiteKey),
              EndsWith("b97d918cfa904a5beff61c982a1b6f458b799221646efd99d3219ec94cdf2500"));
}

TEST(S3Signature, TheCanonicalFormSortsAndEncodes) {
  SignedRequest request = s3_request("GET", "/a%20b");
  request.query = {{"prefix", "a b/c+"}, {"delimiter", "/"}};
  EXPECT_THAT(canonical_request(request),
              StartsWith("GET\n/a%20b\ndelimiter=%2F&prefix=a%20b%2Fc%2B\nhost:examplebucket.s3."));
}

TEST(S3Signature, Digests) {
  EXPECT_EQ(sha256_hex({}), kEmpty);
  EXPECT_EQ(md5_base64({}), "1B2M2Y8AsgTpgAmY7PhCfg==");
}

}  // namespace
}  // namespace trireme
