// The text log: each message goes to the terminal and to the run's log file, each with a level of its own.
// An object that is passed along, never a global; may be used from several threads.
#pragma once
#include <fmt/core.h>

#include <cstdio>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

namespace trireme {

enum class LogLevel { debug, info, warn, error, off };

struct LogOptions {
  std::FILE* terminal = stderr;              // nullptr: none
  LogLevel terminal_level = LogLevel::info;  // lowest level shown
  std::string file;                          // appended to; "": none
  LogLevel file_level = LogLevel::debug;     // lowest level written
};

class Log {
 public:
  explicit Log(const LogOptions& options);  // EnvError when the file cannot be opened
  Log(Log&&) noexcept;
  Log& operator=(Log&&) noexcept;
  ~Log();

  void write(LogLevel level, std::string_view message);

  template <class... A>
  void debug(fmt::format_string<A...> text, A&&... args) {
    write(LogLevel::debug, fmt::format(text, std::forward<A>(args)...));
  }
  template <class... A>
  void info(fmt::format_string<A...> text, A&&... args) {
    write(LogLevel::info, fmt::format(text, std::forward<A>(args)...));
  }
  template <class... A>
  void warn(fmt::format_string<A...> text, A&&... args) {
    write(LogLevel::warn, fmt::format(text, std::forward<A>(args)...));
  }
  template <class... A>
  void error(fmt::format_string<A...> text, A&&... args) {
    write(LogLevel::error, fmt::format(text, std::forward<A>(args)...));
  }

 private:
  struct Sinks;
  std::unique_ptr<Sinks> sinks_;
};

}  // namespace trireme
