// What a call refuses with.
#pragma once
#include <gtest/gtest.h>

#include <string>

#include "base/error.h"

namespace trireme {

template <class Call>
std::string message_of(Call call) {
  try {
    call();
  } catch (const UserError& error) {
    return error.what();
  }
  ADD_FAILURE() << "it was not refused";
  return "";
}

}  // namespace trireme
