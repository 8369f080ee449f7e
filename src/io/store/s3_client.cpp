// Which failures are worth another try, and how long to wait before it.
#include "io/store/s3_client.h"

#include <fmt/chrono.h>

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <random>
#include <set>
#include <string_view>
#include <utility>

#include "base/error.h"
#include "io/store/s3_failure.h"
#include "io/store/s3_xml.h"

namespace trireme {
namespace {

constexpr double kWorkLimitS = 600;  // assembling the parts of an upload takes S3 minutes at most

S3Options completed(S3Options options) {
  if (options.region.empty()) options.region = "us-east-1";
  CHECK(options.tries >= 1 && options.part_bytes > 0 && options.parts_at_once >= 1, "{} {} {}", options.tries,
        options.part_bytes, options.parts_at_once);
  return options;
}

bool worth_another_try(const HttpAnswer& answer) {
  if (answer.failure != HttpFailure::none) return answer.failure == HttpFailure::transient;
  static constexpr int kStatuses[] = {408, 425, 429, 500, 502, 503, 504};
  if (std::find(std::begin(kStatuses), std::end(kStatuses), answer.status) != std::end(kStatuses))
    return true;
  // Damaged or cut on the way, or two requests at once; 200: assembling failed after the status was sent.
  static const std::set<std::string, std::less<>> kCodes = {
      "RequestTimeout", "BadDigest",     "XAmzContentSHA256Mismatch", "IncompleteBody", "OperationAborted",
      "SlowDown",       "InternalError", "ServiceUnavailable"};
  return kCodes.contains(parse_s3_error(answer.body).code);
}

bool is_success(const HttpAnswer& answer) {
  return answer.failure == HttpFailure::none && answer.status >= 200 && answer.status < 300 &&
         parse_s3_error(answer.body).code.empty();
}

}  // namespace

S3Client::S3Client(S3Place place, const S3Options& options)
    : place_(std::move(place)),
      options_(completed(options)),
      address_(address_of(place_, options_)),
      key_{options_.access_key, options_.secret_key, options_.region},
      connections_({options_.ca_file, options_.proxy, options_.no_proxy, options_.stop}) {
  if (options_.access_key.empty() || options_.secret_key.empty())
    fail_user(
        "{} needs credentials: set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or AWS_PROFILE to a profile "
        "of ~/.aws/credentials",
        to_url(place_));
}

std::string S3Client::locate(const std::string& key) const {
  return to_url({place_.bucket, ""}) + (key.empty() ? "" : "/" + key);
}

std::string S3Client::url_of(const S3Request& request) const {
  const std::string query = query_text(request.query);
  return fmt::format("{}://{}{}/{}{}{}", address_.scheme, address_.host, address_.path,
                     percent_encode_path(request.key), query.empty() ? "" : "?", query);
}

HttpAnswer S3Client::once(const S3Request& request, const std::string& payload_sha256,
                          const std::string& md5) {
  SignedRequest sign{request.method, address_.path + "/" + percent_encode_path(request.key), request.query,
                     request.headers, payload_sha256};
  sign.headers["host"] = address_.host;
  sign.headers["x-amz-content-sha256"] = payload_sha256;
  sign.headers["x-amz-date"] =
      fmt::format("{:%Y%m%dT%H%M%SZ}", fmt::gmtime(std::chrono::system_clock::now()));
  if (!options_.session_token.empty()) sign.headers["x-amz-security-token"] = options_.session_token;
  if (!md5.empty()) sign.headers["content-md5"] = md5;

  HttpRequest http{
      .method = request.method, .url = url_of(request), .body = request.body, .into = request.into};
  for (const auto& [name, value] : sign.headers) http.headers.push_back(name + ": " + value);
  http.headers.push_back("authorization: " + authorization(sign, key_));
  HttpLimits limits{.connect_s = options_.connect_s};
  if (request.patience == S3Patience::work) {
    limits.whole_s = kWorkLimitS;
  } else {
    limits.slow_bytes_per_s = options_.slow_bytes_per_s;
    limits.slow_after_s = options_.slow_after_s;
  }
  return connections_.call(http, limits);
}

void S3Client::wait_before(int next_try) const {
  double wait_s = options_.first_wait_s;
  for (int i = 2; i < next_try && wait_s < options_.longest_wait_s; ++i) wait_s *= 2;
  wait_s = std::min(wait_s, options_.longest_wait_s);
  // Many ranks fail at the same moment; they shall not come back at the same moment.
  std::random_device random;
  wait_s *= 0.5 + 0.5 * static_cast<double>(random()) / static_cast<double>(std::random_device::max());
  std::mutex mutex;
  std::condition_variable_any never;
  std::unique_lock lock(mutex);
  never.wait_for(lock, options_.stop, std::chrono::duration<double>(wait_s), [] { return false; });
}

HttpAnswer S3Client::call(const S3Request& request, std::initializer_list<int> also) {
  const std::string payload_sha256 = sha256_hex(request.body);
  const std::string md5 = request.body.empty() ? "" : md5_base64(request.body);
  const int tries = request.patience == S3Patience::one_try ? 1 : options_.tries;
  for (int done = 1;; ++done) {
    HttpAnswer answer = once(request, payload_sha256, md5);
    if (is_success(answer)) return answer;
    const bool expected = std::find(also.begin(), also.end(), answer.status) != also.end();
    if (answer.failure == HttpFailure::none && expected) return answer;
    if (options_.stop.stop_requested()) answer.failure = HttpFailure::stopped;
    if (done == tries || !worth_another_try(answer)) refuse(request, answer, done);
    wait_before(done + 1);
  }
}

void S3Client::refuse(const S3Request& request, const HttpAnswer& answer, int tries) const {
  const S3Error error = parse_s3_error(answer.body);
  std::string url = url_of(request);
  url.resize(std::min(url.find('?'), url.size()));
  std::string what =
      answer.failure != HttpFailure::none ? answer.why : fmt::format("status {}", answer.status);
  if (answer.failure == HttpFailure::none && !error.code.empty())
    what += fmt::format(" {}{}{}", error.code, error.message.empty() ? "" : ": ", error.message);
  if (tries > 1) what += fmt::format(" (the last of {} tries)", tries);
  if (answer.failure == HttpFailure::stopped) what = "stopped";
  const std::string cure = cure_of(answer, error, place_, options_);
  fail_env("cannot {} {} ({}): {}{}{}", request.purpose, locate(request.key), url, what,
           cure.empty() ? "" : "; ", cure);
}

}  // namespace trireme
