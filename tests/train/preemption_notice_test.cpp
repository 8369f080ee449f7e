// Files that appear, and a server on this machine that answers as the clouds' metadata services do, late, not
// at all, or what nobody wants.
#include "train/preemption_notice.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <httplib.h>

#include <atomic>
#include <chrono>
#include <cstdlib>
#include <functional>
#include <thread>

#include "base/error.h"
#include "scratch_folder.h"

namespace trireme {
namespace {

using httplib::Request;
using httplib::Response;
using std::chrono::milliseconds;
using testing::HasSubstr;
using Clock = std::chrono::steady_clock;

// A hang takes that long, nothing else.
bool comes(const std::function<bool()>& expected) {
  const auto deadline = Clock::now() + std::chrono::seconds(30);
  while (Clock::now() < deadline) {
    if (expected()) return true;
    std::this_thread::sleep_for(milliseconds(1));
  }
  return false;
}

class Server {
 public:
  using Handler = std::function<void(const Request&, Response&)>;

  explicit Server(const Handler& get, const Handler& put = {}, int port = 0) : port_(port) {
    const auto counted = [this, get](const Request& request, Response& response) {
      get(request, response);
      ++answers_;
    };
    server_.Get(".*", counted);
    if (put) server_.Put("/latest/api/token", put);
    server_.set_keep_alive_max_count(1);
    if (port == 0) {
      port_ = server_.bind_to_any_port("127.0.0.1");
    } else {
      EXPECT_TRUE(server_.bind_to_port("127.0.0.1", port));
    }
    thread_ = std::thread([this] { server_.listen_after_bind(); });
    while (!server_.is_running()) std::this_thread::sleep_for(milliseconds(1));
  }
  ~Server() {
    server_.stop();
    thread_.join();
  }

  int port() const { return port_; }
  std::string url(const std::string& path = "/notice") const {
    return "http://127.0.0.1:" + std::to_string(port_) + path;
  }
  int answers() const { return answers_.load(); }

 private:
  httplib::Server server_;
  std::thread thread_;
  std::atomic<int> answers_{0};
  int port_ = 0;
};

void answer(Response& response, int status, const std::string& body = "") {
  response.status = status;
  response.set_content(body, "text/plain");
}

NoticeOptions often(const std::string& place) { return {.place = place, .every_s = 0.005, .answer_s = 20}; }

bool stays_quiet(const PreemptionNotice& notice, const Server& server) {
  const int answers = server.answers();
  return comes([&] { return server.answers() >= answers + 4; }) && !notice.noticed();
}

std::string text_of_notice(const PreemptionNotice& notice) {
  EXPECT_TRUE(comes([&] { return notice.noticed().has_value(); }));
  return notice.noticed().value_or("");
}

TEST(PreemptionNotice, AFileThatAppears) {
  const test::ScratchFolder folder;
  const std::string path = folder / "later/notice";
  PreemptionNotice notice(often(path));
  std::this_thread::sleep_for(milliseconds(20));
  std::filesystem::create_directories(folder / "later");
  test::spill(folder / "later/notice.other", "");
  std::this_thread::sleep_for(milliseconds(20));
  EXPECT_FALSE(notice.noticed());
  test::spill(path, "");
  EXPECT_EQ(text_of_notice(notice), "checkpoint.notice = " + path + ": the file is there");
  std::filesystem::remove(path);
  std::this_thread::sleep_for(milliseconds(20));
  EXPECT_TRUE(notice.noticed()) << "it stays";
  EXPECT_FALSE(notice.take_warning());
}

TEST(PreemptionNotice, AFileThatIsThereFromTheBeginning) {
  const test::ScratchFolder folder;
  test::spill(folder / "notice", "");
  const PreemptionNotice notice(often(folder / "notice"));
  EXPECT_THAT(text_of_notice(notice), HasSubstr("was there when the run started; remove it"));
}

TEST(PreemptionNotice, AFileThatCannotBeLookedAtIsSaidOnce) {
  PreemptionNotice notice(often("/tmp/" + std::string(300, 'n')));
  std::optional<std::string> warning;
  ASSERT_TRUE(comes([&] { return (warning = notice.take_warning()).has_value(); }));
  EXPECT_THAT(*warning, HasSubstr("nnn cannot be looked at: File name too long; the run goes on without it "
                                  "and tries again every 0.005 s"));
  std::this_thread::sleep_for(milliseconds(30));
  EXPECT_FALSE(notice.take_warning());
  EXPECT_FALSE(notice.noticed());
}

TEST(PreemptionNotice, UrlsOfOtherKindsAreRefused) {
  for (const char* place : {"ftp://127.0.0.1/notice", "file:///tmp/notice", "s3://bucket/notice"}) {
    try {
      const PreemptionNotice notice(often(place));
      ADD_FAILURE() << place;
    } catch (const UserError& error) {
      EXPECT_EQ(std::string(error.what()),
                "checkpoint.notice = \"" + std::string(place) +
                    "\" cannot be watched: give the path of a file, or a URL that starts with http:// or "
                    "https://");
    }
  }
}

// Amazon: 404 until there is one; others may say 204.
TEST(PreemptionNotice, AUrlThatBeginsToAnswer) {
  std::atomic<bool> now{false};
  std::atomic<int> asked{0};
  const Server server([&](const Request&, Response& response) {
    if (now)
      answer(response, 200, "{\"action\": \"terminate\", \"time\": \"2030-01-01T00:00:00Z\"}\n");
    else
      answer(response, ++asked % 2 == 0 ? 404 : 204, "<html>not found</html>");
  });
  PreemptionNotice notice(often(server.url("/latest/meta-data/spot/instance-action")));
  EXPECT_TRUE(stays_quiet(notice, server));
  now = true;
  EXPECT_EQ(text_of_notice(notice),
            "checkpoint.notice = " + server.url("/latest/meta-data/spot/instance-action") +
                ": {\"action\": \"terminate\", \"time\": \"2030-01-01T00:00:00Z\"}");
  EXPECT_FALSE(notice.take_warning());
}

// Google: FALSE until it is TRUE, and only with its header.
TEST(PreemptionNotice, AUrlThatSaysTrue) {
  std::atomic<bool> now{false};
  const Server server([&](const Request& request, Response& response) {
    if (request.get_header_value("Metadata-Flavor") != "Google") return answer(response, 403);
    answer(response, 200, now ? "TRUE" : "FALSE");
  });
  PreemptionNotice notice(often(server.url()));
  EXPECT_TRUE(stays_quiet(notice, server));
  now = true;
  EXPECT_THAT(text_of_notice(notice), HasSubstr(": TRUE"));
  EXPECT_FALSE(notice.take_warning());
}

// Azure: always 200, and only with its header.
TEST(PreemptionNotice, AUrlWithEvents) {
  std::atomic<bool> now{false};
  const Server server([&](const Request& request, Response& response) {
    if (request.get_header_value("Metadata") != "true") return answer(response, 400);
    if (request.get_param_value("api-version") != "2020-07-01") return answer(response, 400);
    answer(
        response, 200,
        now ? R"({"DocumentIncarnation":2,"Events":[{"EventType":"Preempt","NotBefore":"Tue, 01 Jan 2030 00:00:30 GMT"}]})"
            : R"({"DocumentIncarnation":1,"Events":[]})");
  });
  PreemptionNotice notice(often(server.url("/metadata/scheduledevents?api-version=2020-07-01")));
  EXPECT_TRUE(stays_quiet(notice, server));
  now = true;
  EXPECT_THAT(text_of_notice(notice), HasSubstr(": Preempt, not before Tue, 01 Jan 2030 00:00:30 GMT"));
  EXPECT_FALSE(notice.take_warning());
}

// Amazon with IMDSv2: each token is good for three questions here.
TEST(PreemptionNotice, ATokenIsGotAndRenewed) {
  std::atomic<int> tokens{0}, left{0};
  std::atomic<bool> now{false};
  const Server server(
      [&](const Request& request, Response& response) {
        const std::string good = "token-" + std::to_string(tokens) + "==";
        if (left == 0 || request.get_header_value("X-aws-ec2-metadata-token") != good)
          return answer(response, 401);
        --left;
        answer(response, now ? 200 : 404, "{\"action\": \"stop\"}");
      },
      [&](const Request& request, Response& response) {
        if (!request.has_header("X-aws-ec2-metadata-token-ttl-seconds")) return answer(response, 400);
        if (request.target != "/latest/api/token") return answer(response, 400);
        left = 3;
        answer(response, 200, "token-" + std::to_string(++tokens) + "==\n");
      });
  PreemptionNotice notice(often(server.url("/latest/meta-data/spot/instance-action?x=y")));
  EXPECT_TRUE(comes([&] { return tokens.load() >= 3; }));
  EXPECT_FALSE(notice.noticed());
  now = true;
  EXPECT_THAT(text_of_notice(notice), HasSubstr("{\"action\": \"stop\"}"));
  EXPECT_FALSE(notice.take_warning());
}

// The warning that an answer leads to; it comes once.
std::string warning_about(const Server& server) {
  PreemptionNotice notice(often(server.url()));
  std::optional<std::string> warning;
  EXPECT_TRUE(comes([&] { return (warning = notice.take_warning()).has_value(); }));
  EXPECT_TRUE(stays_quiet(notice, server));
  EXPECT_FALSE(notice.take_warning());
  return warning.value_or("");
}

TEST(PreemptionNotice, AnswersThatMakeNoSenseAreSaidOnce) {
  const auto always = [](int status) {
    return [status](const Request&, Response& response) { answer(response, status, "TRUE"); };
  };
  EXPECT_THAT(warning_about(Server(always(403))),
              HasSubstr("/notice answers with status 403; the run goes on"));
  EXPECT_THAT(warning_about(Server(always(500))), HasSubstr("answers with status 500"));
  EXPECT_THAT(warning_about(Server(always(401))), HasSubstr("answers with status 401"))
      << "no token to be had";
  EXPECT_THAT(warning_about(Server([](const Request&, Response& response) {
                answer(response, 200, std::string(MetadataService::kMostBodyBytes + 1, 'x'));
              })),
              HasSubstr("does not answer: the answer is longer than 65536 bytes"));
}

// It would go into the head of the next question.
TEST(PreemptionNotice, ATokenOfSeveralLinesIsNotUsed) {
  std::atomic<int> used{0};
  const Server server(
      [&](const Request& request, Response& response) {
        if (request.has_header("X-aws-ec2-metadata-token") || request.has_header("More")) ++used;
        answer(response, 401);
      },
      [](const Request&, Response& response) { answer(response, 200, "token\r\nMore: yes"); });
  EXPECT_THAT(warning_about(server), HasSubstr("answers with status 401"));
  EXPECT_EQ(used.load(), 0);
}

TEST(PreemptionNotice, RedirectionsAreNotFollowed) {
  std::atomic<int> followed{0};
  const Server server([&](const Request& request, Response& response) {
    if (request.path == "/elsewhere") ++followed;
    response.set_redirect("/elsewhere");
  });
  EXPECT_THAT(warning_about(server), HasSubstr("answers with status 302"));
  EXPECT_EQ(followed.load(), 0);
}

TEST(PreemptionNotice, ProxiesOfTheEnvironmentAreNotUsed) {
  setenv("http_proxy", "http://127.0.0.1:1", 1);
  {
    const Server server([](const Request&, Response& response) { answer(response, 200, "TRUE"); });
    const PreemptionNotice notice(often(server.url()));
    EXPECT_THAT(text_of_notice(notice), HasSubstr(": TRUE"));
  }
  unsetenv("http_proxy");
}

TEST(PreemptionNotice, AServiceThatComesLater) {
  const Server::Handler yes = [](const Request&, Response& response) { answer(response, 200, "TRUE"); };
  int port = 0;
  {
    const Server server(yes);
    port = server.port();
  }
  PreemptionNotice notice(often("http://127.0.0.1:" + std::to_string(port) + "/"));
  std::optional<std::string> warning;
  ASSERT_TRUE(comes([&] { return (warning = notice.take_warning()).has_value(); }));
  EXPECT_THAT(*warning, HasSubstr("does not answer: "));
  EXPECT_FALSE(notice.noticed());
  const Server server(yes, {}, port);
  EXPECT_THAT(text_of_notice(notice), HasSubstr(": TRUE"));
  EXPECT_FALSE(notice.take_warning());
}

TEST(PreemptionNotice, AnAnswerThatComesTooLateIsAskedForAgain) {
  std::atomic<int> asked{0};
  std::atomic<bool> over{false};
  const Server server([&](const Request&, Response& response) {
    if (++asked < 3) comes([&] { return over.load(); });
    answer(response, 200, "TRUE");
  });
  NoticeOptions options = often(server.url());
  options.answer_s = 0.1;
  PreemptionNotice notice(options);
  EXPECT_TRUE(comes([&] { return asked.load() >= 3; }));
  EXPECT_THAT(text_of_notice(notice), HasSubstr(": TRUE"));
  EXPECT_THAT(notice.take_warning().value_or(""), HasSubstr("does not answer: Timeout was reached"));
  over = true;
}

// Neither a long answer nor a long pause holds up the end of a run, nor the loop that asks.
TEST(PreemptionNotice, NobodyWaitsForIt) {
  std::atomic<bool> asked{false}, over{false};
  const Server server([&](const Request&, Response& response) {
    asked = true;
    comes([&] { return over.load(); });
    answer(response, 200, "TRUE");
  });
  const auto begin = Clock::now();
  {
    PreemptionNotice notice({.place = server.url(), .every_s = 1000, .answer_s = 1000});
    EXPECT_TRUE(comes([&] { return asked.load(); }));
    std::this_thread::sleep_for(milliseconds(500));  // curl's timers of connecting are over
    EXPECT_FALSE(notice.noticed());
    EXPECT_FALSE(notice.take_warning());
  }
  {
    const PreemptionNotice notice({.place = "/tmp/trireme-no-such-notice", .every_s = 1000});
    std::this_thread::sleep_for(milliseconds(10));
  }
  for (int i = 0; i < 100; ++i) PreemptionNotice({.place = server.url(), .every_s = 1000, .answer_s = 1000});
  EXPECT_LT(Clock::now() - begin, std::chrono::seconds(10));
  over = true;
}

TEST(MetadataAnswer, WhatIsANotice) {
  struct Case {
    int64_t status;
    const char* body;
    const char* notice;  // "": none
  };
  for (const Case& c : {
           Case{200, "TRUE", "TRUE"},
           Case{200, "\n FALSE \r\n", ""},
           Case{200, "NONE", ""},
           Case{200, " \n", ""},
           Case{200, "", ""},
           Case{404, "TRUE", ""},
           Case{500, "TRUE", ""},
           Case{0, "TRUE", ""},
           Case{200, "TERMINATE_ON_HOST_MAINTENANCE\n", "TERMINATE_ON_HOST_MAINTENANCE"},
           Case{200, "two\nlines\x1b[0m", "two lines [0m"},
           Case{200, R"({"action":"hibernate"})", R"({"action":"hibernate"})"},
           Case{200, R"({"Events":[]})", ""},
           Case{200, R"({"Events":[{"EventType":"Freeze"}]})", ""},
           Case{200, R"({"Events":[{"EventType":"Freeze"},{"EventType":"Reboot","NotBefore":""}]})",
                "Reboot, at any time"},
           Case{200, R"({"Events":[{"EventType":"Terminate","NotBefore":"soon"}]})",
                "Terminate, not before soon"},
           Case{200, R"({"Events":null})", ""},
           Case{200, R"({"Events":[1,null,{},{"EventType":7}]})", ""},
           Case{200, R"({"Events":[)", R"({"Events":[)"},
       }) {
    const auto notice = notice_in({.status = c.status, .body = c.body});
    EXPECT_EQ(notice.value_or(""), c.notice) << c.status << " " << c.body;
    EXPECT_EQ(notice.has_value(), *c.notice != '\0') << c.body;
  }
  EXPECT_EQ(notice_in({.status = 200, .body = std::string(1000, 'x')}), std::string(200, 'x'));
}

}  // namespace
}  // namespace trireme
