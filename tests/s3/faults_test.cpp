// What the network and an overloaded store do to requests: the right bytes come through in the end, or a
// message says why not, and neither takes long.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <future>

#include "io/store/open_store.h"
#include "s3/fault_proxy.h"
#include "s3/objects.h"
#include "s3/s3_server.h"

namespace trireme {
namespace {
using test::failure;
using test::Fault;
using test::FaultProxy;
using test::put;
using test::random_bytes;
using test::S3Server;
using testing::AllOf;
using testing::HasSubstr;
using Clock = std::chrono::steady_clock;

double seconds_of(const std::function<void()>& call) {
  const auto start = Clock::now();
  call();
  return std::chrono::duration<double>(Clock::now() - start).count();
}

class S3Faults : public testing::Test {
 protected:
  S3Options options() const { return S3Server::options_to(proxy_.endpoint()); }
  std::unique_ptr<ByteStore> store() const { return open_store(place_, options()); }
  size_t count(const std::string& beginning, const std::string& part = "") const {
    const std::vector<std::string> seen = proxy_.requests();
    return static_cast<size_t>(std::count_if(seen.begin(), seen.end(), [&](const std::string& request) {
      return request.starts_with(beginning) && request.find(part) != std::string::npos;
    }));
  }

  FaultProxy proxy_{S3Server::shared().port()};
  std::string place_ = S3Server::fresh_place();
};

// Every kind of request, hit by every kind of failure that another try can cure.
TEST_F(S3Faults, PassingFailuresAreTriedAgain) {
  const std::string content = random_bytes(11 << 19);  // in two parts, one of them short
  using Kind = Fault::Kind;
  for (const Kind kind : {Kind::status, Kind::cut, Kind::drop, Kind::lose_answer}) {
    for (const char* method : {"HEAD", "GET", "PUT", "POST", "DELETE"}) {
      proxy_.clear();
      const std::string which = fmt::format("{} {}", method, static_cast<int>(kind));
      if (std::string_view(method) == "HEAD" && (kind == Kind::cut || kind == Kind::drop))
        continue;  // no body
      proxy_.add({.method = method, .kind = kind, .times = 2});
      if (kind == Kind::status)
        proxy_.add(
            {.method = method, .kind = kind, .skip = 0, .times = 1, .status = 500, .code = "InternalError"});
      const auto store = this->store();
      put(*store, "a/object", content);
      ASSERT_TRUE(read_text(*store, "a/object", 1 << 30) == content) << which;
      EXPECT_TRUE(store->exists("a/object")) << which;
      store->remove("a");
      EXPECT_FALSE(store->exists("a/object")) << which;
    }
  }
}

TEST_F(S3Faults, TheAnswerThatAnUploadIsWholeIsLost) {
  const std::string content = random_bytes(11 << 20);
  proxy_.add({.method = "POST", .contains = "uploadId", .kind = Fault::Kind::lose_answer});
  put(*store(), "object", content);
  EXPECT_EQ(count("POST", "uploadId"), 2u);
  EXPECT_TRUE(read_text(*store(), "object", 1 << 30) == content);
}

TEST_F(S3Faults, AnUploadThatSomebodyTookBackIsNoSuccess) {
  put(*store(), "object", "what was there before");
  proxy_.add({.method = "POST", .contains = "uploadId", .status = 404, .code = "NoSuchUpload"});
  EXPECT_THAT(failure([&] { put(*store(), "object", random_bytes(6 << 20)); }),
              HasSubstr("object: its upload was taken back by somebody else; write it again"));
}

TEST_F(S3Faults, SlowAndStalledTransfersAreGivenUpAndTriedAgain) {
  const std::string content = random_bytes(2 << 20);
  put(*store(), "object", content);
  proxy_.add({.method = "GET", .kind = Fault::Kind::slow});
  const auto source = store()->open("object");
  const double read_s = seconds_of([&] { EXPECT_TRUE(read_text(*store(), "object", 1 << 30) == content); });
  EXPECT_GT(read_s, 0.9);
  EXPECT_LT(read_s, 6);
  proxy_.add({.method = "PUT", .kind = Fault::Kind::stall});
  const double write_s = seconds_of([&] { put(*store(), "other", content); });
  EXPECT_GT(write_s, 0.9);
  EXPECT_LT(write_s, 6);
  EXPECT_TRUE(read_text(*store(), "other", 1 << 30) == content);
}

TEST_F(S3Faults, WhatIsDamagedOnTheWayInIsRefusedAndSentAgain) {
  const std::string content = random_bytes(11 << 20);
  proxy_.add({.method = "PUT", .contains = "partNumber=2", .kind = Fault::Kind::damage_sent});
  put(*store(), "object", content);
  EXPECT_EQ(count("PUT", "partNumber=2"), 2u);
  EXPECT_TRUE(read_text(*store(), "object", 1 << 30) == content);
}

TEST_F(S3Faults, TriesAreCountedAndTheMessageNamesUrlStatusAndCode) {
  proxy_.add({.method = "PUT", .times = 1000});
  std::string said;
  const double s = seconds_of([&] { said = failure([&] { put(*store(), "object", "text"); }); });
  EXPECT_THAT(said,
              AllOf(HasSubstr("cannot write " + place_ + "/object (" + proxy_.endpoint() + "/bucket/place-"),
                    HasSubstr("status 503 SlowDown: by the proxy (the last of 4 tries)"),
                    HasSubstr("overloaded or ill: try again later")));
  EXPECT_EQ(count("PUT"), 4u);
  EXPECT_LT(s, 3);
}

TEST_F(S3Faults, RefusalsAreNotTriedAgain) {
  proxy_.add({.method = "PUT", .times = 1000, .status = 403, .code = "AccessDenied"});
  EXPECT_THAT(failure([&] { put(*store(), "object", "text"); }), HasSubstr("status 403 AccessDenied"));
  EXPECT_EQ(count("PUT"), 1u);
  proxy_.clear();
  proxy_.add({.method = "GET", .times = 1000, .status = 404, .code = "NoSuchBucket"});
  EXPECT_THAT(failure([&] { store()->list(""); }), HasSubstr("make the bucket bucket first"));
  EXPECT_EQ(count("GET"), 1u);
  for (const auto& [code, cure] : std::vector<std::pair<std::string, std::string>>{
           {"ExpiredToken", "get new credentials (from the tests)"},
           {"RequestTimeTooSkewed", "set this machine's clock"},
           {"AuthorizationHeaderMalformed", "set AWS_REGION"}}) {
    proxy_.clear();
    proxy_.add({.method = "GET", .status = 400, .code = code});
    EXPECT_THAT(failure([&] { store()->list(""); }), AllOf(HasSubstr(code), HasSubstr(cure)));
  }
}

TEST_F(S3Faults, NothingListens) {
  const S3Options options = S3Server::options_to("http://127.0.0.1:" + std::to_string(test::free_port()));
  std::string said;
  const double s =
      seconds_of([&] { said = failure([&] { put(*open_store(place_, options), "object", ""); }); });
  EXPECT_THAT(said, AllOf(HasSubstr("cannot write " + place_ + "/object"), HasSubstr("refused"),
                          HasSubstr("(the last of 4 tries)"), HasSubstr("AWS_ENDPOINT_URL_S3")));
  EXPECT_LT(s, 3);
}

TEST_F(S3Faults, AStoreThatComesUpLate) {
  const int port = test::free_port();
  S3Options options = S3Server::options_to("http://127.0.0.1:" + std::to_string(port));
  options.tries = 50;
  auto written = std::async(std::launch::async, [&] { put(*open_store(place_, options), "object", "text"); });
  std::this_thread::sleep_for(std::chrono::milliseconds(300));
  EXPECT_EQ(written.wait_for(std::chrono::seconds(0)), std::future_status::timeout);
  const FaultProxy late(S3Server::shared().port(), port);
  written.get();
  EXPECT_EQ(read_text(*store(), "object", 10), "text");
}

TEST_F(S3Faults, AnAnswerThatIsNoneOfS3) {
  proxy_.add({.method = "GET", .contains = "list-type", .status = 200, .code = ""});
  EXPECT_THAT(failure([&] { store()->list(""); }),
              HasSubstr("is no answer of an S3 store: look at the endpoint"));
  proxy_.add({.method = "POST", .contains = "uploads", .status = 200, .code = ""});
  EXPECT_THAT(failure([&] { put(*store(), "object", random_bytes(6 << 20)); }),
              HasSubstr("object is no S3 store: it gave no upload id"));
  proxy_.add({.method = "HEAD", .status = 200, .code = ""});
  EXPECT_THAT(failure([&] { read_text(*store(), "object", 1 << 20); }), HasSubstr("object"));
}

TEST_F(S3Faults, AStopEndsACallAtOnce) {
  std::stop_source stop;
  S3Options options = this->options();
  options.slow_after_s = 100;
  options.tries = 1000;
  options.first_wait_s = options.longest_wait_s = 100;
  options.stop = stop.get_token();
  const auto stopping = open_store(place_, options);
  for (const Fault::Kind kind :
       {Fault::Kind::stall, Fault::Kind::status}) {  // while it waits for bytes, or to try again
    proxy_.add({.method = "PUT", .kind = kind});
    auto said =
        std::async(std::launch::async, [&] { return failure([&] { put(*stopping, "object", "x"); }); });
    std::this_thread::sleep_for(std::chrono::milliseconds(200));
    stop.request_stop();
    const double s = seconds_of([&] { EXPECT_THAT(said.get(), HasSubstr("stopped")); });
    EXPECT_LT(s, 2);
    stop = std::stop_source();
    options.stop = stop.get_token();
  }
}

}  // namespace
}  // namespace trireme
