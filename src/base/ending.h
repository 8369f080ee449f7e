// How a run that failed ends: what it says and the exit code (docs/errors.md).
#pragma once
#include <cstdint>
#include <exception>
#include <string>

namespace trireme {

struct Ending {
  int exit_code = 0;
  std::string message;
};

// Whether the process of a failed rank prints what happened to it, or nobody does so far.
enum class FailureSaid : uint8_t { not_yet, by_its_process };

// UserError, EnvError and running out of memory or threads; another exception is a bug and is thrown on.
Ending ending_of(const std::exception_ptr& failure);

// "trireme: message" on stderr.
void report(const Ending& ending);

}  // namespace trireme
