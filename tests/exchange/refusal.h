// What a reader says of bytes that it refuses.
#pragma once
#include <string>

#include "base/error.h"

namespace trireme::test {

// The message of the EnvError; "accepted" when there is none. Other exceptions go through.
template <class Read>
std::string refusal(Read&& read) {
  try {
    read();
  } catch (const EnvError& error) {
    return error.what();
  }
  return "accepted";
}

}  // namespace trireme::test
