// One table of exceptions, for main and for the processes of an MPI run.
#include "base/ending.h"

#include <cstdio>
#include <new>

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
  }
}

void report(const Ending& ending) { std::fprintf(stderr, "trireme: %s\n", ending.message.c_str()); }

}  // namespace trireme
