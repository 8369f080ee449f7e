// The three kinds of failure (docs/errors.md). A user's mistake and a failing environment are
// exceptions that end the run with exit code 2 or 3; a bug aborts at once with the values in hand.
#pragma once
#include <fmt/core.h>

#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace trireme {

// Config, data or arguments are wrong. The message names the key or file, the value and the cure.
struct UserError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

// A file, a device or a peer failed. The message names what was tried and on what.
struct EnvError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

template <class... A>
[[noreturn]] void fail_user(fmt::format_string<A...> text, A&&... args) {
  throw UserError(fmt::format(text, std::forward<A>(args)...));
}

template <class... A>
[[noreturn]] void fail_env(fmt::format_string<A...> text, A&&... args) {
  throw EnvError(fmt::format(text, std::forward<A>(args)...));
}

// Prints the place, the condition and the message to stderr, then aborts.
[[noreturn]] void check_failed(const char* file, int line, const char* condition, const std::string& message);

// "cannot open runs/a.bin: No such file or directory": `what` with errno's text.
std::string with_errno(const std::string& what);

// The candidate nearest to `word` by edit distance, or "" when none is near enough to suggest.
std::string nearest(const std::string& word, const std::vector<std::string>& candidates);

}  // namespace trireme

// CHECK(a == b, "a = {}, b = {}", a, b): a broken promise of our own code is a bug.
#define CHECK(condition, ...)                                                                 \
  do {                                                                                        \
    if (!(condition)) [[unlikely]]                                                            \
      ::trireme::check_failed(__FILE__, __LINE__, #condition, ::fmt::format("" __VA_ARGS__)); \
  } while (false)

#ifdef NDEBUG
#define DCHECK(condition, ...) \
  do {                         \
  } while (false)
#else
#define DCHECK(condition, ...) CHECK(condition, __VA_ARGS__)
#endif
