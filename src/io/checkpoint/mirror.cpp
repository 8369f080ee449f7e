// The queue and its thread.
#include "io/checkpoint/mirror.h"

#include <algorithm>
#include <chrono>
#include <set>
#include <utility>

#include "base/error.h"
#include "io/checkpoint/index.h"
#include "io/store/directory_store.h"

namespace trireme {
namespace {

std::string joined(const std::set<std::string>& names) {
  std::string text;
  for (const std::string& name : names) text += (text.empty() ? "" : ", ") + name;
  return text;
}

}  // namespace

Mirror::Mirror(MirrorOptions options) : options_(std::move(options)) {
  options_.s3.stop = stop_.get_token();
  from_ = open_directory_store(options_.source);
  to_ = open_store(options_.target, options_.s3);
  thread_ = std::thread([this] { work(stop_.get_token()); });
}

Mirror::~Mirror() {
  stop_.request_stop();
  if (thread_.joinable()) thread_.join();
}

void Mirror::submit(const std::string& name) {
  const std::lock_guard lock(mutex_);
  if (std::find(waiting_.begin(), waiting_.end(), name) == waiting_.end()) waiting_.push_back(name);
  std::erase(failed_, name);
  take_up_failed();
}

void Mirror::try_again() {
  const std::lock_guard lock(mutex_);
  take_up_failed();
}

void Mirror::take_up_failed() {
  waiting_.insert(waiting_.end(), failed_.begin(), failed_.end());
  failed_.clear();
  changed_.notify_all();
}

std::vector<MirrorNews> Mirror::take_news() {
  const std::lock_guard lock(mutex_);
  return std::exchange(news_, {});
}

std::string Mirror::copying() const {
  const std::lock_guard lock(mutex_);
  return copying_;
}

bool Mirror::wait(double at_most_s) {
  std::unique_lock lock(mutex_);
  return changed_.wait_for(lock, std::chrono::duration<double>(at_most_s),
                           [&] { return waiting_.empty() && copying_.empty(); });
}

bool Mirror::finish(double at_most_s) {
  {
    std::unique_lock lock(mutex_);
    take_up_failed();
    changed_.wait_for(lock, std::chrono::duration<double>(at_most_s),
                      [&] { return waiting_.empty() && copying_.empty(); });
  }
  stop_.request_stop();
  if (thread_.joinable()) thread_.join();
  const std::lock_guard lock(mutex_);
  std::set<std::string> missing(waiting_.begin(), waiting_.end());
  missing.insert(failed_.begin(), failed_.end());
  if (missing.empty()) return true;
  news_.push_back({MirrorNews::Kind::warning,
                   fmt::format("{} is not mirrored to {}: trireme ckpt push {} {} does it", joined(missing),
                               options_.target, options_.source, options_.target)});
  return false;
}

void Mirror::work(const std::stop_token& stop) {
  for (;;) {
    std::string name;
    {
      std::unique_lock lock(mutex_);
      changed_.wait(lock, stop, [&] { return !waiting_.empty(); });
      if (stop.stop_requested()) return;
      name = copying_ = waiting_.front();
      waiting_.pop_front();
    }
    copy(name, stop);
    const std::lock_guard lock(mutex_);
    copying_.clear();
    changed_.notify_all();
  }
}

bool Mirror::is_gone(const std::string& name) const {
  try {
    return !from_->exists(name + "/" + kCommittedFile);
  } catch (const EnvError&) {
    return false;
  }
}

void Mirror::copy(const std::string& name, const std::stop_token& stop) {
  if (is_gone(name)) {
    say(MirrorNews::Kind::info, fmt::format("{} was removed before it could be mirrored", name));
    return;
  }
  try {
    const CopyReport report =
        copy_checkpoint(*from_, name, *to_, {.threads = options_.threads, .stop = stop});
    if (report.kind == CopyReport::Kind::was_there)
      say(MirrorNews::Kind::info, fmt::format("{} is mirrored already", report.location));
    else
      say(MirrorNews::Kind::info,
          fmt::format("mirrored {} to {}: {}", name, report.location, describe(report)));
  } catch (const std::exception& error) {  // whatever it is, the run goes on
    if (is_gone(name)) {
      say(MirrorNews::Kind::info, fmt::format("{} was removed while it was being mirrored", name));
      return;
    }
    if (!stop.stop_requested())
      say(MirrorNews::Kind::warning,
          fmt::format("{} is not mirrored yet, which is tried again with the next checkpoint: {}", name,
                      error.what()));
    const std::lock_guard lock(mutex_);
    failed_.push_back(name);
  }
}

void Mirror::say(MirrorNews::Kind kind, std::string text) {
  const std::lock_guard lock(mutex_);
  news_.push_back({kind, std::move(text)});
}

}  // namespace trireme
