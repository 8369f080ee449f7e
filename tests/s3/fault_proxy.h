// A proxy in front of the S3 server that does to chosen requests what networks and overloaded servers do.
#pragma once
#include <memory>
#include <string>
#include <thread>
#include <vector>

namespace trireme::test {

struct Fault {
  enum class Kind {
    status,       // answers `status` with the S3 error `code`
    cut,          // half the answer, then the connection is closed
    slow,         // a byte of the answer now and then
    stall,        // nothing for longer than anybody waits
    drop,         // the head of an answer, then the connection is closed
    lose_answer,  // carried out, but answered 500
    damage,       // one bit of the answer is another
    damage_sent,  // one bit of what the server gets is another
  };
  std::string method;    // "": any
  std::string contains;  // part of the path or query
  Kind kind = Kind::status;
  int skip = 0;   // so many such requests pass first
  int times = 1;  // then so many are hit
  int status = 503;
  std::string code = "SlowDown";
};

class FaultProxy {
 public:
  explicit FaultProxy(int server_port, int port = 0);
  ~FaultProxy();
  std::string endpoint() const { return "http://127.0.0.1:" + std::to_string(port_); }

  void add(const Fault& fault);
  void clear();                               // no faults, no requests seen
  std::vector<std::string> requests() const;  // "PUT /bucket/a?partNumber=1", in the order in which they came

 private:
  struct State;
  std::unique_ptr<State> state_;
  int port_ = 0;
  std::thread thread_;
};

}  // namespace trireme::test
