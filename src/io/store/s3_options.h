// How to reach an S3 store: plain data. The command line fills it from the environment
// (cli/store_environment.h); everything below takes it as a value.
#pragma once
#include <cstdint>
#include <stop_token>
#include <string>

namespace trireme {

struct S3Options {
  std::string endpoint;    // "https://minio.example:9000"; "": AWS's own for the region
  std::string region;      // "": us-east-1
  std::string access_key;  // "": none, which is refused when a store is opened
  std::string secret_key;
  std::string session_token;       // "": none
  std::string credentials_source;  // for messages: "the environment", "profile lab of ~/.aws/credentials"
  std::string ca_file;             // PEM; "": the system's
  std::string proxy;               // "": none
  std::string no_proxy;            // hosts, joined by commas

  // A request is tried so often when the connection, the server or the transfer fails. Before try n + 1 there
  // is a wait of half to all of first_wait_s * 2^(n - 1), at most longest_wait_s.
  int tries = 8;
  double first_wait_s = 0.25;
  double longest_wait_s = 20;
  double connect_s = 10;
  int64_t slow_bytes_per_s = 16 << 10;  // a transfer slower than this ...
  double slow_after_s = 30;             // ... for so long is given up, in whole seconds

  int64_t part_bytes = int64_t{16} << 20;   // of an upload; S3 takes no less than 5 MiB but for the last
  int parts_at_once = 4;                    // memory of an upload: one part more than this
  int64_t window_bytes = int64_t{8} << 20;  // what a small read fetches; larger ones pass by
  int windows = 16;                         // kept of all objects of a store

  std::stop_token stop;  // once requested, calls end with an EnvError within about a second
};

}  // namespace trireme
