// The log on spdlog: one logger of two sinks, made here and registered nowhere.
#include "obs/log.h"

#include <spdlog/logger.h>
#include <spdlog/pattern_formatter.h>
#include <spdlog/sinks/base_sink.h>
#include <spdlog/sinks/basic_file_sink.h>
#include <unistd.h>

#include <mutex>
#include <vector>

#include "base/error.h"

namespace trireme {
namespace {

spdlog::level::level_enum level_of(LogLevel level) {
  switch (level) {
    case LogLevel::debug:
      return spdlog::level::debug;
    case LogLevel::info:
      return spdlog::level::info;
    case LogLevel::warn:
      return spdlog::level::warn;
    case LogLevel::error:
      return spdlog::level::err;
    case LogLevel::off:
      break;
  }
  return spdlog::level::off;
}

// Messages as a person wants them on a terminal: no time, a word only in front of trouble. On a real
// terminal the line is cleared first, where a progress line may stand.
class TerminalSink final : public spdlog::sinks::base_sink<std::mutex> {
 public:
  explicit TerminalSink(std::FILE* out) : out_(out), terminal_(::isatty(::fileno(out)) == 1) {}

 protected:
  void sink_it_(const spdlog::details::log_msg& message) override {
    const char* lead = message.level >= spdlog::level::err    ? "error: "
                       : message.level >= spdlog::level::warn ? "warning: "
                                                              : "";
    const std::string line = fmt::format("{}{}{}\n", terminal_ ? "\r\x1b[K" : "", lead,
                                         fmt::string_view(message.payload.data(), message.payload.size()));
    std::fwrite(line.data(), 1, line.size(), out_);
    std::fflush(out_);
  }
  void flush_() override { std::fflush(out_); }

 private:
  std::FILE* out_;
  bool terminal_;
};
}  // namespace

struct Log::Sinks {
  spdlog::logger logger;
};

Log::Log(const LogOptions& options) {
  std::vector<spdlog::sink_ptr> sinks;  // spdlog's sinks are shared with its logger
  if (options.terminal) {
    sinks.push_back(std::make_shared<TerminalSink>(options.terminal));
    sinks.back()->set_level(level_of(options.terminal_level));
  }
  if (!options.file.empty()) {
    try {
      sinks.push_back(std::make_shared<spdlog::sinks::basic_file_sink_mt>(options.file));
    } catch (const spdlog::spdlog_ex& error) {
      fail_env("cannot open the log {}: {}", options.file, error.what());
    }
    sinks.back()->set_level(level_of(options.file_level));
    sinks.back()->set_pattern("%Y-%m-%d %H:%M:%S.%e %l %v");
  }
  sinks_ = std::make_unique<Sinks>(Sinks{spdlog::logger("trireme", sinks.begin(), sinks.end())});
  sinks_->logger.set_level(spdlog::level::debug);
  sinks_->logger.flush_on(spdlog::level::debug);  // a killed run's last line is in the file
  // A full disk must not end a run for the sake of its log: checkpoints and metrics report it.
  sinks_->logger.set_error_handler([](const std::string&) {});
}

Log::Log(Log&&) noexcept = default;
Log& Log::operator=(Log&&) noexcept = default;
Log::~Log() = default;

void Log::write(LogLevel level, std::string_view message) {
  sinks_->logger.log(level_of(level), spdlog::string_view_t(message.data(), message.size()));
}

}  // namespace trireme
