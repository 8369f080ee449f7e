// Watches checkpoint.notice, in a thread of its own: a file that appears, or a URL that answers, when the
// machine is about to be taken away. Each machine has its own, so every process of a run watches, and what
// one sees all must be told. The loop asks between steps and never waits for it.
#pragma once
#include <condition_variable>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>

#include "train/metadata_service.h"

namespace trireme {

struct NoticeOptions {
  std::string place;    // checkpoint.notice: a path, or a URL of http or https
  double every_s = 5;   // checkpoint.notice_every_s: between looks
  double answer_s = 2;  // for how long a URL's answer is waited for
};

class PreemptionNotice {
 public:
  // UserError for a URL of another kind.
  explicit PreemptionNotice(const NoticeOptions& options);
  PreemptionNotice(const PreemptionNotice&) = delete;
  PreemptionNotice& operator=(const PreemptionNotice&) = delete;
  ~PreemptionNotice();  // at once, whatever is being waited for

  // For the log, once there is a notice; it stays. A file that is there from the beginning is one, and the
  // text says so.
  std::optional<std::string> noticed() const;
  // For the log, once: the place cannot be asked. It is asked again all the same.
  std::optional<std::string> take_warning();

 private:
  struct Look {
    std::optional<std::string> notice, warning;
  };
  void watch();
  Look look_at_url();
  Look look_at_file(const std::string& if_there) const;

  NoticeOptions options_;
  std::unique_ptr<MetadataService> service_;  // null: a file
  mutable std::mutex mutex_;                  // of all that follows
  std::condition_variable wake_;
  bool stop_ = false;
  std::optional<std::string> notice_;
  std::optional<std::string> warning_;
  std::thread thread_;  // last: starts when all else is there
};

}  // namespace trireme
