// One HTTP request and its answer. libcurl stops in http_call.cpp.
#pragma once
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <stop_token>
#include <string>
#include <vector>

namespace trireme {

struct HttpRequest {
  std::string method;                        // "GET"
  std::string url;                           // encoded
  std::vector<std::string> headers;          // "name: value"
  std::span<const std::byte> body;           // PUT, POST
  std::optional<std::span<std::byte>> into;  // where the body of an answer 2xx goes, which must fill it
};

struct HttpLimits {
  double connect_s = 10;
  int64_t slow_bytes_per_s = 0;  // slower than this ...
  double slow_after_s = 0;       // ... for so long: failure; 0: never
  double whole_s = 0;            // of the whole call; 0: no limit
};

enum class HttpFailure : uint8_t {
  none,       // there is a status
  transient,  // another try may succeed: refused, cut, too slow, too short
  permanent,  // a wrong certificate, an address that is none
  stopped,    // by the stop token
};

struct HttpAnswer {
  HttpFailure failure = HttpFailure::none;
  std::string why;  // of the failure
  int status = 0;
  std::map<std::string, std::string> headers;  // names in lower case
  std::string body;                            // unless it went elsewhere
};

struct HttpSettings {
  std::string ca_file, proxy, no_proxy;  // as in S3Options
  std::stop_token stop;
};

// Connections to servers, kept open from one call to the next. May be used from several threads.
class HttpConnections {
 public:
  explicit HttpConnections(HttpSettings settings);
  ~HttpConnections();
  HttpAnswer call(const HttpRequest& request, const HttpLimits& limits);

 private:
  struct Handle;
  std::unique_ptr<Handle> take();
  void give_back(std::unique_ptr<Handle> handle);

  HttpSettings settings_;
  std::mutex mutex_;
  std::vector<std::unique_ptr<Handle>> idle_;
};

}  // namespace trireme
