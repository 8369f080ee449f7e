// One table of exceptions, for main and for the processes of an MPI run.
#include "base/ending.h"

#include <cstdio>
#include <new>
#include <system_error>

#include "base/error.h"
#include "base/exit_code.h"

namespace trireme {

Ending ending_of(const std::exception_ptr& failure) {
  try {
    std::rethrow_exception(failure);
  } catch (const UserError& error) {
    return {kUserMistake, error.what()};
  } catch (const EnvError& error) {
    return {kEnvironment, error.what()};
  } catch (const std::bad_alloc&) {
    return {kEnvironment, "out of memory: lower batch.micro, data.seq_len or the model's size"};
  } catch (const std::system_error& error) {
    // What std::thread throws. Nothing else of ours throws this code.
    if (error.code() != std::errc::resource_unavailable_try_again) throw;
    return {kEnvironment,
            "cannot start another thread: use fewer ranks or run.threads, or raise the limits of the shell "
            "(ulimit -u, ulimit -v)"};
  }
}

void report(const Ending& ending) { std::fprintf(stderr, "trireme: %s\n", ending.message.c_str()); }

}  // namespace trireme
