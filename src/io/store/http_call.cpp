// libcurl's easy handles, one per call that is under way.
#include "io/store/http_call.h"

#include <curl/curl.h>
#include <signal.h>
#include <time.h>

#include <algorithm>
#include <cstring>
#include <string_view>
#include <system_error>
#include <utility>

#include "base/error.h"

namespace trireme {
namespace {

constexpr size_t kTextLimit = size_t{16} << 20;  // a list of 1000 keys of 1024 bytes, encoded, has less

// A connection that the server closed raises SIGPIPE in TLS's writes, which must not end the process. Only
// this thread's mask is touched.
class SigpipeHeld {
 public:
  SigpipeHeld() {
    sigset_t pending;
    sigpending(&pending);
    was_pending_ = sigismember(&pending, SIGPIPE) == 1;
    sigemptyset(&sigpipe_);
    sigaddset(&sigpipe_, SIGPIPE);
    pthread_sigmask(SIG_BLOCK, &sigpipe_, &before_);
  }
  SigpipeHeld(const SigpipeHeld&) = delete;
  SigpipeHeld& operator=(const SigpipeHeld&) = delete;
  ~SigpipeHeld() {
    const timespec at_once{};
    while (!was_pending_ && sigtimedwait(&sigpipe_, nullptr, &at_once) == SIGPIPE) {
    }
    pthread_sigmask(SIG_SETMASK, &before_, nullptr);
  }

 private:
  sigset_t sigpipe_, before_;
  bool was_pending_ = false;
};

struct HeaderList {
  curl_slist* first = nullptr;
  ~HeaderList() { curl_slist_free_all(first); }
  void add(const std::string& line) {
    curl_slist* longer = curl_slist_append(first, line.c_str());
    CHECK(longer != nullptr);
    first = longer;
  }
};

// The answer as it comes in.
struct Receiver {
  CURL* curl;
  const HttpRequest& request;
  std::stop_token stop;
  HttpAnswer answer;
  size_t received = 0;  // of request.into
  bool too_long = false;
};

std::string lower(std::string_view text) {
  std::string out(text);
  std::transform(out.begin(), out.end(), out.begin(),
                 [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; });
  return out;
}

size_t on_header(char* data, size_t size, size_t count, void* user) {
  auto& receiver = *static_cast<Receiver*>(user);
  std::string_view line(data, size * count);
  while (line.ends_with('\n') || line.ends_with('\r')) line.remove_suffix(1);
  if (line.starts_with("HTTP/")) receiver.answer.headers.clear();  // of an answer 1xx before
  const size_t colon = line.find(':');
  if (colon != std::string_view::npos) {
    std::string_view value = line.substr(colon + 1);
    while (value.starts_with(' ')) value.remove_prefix(1);
    receiver.answer.headers[lower(line.substr(0, colon))] = value;
  }
  return size * count;
}

size_t on_body(char* data, size_t size, size_t count, void* user) {
  auto& receiver = *static_cast<Receiver*>(user);
  const size_t bytes = size * count;
  long status = 0;
  curl_easy_getinfo(receiver.curl, CURLINFO_RESPONSE_CODE, &status);
  if (receiver.request.into && status >= 200 && status < 300) {
    const auto rest = receiver.request.into->subspan(receiver.received);
    receiver.too_long = bytes > rest.size();
    if (receiver.too_long) return 0;
    std::memcpy(rest.data(), data, bytes);
    receiver.received += bytes;
    return bytes;
  }
  receiver.too_long = receiver.answer.body.size() + bytes > kTextLimit;
  if (receiver.too_long) return 0;
  receiver.answer.body.append(data, bytes);
  return bytes;
}

int on_progress(void* user, curl_off_t, curl_off_t, curl_off_t, curl_off_t) {
  return static_cast<Receiver*>(user)->stop.stop_requested() ? 1 : 0;
}

HttpFailure kind_of(CURLcode code) {
  switch (code) {
    case CURLE_OK:
      return HttpFailure::none;
    case CURLE_ABORTED_BY_CALLBACK:
      return HttpFailure::stopped;
    case CURLE_UNSUPPORTED_PROTOCOL:
    case CURLE_URL_MALFORMAT:
    case CURLE_PEER_FAILED_VERIFICATION:
    case CURLE_SSL_CACERT_BADFILE:
    case CURLE_SSL_CERTPROBLEM:
      return HttpFailure::permanent;
    default:
      return HttpFailure::transient;
  }
}

template <class T>
void set(CURL* curl, CURLoption option, T value) {
  const CURLcode code = curl_easy_setopt(curl, option, value);
  CHECK(code == CURLE_OK, "option {}: {}", static_cast<int>(option), curl_easy_strerror(code));
}

void set_request(CURL* curl, const HttpRequest& request, HeaderList& headers) {
  set(curl, CURLOPT_URL, request.url.c_str());
  set(curl, CURLOPT_PATH_AS_IS, 1L);  // "a/../b" is a key like any other
  if (request.method == "HEAD") {
    set(curl, CURLOPT_NOBODY, 1L);
  } else if (request.method == "PUT" || request.method == "POST") {
    set(curl, CURLOPT_POSTFIELDSIZE_LARGE, static_cast<curl_off_t>(request.body.size()));
    set(curl, CURLOPT_POSTFIELDS, request.body.empty() ? "" : static_cast<const void*>(request.body.data()));
    headers.add("Content-Type: application/octet-stream");
    headers.add("Expect:");  // no wait for "100 Continue"
  }
  if (request.method != "HEAD") set(curl, CURLOPT_CUSTOMREQUEST, request.method.c_str());
  for (const std::string& line : request.headers) headers.add(line);
  set(curl, CURLOPT_HTTPHEADER, headers.first);
}

void set_limits(CURL* curl, const HttpLimits& limits) {
  set(curl, CURLOPT_NOSIGNAL, 1L);
  set(curl, CURLOPT_CONNECTTIMEOUT_MS, static_cast<long>(limits.connect_s * 1000));
  set(curl, CURLOPT_TIMEOUT_MS, static_cast<long>(limits.whole_s * 1000));
  if (limits.slow_after_s > 0) {
    set(curl, CURLOPT_LOW_SPEED_LIMIT, static_cast<long>(limits.slow_bytes_per_s));
    set(curl, CURLOPT_LOW_SPEED_TIME, std::max(1L, static_cast<long>(limits.slow_after_s)));
  }
}

}  // namespace

struct HttpConnections::Handle {
  CURL* curl = curl_easy_init();
  char error[CURL_ERROR_SIZE] = "";
  Handle() { CHECK(curl != nullptr); }
  Handle(const Handle&) = delete;
  Handle& operator=(const Handle&) = delete;
  ~Handle() { curl_easy_cleanup(curl); }
};

HttpConnections::HttpConnections(HttpSettings settings) : settings_(std::move(settings)) {}
HttpConnections::~HttpConnections() = default;

std::unique_ptr<HttpConnections::Handle> HttpConnections::take() {
  const std::lock_guard lock(mutex_);
  if (idle_.empty()) return std::make_unique<Handle>();
  std::unique_ptr<Handle> handle = std::move(idle_.back());
  idle_.pop_back();
  return handle;
}

void HttpConnections::give_back(std::unique_ptr<Handle> handle) {
  const std::lock_guard lock(mutex_);
  idle_.push_back(std::move(handle));
}

HttpAnswer HttpConnections::call(const HttpRequest& request, const HttpLimits& limits) {
  const SigpipeHeld held;
  std::unique_ptr<Handle> handle = take();
  CURL* curl = handle->curl;
  curl_easy_reset(curl);  // open connections stay
  handle->error[0] = '\0';
  HeaderList headers;
  Receiver receiver{curl, request, settings_.stop, {}};
  set_request(curl, request, headers);
  set_limits(curl, limits);
  set(curl, CURLOPT_ERRORBUFFER, handle->error);
  set(curl, CURLOPT_BUFFERSIZE, 512L << 10);
  set(curl, CURLOPT_UPLOAD_BUFFERSIZE, 512L << 10);
  set(curl, CURLOPT_PROXY, settings_.proxy.c_str());  // "": libcurl looks at no variable either
  set(curl, CURLOPT_NOPROXY, settings_.no_proxy.c_str());
  if (!settings_.ca_file.empty()) set(curl, CURLOPT_CAINFO, settings_.ca_file.c_str());
  set(curl, CURLOPT_HEADERFUNCTION, &on_header);
  set(curl, CURLOPT_HEADERDATA, static_cast<void*>(&receiver));
  set(curl, CURLOPT_WRITEFUNCTION, &on_body);
  set(curl, CURLOPT_WRITEDATA, static_cast<void*>(&receiver));
  set(curl, CURLOPT_NOPROGRESS, 0L);
  set(curl, CURLOPT_XFERINFOFUNCTION, &on_progress);
  set(curl, CURLOPT_XFERINFODATA, static_cast<void*>(&receiver));
  const CURLcode code = curl_easy_perform(curl);
  HttpAnswer answer = std::move(receiver.answer);
  answer.failure = kind_of(code);
  if (code == CURLE_OK) {
    long status = 0;
    curl_easy_getinfo(curl, CURLINFO_RESPONSE_CODE, &status);
    answer.status = static_cast<int>(status);
    if (request.into && status >= 200 && status < 300 && receiver.received < request.into->size()) {
      answer.failure = HttpFailure::transient;
      answer.why = fmt::format("the answer has {} bytes, not {}", receiver.received, request.into->size());
    }
  } else if (receiver.too_long) {
    answer.why = "the answer is longer than what was asked for";
  } else {
    answer.why = handle->error[0] != '\0' ? handle->error : curl_easy_strerror(code);
    long number = 0;
    if (curl_easy_getinfo(curl, CURLINFO_OS_ERRNO, &number) == CURLE_OK && number != 0)
      answer.why += fmt::format(": {}", std::system_category().message(static_cast<int>(number)));
  }
  give_back(std::move(handle));
  return answer;
}

}  // namespace trireme
