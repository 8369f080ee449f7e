// Which exceptions are ways to end, and which are bugs.
#include "base/ending.h"

#include <gtest/gtest.h>

#include <new>
#include <system_error>

#include "base/error.h"
#include "base/exit_code.h"

namespace trireme {
namespace {

TEST(Ending, KnowsWhoseFaultItWas) {
  const auto code_of = [](const auto& thrown) {
    return ending_of(std::make_exception_ptr(thrown)).exit_code;
  };
  EXPECT_EQ(code_of(UserError("a")), kUserMistake);
  EXPECT_EQ(code_of(EnvError("a")), kEnvironment);
  EXPECT_EQ(code_of(std::bad_alloc()), kEnvironment);
  EXPECT_THROW(code_of(std::runtime_error("a")), std::runtime_error) << "a bug is not caught";
}

// The code that std::thread throws where the system gives no more threads.
TEST(Ending, OutOfThreadsIsTheEnvironment) {
  const auto none = std::make_error_code(std::errc::resource_unavailable_try_again);
  const Ending ending = ending_of(std::make_exception_ptr(std::system_error(none)));
  EXPECT_EQ(ending.exit_code, kEnvironment);
  EXPECT_NE(ending.message.find("cannot start another thread"), std::string::npos);
  const auto other = std::make_error_code(std::errc::invalid_argument);
  EXPECT_THROW(ending_of(std::make_exception_ptr(std::system_error(other))), std::system_error);
}

}  // namespace
}  // namespace trireme
