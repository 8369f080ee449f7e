// Hashes and HMACs by OpenSSL.
#include "io/store/s3_signature.h"

#include <openssl/evp.h>
#include <openssl/hmac.h>

#include <array>
#include <string_view>

#include "base/error.h"
#include "io/store/s3_address.h"

namespace trireme {
namespace {

std::span<const std::byte> bytes_of(std::string_view text) { return std::as_bytes(std::span(text)); }

std::string hex(std::string_view bytes) {
  std::string text;
  for (const char c : bytes) text += fmt::format("{:02x}", static_cast<unsigned char>(c));
  return text;
}

std::string digest(const EVP_MD* kind, std::span<const std::byte> bytes) {
  std::array<unsigned char, EVP_MAX_MD_SIZE> out{};
  unsigned size = 0;
  if (EVP_Digest(bytes.data(), bytes.size(), out.data(), &size, kind, nullptr) != 1) return "";
  return {reinterpret_cast<const char*>(out.data()), size};
}

std::string hmac_sha256(std::string_view key, std::string_view text) {
  std::array<unsigned char, EVP_MAX_MD_SIZE> out{};
  unsigned size = 0;
  const auto* bytes = reinterpret_cast<const unsigned char*>(text.data());
  const unsigned char* done =
      HMAC(EVP_sha256(), key.data(), static_cast<int>(key.size()), bytes, text.size(), out.data(), &size);
  CHECK(done != nullptr);
  return {reinterpret_cast<const char*>(out.data()), size};
}

std::string signed_headers(const SignedRequest& request) {
  std::string names;
  for (const auto& [name, value] : request.headers) names += (names.empty() ? "" : ";") + name;
  return names;
}

std::string scope_of(std::string_view date, const SigningKey& key) {
  return fmt::format("{}/{}/{}/aws4_request", date, key.region, key.service);
}

}  // namespace

std::string query_text(const std::map<std::string, std::string>& query) {
  std::string text;
  for (const auto& [name, value] : query)
    text += (text.empty() ? "" : "&") + percent_encode(name) + "=" + percent_encode(value);
  return text;
}

std::string canonical_request(const SignedRequest& request) {
  std::string headers;
  for (const auto& [name, value] : request.headers) headers += fmt::format("{}:{}\n", name, value);
  return fmt::format("{}\n{}\n{}\n{}\n{}\n{}", request.method, request.path, query_text(request.query),
                     headers, signed_headers(request), request.payload_sha256);
}

std::string authorization(const SignedRequest& request, const SigningKey& key) {
  const std::string& time = request.headers.at("x-amz-date");
  const std::string date = time.substr(0, 8);
  const std::string scope = scope_of(date, key);
  const std::string to_sign = fmt::format("AWS4-HMAC-SHA256\n{}\n{}\n{}", time, scope,
                                          sha256_hex(bytes_of(canonical_request(request))));
  std::string signing = hmac_sha256("AWS4" + key.secret_key, date);
  for (const std::string& part : {key.region, key.service, std::string("aws4_request")})
    signing = hmac_sha256(signing, part);
  return fmt::format("AWS4-HMAC-SHA256 Credential={}/{}, SignedHeaders={}, Signature={}", key.access_key,
                     scope, signed_headers(request), hex(hmac_sha256(signing, to_sign)));
}

std::string sha256_hex(std::span<const std::byte> bytes) {
  const std::string sum = digest(EVP_sha256(), bytes);
  CHECK(!sum.empty());
  return hex(sum);
}

std::string md5_base64(std::span<const std::byte> bytes) {
  const std::string sum = digest(EVP_md5(), bytes);
  if (sum.empty()) return "";
  std::array<unsigned char, 32> text{};
  const int size = EVP_EncodeBlock(text.data(), reinterpret_cast<const unsigned char*>(sum.data()),
                                   static_cast<int>(sum.size()));
  return {reinterpret_cast<const char*>(text.data()), static_cast<size_t>(size)};
}

}  // namespace trireme
