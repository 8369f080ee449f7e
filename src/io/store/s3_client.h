// Requests to one bucket: signed, tried again while there is hope, and refused with a message that says what
// to do. Used by the store and by uploads.
#pragma once
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <map>
#include <optional>
#include <span>
#include <string>

#include "io/store/http_call.h"
#include "io/store/s3_address.h"
#include "io/store/s3_options.h"
#include "io/store/s3_signature.h"

namespace trireme {

enum class S3Patience : uint8_t {
  transfer,  // bytes flow all the time
  work,      // the server may work for minutes before it answers
  one_try,   // cleaning up: what fails is left
};

struct S3Request {
  const char* purpose = "read";                     // for messages: "cannot read s3://..."
  std::string method;                               // "GET"
  std::string key;                                  // "" for the bucket
  std::map<std::string, std::string> query = {};    // not encoded
  std::map<std::string, std::string> headers = {};  // names in lower case
  std::span<const std::byte> body = {};
  std::optional<std::span<std::byte>> into = std::nullopt;
  S3Patience patience = S3Patience::transfer;
};

class S3Client {
 public:
  // UserError when the credentials or the endpoint cannot be right. Nothing is asked of the server yet.
  S3Client(S3Place place, const S3Options& options);

  // An answer with a status 2xx, or one of `also`. EnvError for any other, in the end.
  HttpAnswer call(const S3Request& request, std::initializer_list<int> also = {});

  const S3Options& options() const { return options_; }
  const S3Place& place() const { return place_; }
  std::string locate(const std::string& key) const;  // "s3://bucket/key"

 private:
  HttpAnswer once(const S3Request& request, const std::string& payload_sha256, const std::string& md5);
  std::string url_of(const S3Request& request) const;
  void wait_before(int next_try) const;
  [[noreturn]] void refuse(const S3Request& request, const HttpAnswer& answer, int tries) const;

  S3Place place_;
  S3Options options_;
  S3Address address_;
  SigningKey key_;
  HttpConnections connections_;
};

}  // namespace trireme
