#include "s3/s3_server.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <stdexcept>
#include <thread>
#include <vector>

#include "base/error.h"
#include "io/store/s3_client.h"

namespace trireme::test {
namespace {

constexpr const char* kServer = TRIREME_S3_SERVER "/bin/weed";
constexpr const char* kCredentials = R"({"identities": [
  {"name": "tests", "credentials": [{"accessKey": "TESTKEY", "secretKey": "a/secret+with=signs"}],
   "actions": ["Admin", "Read", "Write", "List"]},
  {"name": "reader", "credentials": [{"accessKey": "READER", "secretKey": "other"}], "actions": ["Read:bucket", "List:bucket"]}]})";

// All different, since all are held until the last is taken.
std::vector<int> free_ports(size_t count) {
  std::vector<int> ports, sockets;
  for (size_t i = 0; i < count; ++i) {
    const int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof address;
    auto* any = reinterpret_cast<sockaddr*>(&address);
    if (fd < 0 || bind(fd, any, size) != 0 || getsockname(fd, any, &size) != 0)
      throw std::runtime_error("no free port");
    sockets.push_back(fd);
    ports.push_back(ntohs(address.sin_port));
  }
  for (const int fd : sockets) close(fd);
  return ports;
}

}  // namespace

int free_port() { return free_ports(1)[0]; }

const S3Server& S3Server::shared() {
  static const S3Server server;
  return server;
}

S3Options S3Server::options_to(const std::string& endpoint) {
  S3Options options;
  options.endpoint = endpoint;
  options.access_key = "TESTKEY";
  options.secret_key = "a/secret+with=signs";
  options.credentials_source = "the tests";
  options.tries = 4;
  options.first_wait_s = 0.02;
  options.longest_wait_s = 0.1;
  options.connect_s = 2;
  options.slow_bytes_per_s = 1000;
  options.slow_after_s = 1;
  options.part_bytes = 5 << 20;
  options.parts_at_once = 2;
  options.window_bytes = 2 << 20;
  options.windows = 8;
  return options;
}

std::string S3Server::fresh_place() {
  static std::atomic<int> next = 0;
  return std::string("s3://") + kBucket + "/place-" + std::to_string(++next);
}

S3Server::S3Server() {
  if (access(kServer, X_OK) != 0)
    throw std::runtime_error(std::string("these tests need an S3 server at ") + kServer +
                             ": run scripts/install-s3-server " TRIREME_S3_SERVER);
  start();
  wait_until_it_works();
}

void S3Server::start() {
  spill(folder_ / "credentials.json", kCredentials);
  const std::vector<int> ports = free_ports(8);
  const std::vector<std::string> names = {"master.port",      "master.port.grpc", "volume.port",
                                          "volume.port.grpc", "filer.port",       "filer.port.grpc",
                                          "s3.port",          "s3.port.grpc"};
  std::vector<std::string> arguments = {kServer,
                                        "server",
                                        "-dir=" + folder_.path(),
                                        "-ip=127.0.0.1",
                                        "-ip.bind=127.0.0.1",
                                        "-s3",
                                        "-s3.config=" + (folder_ / "credentials.json"),
                                        "-s3.iam=false",
                                        "-s3.port.iceberg=0",
                                        "-s3.port.lance=0",
                                        "-s3.autoCreateBucket=false",
                                        "-s3.localSocket=" + (folder_ / "s3.sock"),
                                        "-filer.localSocket=" + (folder_ / "filer.sock"),
                                        "-master.telemetry=false",
                                        "-master.volumeSizeLimitMB=1024",
                                        "-volume.max=8"};
  for (size_t i = 0; i < names.size(); ++i)
    arguments.push_back("-" + names[i] + "=" + std::to_string(ports[i]));
  const char* parts[] = {"master", "volume", "filer", "s3"};
  for (size_t i = 0; i < 4; ++i)
    sockets_.push_back(fmt::format("/tmp/seaweedfs-{}-grpc-{}.sock", parts[i], ports[2 * i + 1]));
  port_ = ports[6];
  std::vector<char*> argv;
  for (std::string& argument : arguments) argv.push_back(argument.data());
  argv.push_back(nullptr);
  const std::string log = folder_ / "log";
  pid_ = fork();
  if (pid_ < 0) throw std::runtime_error("fork failed");
  if (pid_ == 0) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);  // goes with the tests, however they end
    const int out = open(log.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0644);
    dup2(out, STDOUT_FILENO);
    dup2(out, STDERR_FILENO);
    if (chdir(folder_.path().c_str()) != 0) _exit(126);
    execv(kServer, argv.data());
    _exit(127);
  }
}

void S3Server::wait_until_it_works() {
  S3Options options = this->options();
  options.tries = 1;
  S3Client client({kBucket, ""}, options);
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(60);
  for (std::string why; std::chrono::steady_clock::now() < deadline;) {
    if (waitpid(pid_, nullptr, WNOHANG) == pid_)
      throw std::runtime_error("the S3 server ended: " + slurp(folder_ / "log"));
    try {
      client.call({.purpose = "make", .method = "PUT", .key = ""}, {409});
      const std::string text = "it works";
      client.call(
          {.purpose = "write", .method = "PUT", .key = "works", .body = std::as_bytes(std::span(text))});
      return;
    } catch (const EnvError& error) {
      why = error.what();
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
  }
  throw std::runtime_error("the S3 server does not come up: " + slurp(folder_ / "log"));
}

S3Server::~S3Server() {
  if (pid_ > 0) {
    kill(pid_, SIGKILL);
    waitpid(pid_, nullptr, 0);
  }
  for (const std::string& socket : sockets_) unlink(socket.c_str());
}

}  // namespace trireme::test
