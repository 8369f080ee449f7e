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

// What `parse` finds wrong is damage.
template <class Parse>
auto or_damaged(const Parse& parse) {
  try {
    return parse();
  } catch (const EnvError& error) {
    throw CheckpointDamaged(error.what());
  }
}

// Likewise for something else in an object's place; other trouble stays what it is.
template <class Open>
auto or_damaged_object(const Open& open) {
  try {
    return open();
  } catch (const NotAnObject& error) {
    throw CheckpointDamaged(error.what());
  }
}

}  // namespace trireme
