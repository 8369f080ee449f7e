// The variables by which the binary finds the tests' S3 server, for as long as it lives.
#pragma once
#include <stdlib.h>

#include <string>

#include "s3/s3_server.h"

namespace trireme::test {

class S3Environment {
 public:
  S3Environment() {
    clear();
    set("AWS_ENDPOINT_URL", S3Server::shared().endpoint());
    set("AWS_ACCESS_KEY_ID", "TESTKEY");
    set("AWS_SECRET_ACCESS_KEY", "a/secret+with=signs");
    set("AWS_SHARED_CREDENTIALS_FILE", "/nowhere");
  }
  ~S3Environment() { clear(); }
  S3Environment(const S3Environment&) = delete;
  S3Environment& operator=(const S3Environment&) = delete;

  void set(const char* name, const std::string& value) const { setenv(name, value.c_str(), 1); }

 private:
  static void clear() {
    for (const char* name :
         {"AWS_ENDPOINT_URL_S3", "AWS_ENDPOINT_URL", "AWS_REGION", "AWS_DEFAULT_REGION", "AWS_ACCESS_KEY_ID",
          "AWS_SECRET_ACCESS_KEY", "AWS_SESSION_TOKEN", "AWS_PROFILE", "AWS_SHARED_CREDENTIALS_FILE"})
      unsetenv(name);
  }
};

}  // namespace trireme::test
