// Names and addresses of S3: `s3://bucket/prefix`, the URL of an object, and percent-encoding as SigV4
// wants it.
#pragma once
#include <string>
#include <string_view>

#include "io/store/s3_options.h"

namespace trireme {

struct S3Place {
  std::string bucket;
  std::string prefix;  // "" or "a/b": no slash at either end
};

bool is_s3_url(std::string_view text);         // begins with s3://
S3Place parse_s3_url(const std::string& url);  // UserError when no bucket can be called so
std::string to_url(const S3Place& place);      // "s3://bucket/a/b"

// Where a bucket answers. With an endpoint of one's own the bucket is the first part of the path, as every
// S3-compatible server takes it; at AWS it is part of the host's name, unless it has a dot, which
// certificates do not cover.
struct S3Address {
  std::string scheme;  // "https"
  std::string host;    // "minio.example:9000", without the scheme's own port: what the Host header says
  std::string path;    // encoded, before the key's "/": "/bucket", or ""
};

S3Address address_of(const S3Place& place, const S3Options& options);  // UserError: no such endpoint

std::string percent_encode(std::string_view text);       // all but A-Z a-z 0-9 - . _ ~
std::string percent_encode_path(std::string_view text);  // slashes stay as well
std::string decode_form(std::string_view text);          // %41 and '+' as lists of S3 have them

}  // namespace trireme
