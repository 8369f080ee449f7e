// A real S3 server on this machine's loopback, started once per test program: SeaweedFS, which checks
// signatures and the MD5 of what it is sent. scripts/install-s3-server installs it.
#pragma once
#include <sys/types.h>

#include <string>
#include <vector>

#include "io/store/s3_options.h"
#include "scratch_folder.h"

namespace trireme::test {

inline constexpr const char* kBucket = "bucket";

class S3Server {
 public:
  static const S3Server& shared();
  ~S3Server();
  int port() const { return port_; }
  std::string endpoint() const { return "http://127.0.0.1:" + std::to_string(port_); }

  // Quick to give up, small parts; with the server's credentials.
  S3Options options() const { return options_to(endpoint()); }
  static S3Options options_to(const std::string& endpoint);
  // "s3://bucket/1", each call another prefix.
  static std::string fresh_place();

 private:
  S3Server();
  void start();
  void wait_until_it_works();

  ScratchFolder folder_;
  int port_ = 0;
  std::vector<std::string> sockets_;  // that the server makes outside its folder
  pid_t pid_ = -1;
};

// A port that nothing listens on.
int free_port();

}  // namespace trireme::test
