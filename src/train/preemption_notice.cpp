// The thread looks, then sleeps on a condition that the destructor raises; a transfer is interrupted.
#include "train/preemption_notice.h"

#include <chrono>
#include <filesystem>
#include <string_view>
#include <system_error>
#include <utility>

#include "base/error.h"

namespace trireme {
namespace {

bool is_url(std::string_view place) { return place.find("://") != std::string_view::npos; }

bool is_http(std::string_view place) { return place.starts_with("http://") || place.starts_with("https://"); }

}  // namespace

PreemptionNotice::PreemptionNotice(const NoticeOptions& options) : options_(options) {
  CHECK(options.every_s > 0 && options.answer_s > 0, "every {} s, answer {} s", options.every_s,
        options.answer_s);
  if (is_url(options.place)) {
    if (!is_http(options.place))
      fail_user(
          "checkpoint.notice = \"{}\" cannot be watched: give the path of a file, or a URL that starts "
          "with http:// or https://",
          options.place);
    service_ = std::make_unique<MetadataService>(options.place, options.answer_s);
  }
  thread_ = std::thread([this] { watch(); });
}

PreemptionNotice::~PreemptionNotice() {
  {
    const std::lock_guard lock(mutex_);
    stop_ = true;
  }
  wake_.notify_all();
  if (service_) service_->interrupt();
  thread_.join();
}

std::optional<std::string> PreemptionNotice::noticed() const {
  const std::lock_guard lock(mutex_);
  return notice_;
}

std::optional<std::string> PreemptionNotice::take_warning() {
  const std::lock_guard lock(mutex_);
  return std::exchange(warning_, std::nullopt);
}

void PreemptionNotice::watch() {
  std::string if_there = "the file was there when the run started; remove it before the next start";
  bool warned = false;
  while (true) {
    Look look = service_ ? look_at_url() : look_at_file(if_there);
    if_there = "the file is there";
    std::unique_lock lock(mutex_);
    if (stop_) return;
    if (look.notice) {
      notice_ = fmt::format("checkpoint.notice = {}: {}", options_.place, *look.notice);
      return;
    }
    if (look.warning && !std::exchange(warned, true))
      warning_ =
          fmt::format("checkpoint.notice = {} {}; the run goes on without it and tries again every {} s",
                      options_.place, *look.warning, options_.every_s);
    if (wake_.wait_for(lock, std::chrono::duration<double>(options_.every_s), [this] { return stop_; }))
      return;
  }
}

PreemptionNotice::Look PreemptionNotice::look_at_url() {
  constexpr int64_t kOk = 200, kNoContent = 204, kNotFound = 404;
  const MetadataAnswer answer = service_->get();
  if (answer.status == 0) return {.warning = "does not answer: " + answer.error};
  if (answer.status != kOk && answer.status != kNoContent && answer.status != kNotFound)
    return {.warning = fmt::format("answers with status {}", answer.status)};
  return {.notice = notice_in(answer)};
}

PreemptionNotice::Look PreemptionNotice::look_at_file(const std::string& if_there) const {
  std::error_code error;
  const bool there = std::filesystem::exists(options_.place, error);
  if (error) return {.warning = "cannot be looked at: " + error.message()};
  return {.notice = there ? std::optional(if_there) : std::nullopt};
}

}  // namespace trireme
