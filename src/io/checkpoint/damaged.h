// Damage of a checkpoint, told apart from trouble in reading it: a bad byte is a reason to go back to an
// older one, a store that does not answer is none.
#pragma once
#include "base/error.h"
#include "io/store/byte_store.h"

namespace trireme {

// The bytes are there and are not those that were written, or some are not there.
struct CheckpointDamaged : EnvError {
  using EnvError::EnvError;
};

template <class... A>
[[noreturn]] void fail_damaged(fmt::format_string<A...> text, A&&... args) {
  throw CheckpointDamaged(fmt::format(text, std::forward<A>(args)...));
}

// What `work` throws of this kind is damage: EnvError for what parses, NotAnObject for what opens, whose
// other trouble stays what it is.
template <class Thrown, class Work>
auto or_damaged(const Work& work) {
  try {
    return work();
  } catch (const Thrown& error) {
    throw CheckpointDamaged(error.what());
  }
}

}  // namespace trireme
