// The real binary as a child process: started with arguments in a folder, signalled, waited for, watched.
#pragma once
#include <sys/types.h>

#include <cstdint>
#include <string>
#include <vector>

namespace trireme {

using Arguments = std::vector<std::string>;

constexpr bool kSanitized = TRIREME_SLOWER > 1;
constexpr double kHangS = 120.0 * TRIREME_SLOWER;  // nothing but a hang takes that long

struct Outcome {
  int exit_code = -1;  // -1 when a signal ended it
  int signal = 0;      // that signal
  bool timed_out = false;
  std::string out, err;
};

class Process {
 public:
  // Starts `trireme arguments...` in `folder`, or another program that is in PATH; its output goes to files
  // there.
  Process(const Arguments& arguments, const std::string& folder, const std::string& program = TRIREME_BINARY);
  Process(const Process&) = delete;
  Process& operator=(const Process&) = delete;
  ~Process();  // kills it if it still runs

  void send(int signal) const;
  bool running();
  // Kills it after timeout_s.
  Outcome wait(double timeout_s = kHangS);

  // From the kernel; 0 once it has ended. Bytes.
  int64_t resident_bytes() const { return status_bytes("VmRSS:"); }
  int64_t peak_resident_bytes() const { return status_bytes("VmHWM:"); }
  int64_t open_files() const;
  std::vector<pid_t> children() const;

 private:
  int64_t status_bytes(const std::string& field) const;

  std::string out_path_, err_path_;
  pid_t pid_ = -1;
  bool ended_ = false;
  int status_ = 0;
};

// Starts it and waits.
Outcome run_trireme(const Arguments& arguments, const std::string& folder, double timeout_s = kHangS);

}  // namespace trireme
