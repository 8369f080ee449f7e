// Bucket names by S3's rules; endpoints by the part of RFC 3986 that they need.
#include "io/store/s3_address.h"

#include <algorithm>
#include <charconv>

#include "base/error.h"

namespace trireme {
namespace {

constexpr std::string_view kScheme = "s3://";

bool is_lower_or_digit(char c) { return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9'); }

bool is_bucket_name(std::string_view name) {
  if (name.size() < 3 || name.size() > 63) return false;
  if (!is_lower_or_digit(name.front()) || !is_lower_or_digit(name.back())) return false;
  return std::all_of(name.begin(), name.end(),
                     [](char c) { return is_lower_or_digit(c) || c == '-' || c == '.'; });
}

bool is_unreserved(char c) {
  return is_lower_or_digit(c) || (c >= 'A' && c <= 'Z') || c == '-' || c == '.' || c == '_' || c == '~';
}

std::string encode(std::string_view text, std::string_view also_kept) {
  std::string encoded;
  for (const char c : text) {
    if (is_unreserved(c) || also_kept.find(c) != std::string_view::npos)
      encoded += c;
    else
      encoded += fmt::format("%{:02X}", static_cast<unsigned char>(c));
  }
  return encoded;
}

S3Address parse_endpoint(const std::string& endpoint) {
  const auto refuse = [&] {
    fail_user(
        "{} is no address of an S3 store: set AWS_ENDPOINT_URL_S3 to one like https://minio.example:9000, or "
        "unset it for AWS",
        endpoint);
  };
  S3Address address;
  const size_t colon = endpoint.find("://");
  if (colon == std::string::npos) refuse();
  address.scheme = endpoint.substr(0, colon);
  if (address.scheme != "http" && address.scheme != "https") refuse();
  const size_t begin = colon + 3;
  const size_t slash = std::min(endpoint.find('/', begin), endpoint.size());
  address.host = endpoint.substr(begin, slash - begin);
  address.path = endpoint.substr(slash);
  while (address.path.ends_with('/')) address.path.pop_back();
  if (address.host.empty() || endpoint.find_first_of("@?# \t") != std::string::npos) refuse();
  std::transform(address.host.begin(), address.host.end(), address.host.begin(),
                 [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; });
  const std::string own_port = address.scheme == "http" ? ":80" : ":443";
  if (address.host.ends_with(own_port)) address.host.resize(address.host.size() - own_port.size());
  return address;
}

}  // namespace

bool is_s3_url(std::string_view text) { return text.starts_with(kScheme); }

S3Place parse_s3_url(const std::string& url) {
  CHECK(is_s3_url(url), "{}", url);
  const std::string_view rest = std::string_view(url).substr(kScheme.size());
  const size_t slash = std::min(rest.find('/'), rest.size());
  S3Place place{std::string(rest.substr(0, slash)), std::string(rest.substr(slash))};
  if (!is_bucket_name(place.bucket))
    fail_user(
        "{}: \"{}\" is no name of a bucket (3 to 63 of a-z, 0-9, '-' and '.'): write s3://bucket or "
        "s3://bucket/some/prefix",
        url, place.bucket);
  while (place.prefix.ends_with('/')) place.prefix.pop_back();
  while (place.prefix.starts_with('/')) place.prefix.erase(0, 1);
  return place;
}

std::string to_url(const S3Place& place) {
  return std::string(kScheme) + place.bucket + (place.prefix.empty() ? "" : "/" + place.prefix);
}

S3Address address_of(const S3Place& place, const S3Options& options) {
  if (!options.endpoint.empty()) {
    S3Address address = parse_endpoint(options.endpoint);
    address.path += "/" + place.bucket;
    return address;
  }
  const std::string region = options.region.empty() ? "us-east-1" : options.region;
  const std::string host =
      "s3." + region + (region.starts_with("cn-") ? ".amazonaws.com.cn" : ".amazonaws.com");
  if (place.bucket.find('.') != std::string::npos) return {"https", host, "/" + place.bucket};
  return {"https", place.bucket + "." + host, ""};
}

std::string percent_encode(std::string_view text) { return encode(text, ""); }
std::string percent_encode_path(std::string_view text) { return encode(text, "/"); }

std::string decode_form(std::string_view text) {
  std::string decoded;
  for (size_t i = 0; i < text.size(); ++i) {
    unsigned value = 0;
    if (text[i] == '%' && i + 2 < text.size() &&
        std::from_chars(text.data() + i + 1, text.data() + i + 3, value, 16).ptr == text.data() + i + 3) {
      decoded += static_cast<char>(value);
      i += 2;
    } else {
      decoded += text[i] == '+' ? ' ' : text[i];
    }
  }
  return decoded;
}

}  // namespace trireme
