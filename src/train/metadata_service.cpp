// Transfers go through a curl multi handle for its wakeup, the one way to end a wait from another thread.
#include "train/metadata_service.h"

#include <curl/curl.h>

#include <algorithm>
#include <atomic>
#include <cctype>
#include <nlohmann/json.hpp>

#include "base/error.h"

namespace trireme {
namespace {

constexpr const char* kTokenPath = "/latest/api/token";
constexpr int kLongWaitMs = 60'000;  // curl wakes up by itself for what it has to do
constexpr size_t kMostTokenBytes = 4096;
constexpr size_t kMostShownBytes = 200;

struct EasyEnd {
  void operator()(CURL* easy) const { curl_easy_cleanup(easy); }
};
struct MultiEnd {
  void operator()(CURLM* multi) const { curl_multi_cleanup(multi); }
};
struct ListEnd {
  void operator()(curl_slist* list) const { curl_slist_free_all(list); }
};
struct UrlEnd {
  void operator()(CURLU* url) const { curl_url_cleanup(url); }
};
using Easy = std::unique_ptr<CURL, EasyEnd>;
using Multi = std::unique_ptr<CURLM, MultiEnd>;
using Headers = std::unique_ptr<curl_slist, ListEnd>;
using Url = std::unique_ptr<CURLU, UrlEnd>;

// curl calls it with each part of a body; a count other than the given one ends the transfer.
size_t take_part(const char* part, size_t, size_t bytes, void* answer) {
  std::string& body = static_cast<MetadataAnswer*>(answer)->body;
  if (body.size() + bytes > static_cast<size_t>(MetadataService::kMostBodyBytes)) return 0;
  body.append(part, bytes);
  return bytes;
}

void add(Headers& headers, const std::string& line) {
  curl_slist* longer = curl_slist_append(headers.get(), line.c_str());
  CHECK(longer != nullptr, "out of memory");
  (void)headers.release();  // it is part of `longer`
  headers.reset(longer);
}

// Where Amazon's service on the same host gives tokens; "" when `url` is none.
std::string token_url(const std::string& url) {
  const Url parts(curl_url());
  if (!parts || curl_url_set(parts.get(), CURLUPART_URL, url.c_str(), 0) != CURLUE_OK) return "";
  curl_url_set(parts.get(), CURLUPART_PATH, kTokenPath, 0);
  curl_url_set(parts.get(), CURLUPART_QUERY, nullptr, 0);
  curl_url_set(parts.get(), CURLUPART_FRAGMENT, nullptr, 0);
  char* text = nullptr;
  if (curl_url_get(parts.get(), CURLUPART_URL, &text, 0) != CURLUE_OK) return "";
  std::string result = text;
  curl_free(text);
  return result;
}

// It goes into a header as it is.
bool is_token(const std::string& text) {
  return !text.empty() && text.size() <= kMostTokenBytes &&
         std::all_of(text.begin(), text.end(), [](unsigned char c) { return std::isgraph(c) != 0; });
}

std::string trimmed(const std::string& text) {
  constexpr const char* kBlank = " \t\r\n";
  const size_t first = text.find_first_not_of(kBlank);
  return first == std::string::npos ? "" : text.substr(first, text.find_last_not_of(kBlank) - first + 1);
}

// For the log: printable, short.
std::string shown(std::string text) {
  if (text.size() > kMostShownBytes) text.resize(kMostShownBytes);
  std::replace_if(
      text.begin(), text.end(), [](unsigned char c) { return c < ' ' || c >= 0x7f; }, ' ');
  return text;
}

std::string string_at(const nlohmann::json& object, const char* key) {
  if (!object.is_object()) return "";
  const auto found = object.find(key);
  return found != object.end() && found->is_string() ? found->get<std::string>() : "";
}

std::optional<std::string> notice_in_events(const nlohmann::json& events) {
  if (!events.is_array()) return std::nullopt;
  for (const auto& event : events) {
    const std::string type = string_at(event, "EventType"), when = string_at(event, "NotBefore");
    if (type.empty() || type == "Freeze") continue;
    return shown(type + (when.empty() ? ", at any time" : ", not before " + when));
  }
  return std::nullopt;
}

}  // namespace

struct MetadataService::Transfer {
  std::string url;
  double answer_s;
  std::string token;
  Multi multi{curl_multi_init()};
  std::atomic<bool> interrupted{false};

  MetadataAnswer request(const std::string& to, const char* method, const Headers& headers);
  MetadataAnswer ask();
  bool renew_token();
};

MetadataAnswer MetadataService::Transfer::request(const std::string& to, const char* method,
                                                  const Headers& headers) {
  MetadataAnswer answer;
  const Easy easy(curl_easy_init());
  CHECK(easy, "curl_easy_init");
  const auto set = [&](CURLoption option, auto value) {
    const CURLcode code = curl_easy_setopt(easy.get(), option, value);
    CHECK(code == CURLE_OK, "option {}: {}", static_cast<int>(option), curl_easy_strerror(code));
  };
  set(CURLOPT_URL, to.c_str());
  set(CURLOPT_PROTOCOLS_STR, "http,https");
  set(CURLOPT_CUSTOMREQUEST, method);
  set(CURLOPT_HTTPHEADER, headers.get());
  set(CURLOPT_NOPROXY, "*");
  set(CURLOPT_NOSIGNAL, 1L);
  set(CURLOPT_QUICK_EXIT, 1L);  // an unfinished look-up of the host's name holds up nobody
  set(CURLOPT_TIMEOUT_MS, std::max(1L, static_cast<long>(answer_s * 1000)));
  set(CURLOPT_WRITEFUNCTION, take_part);
  set(CURLOPT_WRITEDATA, &answer);

  CHECK(curl_multi_add_handle(multi.get(), easy.get()) == CURLM_OK);
  int running = 1;
  CURLMcode code = curl_multi_perform(multi.get(), &running);
  while (code == CURLM_OK && running != 0 && !interrupted.load()) {
    code = curl_multi_poll(multi.get(), nullptr, 0, kLongWaitMs, nullptr);
    if (code == CURLM_OK) code = curl_multi_perform(multi.get(), &running);
  }
  int left = 0;
  const CURLMsg* ended = curl_multi_info_read(multi.get(), &left);
  if (code != CURLM_OK) {
    answer.error = curl_multi_strerror(code);
  } else if (ended == nullptr) {
    answer.error = "interrupted";
  } else if (ended->data.result == CURLE_WRITE_ERROR) {
    answer.error = fmt::format("the answer is longer than {} bytes", kMostBodyBytes);
  } else if (ended->data.result != CURLE_OK) {
    answer.error = curl_easy_strerror(ended->data.result);
  } else {
    long status = 0;
    curl_easy_getinfo(easy.get(), CURLINFO_RESPONSE_CODE, &status);
    answer.status = status;
  }
  curl_multi_remove_handle(multi.get(), easy.get());
  return answer;
}

MetadataAnswer MetadataService::Transfer::ask() {
  Headers headers;
  add(headers, "Metadata-Flavor: Google");
  add(headers, "Metadata: true");
  if (!token.empty()) add(headers, "X-aws-ec2-metadata-token: " + token);
  return request(url, "GET", headers);
}

bool MetadataService::Transfer::renew_token() {
  Headers headers;
  add(headers, "X-aws-ec2-metadata-token-ttl-seconds: 21600");
  add(headers, "Content-Length: 0");
  const MetadataAnswer answer = request(token_url(url), "PUT", headers);
  token = answer.status == 200 ? trimmed(answer.body) : "";
  if (!is_token(token)) token.clear();
  return !token.empty();
}

MetadataService::MetadataService(const std::string& url, double answer_s)
    : transfer_(new Transfer{.url = url, .answer_s = answer_s}) {
  CHECK(transfer_->multi, "curl_multi_init");
}

MetadataService::~MetadataService() = default;

MetadataAnswer MetadataService::get() {
  constexpr int64_t kUnauthorized = 401;
  MetadataAnswer answer = transfer_->ask();
  if (answer.status == kUnauthorized && transfer_->renew_token()) answer = transfer_->ask();
  return answer;
}

void MetadataService::interrupt() {
  transfer_->interrupted.store(true);
  curl_multi_wakeup(transfer_->multi.get());
}

std::optional<std::string> notice_in(const MetadataAnswer& answer) {
  constexpr int64_t kOk = 200;
  if (answer.status != kOk) return std::nullopt;
  const std::string text = trimmed(answer.body);
  if (text.empty() || text == "NONE" || text == "FALSE") return std::nullopt;
  const nlohmann::json json = nlohmann::json::parse(text, nullptr, false);
  if (json.is_object() && json.contains("Events")) return notice_in_events(json["Events"]);
  return shown(text);
}

}  // namespace trireme
