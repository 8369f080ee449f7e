// s3:// names, endpoints, percent-encoding, and what an object store answers in XML.
#include "io/store/s3_address.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/error.h"
#include "io/store/s3_xml.h"

namespace trireme {
namespace {
using testing::ElementsAre;
using testing::HasSubstr;

template <class Call>
std::string user_error(Call&& call) {
  try {
    call();
  } catch (const UserError& error) {
    return error.what();
  }
  return "no error";
}

TEST(S3Address, PlacesByUrl) {
  EXPECT_TRUE(is_s3_url("s3://a"));
  EXPECT_FALSE(is_s3_url("runs/s3://a"));
  const S3Place place = parse_s3_url("s3://my-bucket.1//runs/demo//");
  EXPECT_EQ(place.bucket, "my-bucket.1");
  EXPECT_EQ(place.prefix, "runs/demo");
  EXPECT_EQ(to_url(place), "s3://my-bucket.1/runs/demo");
  EXPECT_EQ(to_url(parse_s3_url("s3://bucket")), "s3://bucket");
  for (const char* wrong : {"s3://", "s3://ab", "s3:///a", "s3://Bucket/a", "s3://-bucket", "s3://a_bucket"})
    EXPECT_THAT(user_error([&] { parse_s3_url(wrong); }), HasSubstr("is no name of a bucket")) << wrong;
}

std::string base(const std::string& bucket, const std::string& endpoint, const std::string& region = "") {
  S3Options options;
  options.endpoint = endpoint;
  options.region = region;
  const S3Address address = address_of({bucket, "prefix"}, options);
  return address.scheme + "://" + address.host + address.path;
}

TEST(S3Address, WhereABucketAnswers) {
  EXPECT_EQ(base("bucket", ""), "https://bucket.s3.us-east-1.amazonaws.com");
  EXPECT_EQ(base("bucket", "", "eu-west-1"), "https://bucket.s3.eu-west-1.amazonaws.com");
  EXPECT_EQ(base("bucket", "", "cn-north-1"), "https://bucket.s3.cn-north-1.amazonaws.com.cn");
  EXPECT_EQ(base("a.bucket", "", "eu-west-1"), "https://s3.eu-west-1.amazonaws.com/a.bucket");
  EXPECT_EQ(base("bucket", "http://127.0.0.1:9000"), "http://127.0.0.1:9000/bucket");
  EXPECT_EQ(base("bucket", "https://Store.example:443/s3/"), "https://store.example/s3/bucket");
  EXPECT_EQ(base("bucket", "http://[::1]:80"), "http://[::1]/bucket");
  for (const char* wrong : {"127.0.0.1:9000", "ftp://a", "http://", "http://user@a", "http://a?b"})
    EXPECT_THAT(user_error([&] { base("bucket", wrong); }), HasSubstr("is no address of an S3 store"))
        << wrong;
}

TEST(S3Address, Encoding) {
  EXPECT_EQ(percent_encode("aZ0-._~/ +\xc3\xa4"), "aZ0-._~%2F%20%2B%C3%A4");
  EXPECT_EQ(percent_encode_path("a/b c"), "a/b%20c");
  EXPECT_EQ(decode_form("a%2Fb+c%2B%zz%4"), "a/b c+%zz%4");
}

TEST(S3Xml, PagesErrorsAndUploads) {
  const ListPage page = parse_list_page(
      "<?xml version=\"1.0\"?><ListBucketResult xmlns=\"http://s3.amazonaws.com/doc/2006-03-01/\">"
      "<EncodingType>url</EncodingType><IsTruncated>true</IsTruncated>"
      "<NextContinuationToken>a&amp;b</NextContinuationToken>"
      "<Contents><Key>x/a+b%0A</Key></Contents><CommonPrefixes><Prefix>x/c/</Prefix></CommonPrefixes>"
      "</ListBucketResult>",
      "s3://bucket");
  EXPECT_THAT(page.keys, ElementsAre("x/a b\n"));
  EXPECT_THAT(page.prefixes, ElementsAre("x/c/"));
  EXPECT_EQ(page.continuation, "a&b");
  EXPECT_THROW(parse_list_page("<html/>", "s3://bucket"), EnvError);
  EXPECT_THROW(
      parse_list_page("<ListBucketResult><IsTruncated>true</IsTruncated></ListBucketResult>", "s3://b"),
      EnvError);
  const S3Error error = parse_s3_error("<Error><Code>SlowDown</Code><Message>less</Message></Error>");
  EXPECT_EQ(error.code + error.message + error.region, "SlowDownless");
  EXPECT_EQ(parse_s3_error("not < XML").code, "");
  EXPECT_EQ(complete_upload_xml({"\"1\"", "2"}),
            "<CompleteMultipartUpload><Part><PartNumber>1</PartNumber><ETag>&quot;1&quot;</ETag></Part>"
            "<Part><PartNumber>2</PartNumber><ETag>2</ETag></Part></CompleteMultipartUpload>");
}

}  // namespace
}  // namespace trireme
