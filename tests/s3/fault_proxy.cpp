#include "s3/fault_proxy.h"

#include <httplib.h>

#include <atomic>
#include <chrono>
#include <mutex>
#include <optional>

namespace trireme::test {
namespace {

constexpr int kMostThreads = 24;

httplib::Headers forwarded(const httplib::Headers& headers) {
  httplib::Headers kept;
  for (const auto& [name, value] : headers) {
    if (name != "REMOTE_ADDR" && name != "REMOTE_PORT" && name != "LOCAL_ADDR" && name != "LOCAL_PORT" &&
        name != "Connection")
      kept.emplace(name, value);
  }
  return kept;
}

}  // namespace

struct FaultProxy::State {
  httplib::Server server;
  int server_port = 0;
  std::atomic<bool> ending = false;
  mutable std::mutex mutex;
  std::vector<Fault> faults;
  std::vector<std::string> requests;

  std::optional<Fault> fault_of(const httplib::Request& request) {
    const std::lock_guard lock(mutex);
    requests.push_back(request.method + " " + request.target);
    for (Fault& fault : faults) {
      if (!fault.method.empty() && fault.method != request.method) continue;
      if (request.target.find(fault.contains) == std::string::npos) continue;
      if (fault.skip-- > 0) continue;
      if (fault.times-- > 0) return fault;
    }
    return std::nullopt;
  }

  void sleep_s(double seconds) const {
    for (int i = 0; i < seconds * 50 && !ending; ++i)
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
  }

  void pass(const httplib::Request& request, httplib::Response& response, const std::string& body) const {
    httplib::Client client("127.0.0.1", server_port);
    client.set_url_encode(false);
    client.set_tcp_nodelay(true);
    client.set_read_timeout(30, 0);
    httplib::Request copy;
    copy.method = request.method;
    copy.path = request.target;
    copy.headers = forwarded(request.headers);
    copy.body = body;
    const httplib::Result result = client.send(copy);
    if (!result) {
      response.status = 502;
      return;
    }
    response.status = result->status;
    response.body = result->body;
    for (const auto& [name, value] : result->headers) {
      if (name != "Connection" && name != "Keep-Alive") response.headers.emplace(name, value);
    }
  }

  // The body comes by `send`, byte by byte or as far as that goes.
  static void provide(httplib::Response& response, httplib::ContentProvider send) {
    const size_t size = response.body.size();
    response.headers.erase("Content-Length");
    response.body.clear();
    response.set_content_provider(size, "application/octet-stream", std::move(send));
  }

  void answer(const httplib::Request& request, httplib::Response& response) {
    const std::optional<Fault> fault = fault_of(request);
    if (!fault) {
      pass(request, response, request.body);
      return;
    }
    std::string sent = request.body;
    switch (fault->kind) {
      case Fault::Kind::status:
        break;
      case Fault::Kind::stall:
      case Fault::Kind::drop:
        if (fault->kind == Fault::Kind::stall) sleep_s(4);
        response.body = "never";
        provide(response, [](size_t, size_t, httplib::DataSink&) { return false; });
        response.set_header("Connection", "close");
        return;
      case Fault::Kind::damage_sent:
        if (!sent.empty()) sent[sent.size() / 2] ^= 4;
        [[fallthrough]];
      default:
        pass(request, response, sent);
    }
    const std::string body = response.body;
    switch (fault->kind) {
      case Fault::Kind::status:
      case Fault::Kind::lose_answer:
        response.headers.clear();
        response.status = fault->kind == Fault::Kind::status ? fault->status : 500;
        response.set_content("<Error><Code>" + fault->code + "</Code><Message>by the proxy</Message></Error>",
                             "application/xml");
        break;
      case Fault::Kind::cut:
        provide(response, [body](size_t, size_t, httplib::DataSink& sink) {
          sink.write(body.data(), body.size() / 2);
          return false;
        });
        break;
      case Fault::Kind::slow:
        provide(response, [this, body](size_t offset, size_t, httplib::DataSink& sink) {
          sleep_s(0.1);
          return !ending && sink.write(body.data() + offset, 1);
        });
        break;
      case Fault::Kind::damage:
        if (!response.body.empty()) response.body[response.body.size() / 2] ^= 4;
        break;
      default:
        break;
    }
  }
};

FaultProxy::FaultProxy(int server_port, int port) : state_(std::make_unique<State>()) {
  state_->server_port = server_port;
  httplib::Server& server = state_->server;
  server.new_task_queue = [] { return new httplib::ThreadPool(kMostThreads); };
  server.set_keep_alive_max_count(1 << 30);
  server.set_tcp_nodelay(true);
  server.set_keep_alive_timeout(1);
  const auto handle = [this](const httplib::Request& request, httplib::Response& response) {
    const_cast<httplib::Request&>(request).ranges.clear();  // or it would cut the answer to them once more
    state_->answer(request, response);
  };
  server.Get(".*", handle).Put(".*", handle).Post(".*", handle).Delete(".*", handle);
  if (port == 0)
    port_ = server.bind_to_any_port("127.0.0.1");
  else if (server.bind_to_port("127.0.0.1", port))
    port_ = port;
  thread_ = std::thread([this] { state_->server.listen_after_bind(); });
  while (!server.is_running()) std::this_thread::sleep_for(std::chrono::milliseconds(1));
}

FaultProxy::~FaultProxy() {
  state_->ending = true;
  state_->server.stop();
  thread_.join();
}

void FaultProxy::add(const Fault& fault) {
  const std::lock_guard lock(state_->mutex);
  state_->faults.push_back(fault);
}

void FaultProxy::clear() {
  const std::lock_guard lock(state_->mutex);
  state_->faults.clear();
  state_->requests.clear();
}

std::vector<std::string> FaultProxy::requests() const {
  const std::lock_guard lock(state_->mutex);
  return state_->requests;
}

}  // namespace trireme::test
