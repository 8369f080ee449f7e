// Two rounds at most: the first keeps whole files that an earlier copy left, the second begins anew.
#include "io/checkpoint/copy.h"

#include <algorithm>
#include <chrono>
#include <deque>
#include <future>
#include <memory>
#include <set>
#include <utility>
#include <vector>

#include "base/error.h"
#include "io/checkpoint/checkpoint.h"
#include "io/checkpoint/damaged.h"
#include "io/checkpoint/index.h"
#include "io/checkpoint/staged_view.h"

namespace trireme {
namespace {

constexpr int64_t kChunkBytes = int64_t{8} << 20;

double seconds_since(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

struct FileToCopy {
  std::string name;
  int64_t bytes = 0;
};

struct Copy {
  const ByteStore& from;
  std::string name;
  ByteStore& to;
  CopyOptions options;
  std::string staged;  // in `to`
  Marker marker;
  std::vector<FileToCopy> files;  // all but the marker, index.json last
  CopyReport report;

  ReadOptions reading() const { return {.threads = options.threads, .stop = options.stop}; }

  void check_stop() const {
    if (options.stop.stop_requested()) fail_env("the copy of {} was stopped", from.locate(name));
  }
};

Copy start_copy(const ByteStore& from, const std::string& name, ByteStore& to, const CopyOptions& options) {
  const CheckpointReader reader(from, name);  // its index, headers and sizes are right
  Copy copy{from, name, to, options, to.staging(name), {kCommittedFile, ""}, {}, {}};
  copy.marker.content = read_text(from, name + "/" + kCommittedFile, 4096);
  const std::string json = read_text(from, name + "/" + kIndexFile, kIndexLimitBytes);
  for (const IndexFile& file : parse_index(json, from.locate(name + "/" + kIndexFile)).files)
    copy.files.push_back({file.name, file.bytes});
  copy.files.push_back({kIndexFile, static_cast<int64_t>(json.size())});
  for (const FileToCopy& file : copy.files) copy.report.bytes += file.bytes;
  copy.report.location = to.locate(name);
  return copy;
}

// EnvError when that cannot be told: nothing is touched then.
bool is_there(const Copy& copy) {
  const std::string committed = copy.name + "/" + kCommittedFile;
  if (!copy.to.exists(committed) || read_text(copy.to, committed, 4096) != copy.marker.content) return false;
  try {
    const CheckpointReader reader(copy.to, copy.name, copy.reading());
    return copy.options.if_there == IfThere::trust || reader.faults().empty();
  } catch (const CheckpointDamaged&) {
    return false;
  }
}

// Reads run ahead of the writer, so that neither line waits for the other.
void copy_file(const Copy& copy, const FileToCopy& file) {
  const auto source = copy.from.open(copy.name + "/" + file.name);
  const auto sink = copy.to.create(copy.staged + "/" + file.name);
  std::deque<std::future<std::vector<std::byte>>> ahead;
  int64_t next = 0;
  const auto read_next = [&] {
    const int64_t bytes = std::min(kChunkBytes, file.bytes - next);
    ahead.push_back(std::async(std::launch::async, [&source, offset = next, bytes] {
      std::vector<std::byte> chunk(static_cast<size_t>(bytes));
      source->read(offset, chunk);
      return chunk;
    }));
    next += bytes;
  };
  while (next < file.bytes || !ahead.empty()) {
    copy.check_stop();
    while (next < file.bytes && static_cast<int>(ahead.size()) < copy.options.threads) read_next();
    const std::vector<std::byte> chunk = ahead.front().get();
    ahead.pop_front();
    sink->write(chunk);
  }
  sink->finish();
}

// Names of files that stand there with their size. Empty when anything else does: then nothing is kept.
std::set<std::string> left_by_an_earlier_copy(const Copy& copy) {
  std::set<std::string> left;
  for (const std::string& name : copy.to.list(copy.staged)) {
    if (name == copy.marker.name) continue;
    const auto file = std::find_if(copy.files.begin(), copy.files.end(),
                                   [&](const FileToCopy& wanted) { return wanted.name == name; });
    if (file == copy.files.end() || copy.to.open(copy.staged + "/" + name)->size_bytes() != file->bytes)
      return {};
    left.insert(name);
  }
  return left;
}

void write_files(Copy& copy, const std::set<std::string>& left) {
  const auto start = std::chrono::steady_clock::now();
  copy.report.kept_bytes = 0;
  if (left.empty()) copy.to.remove(copy.staged);
  for (const FileToCopy& file : copy.files) {
    if (left.contains(file.name))
      copy.report.kept_bytes += file.bytes;
    else
      copy_file(copy, file);
  }
  copy.report.write_s += seconds_since(start);
}

// What of the staged files is not as it was written, read back from where they are. EnvError when they cannot
// be read: then they stay as they are for the next copy.
std::vector<std::string> read_back(Copy& copy) {
  const auto start = std::chrono::steady_clock::now();
  const auto view = view_with_marker(copy.to, copy.staged, copy.marker);
  VerifyReport report = verify_checkpoint(*view, copy.staged, copy.reading());
  copy.report.verify_s += seconds_since(start);
  copy.check_stop();
  if (report.unreadable) fail_env("{}", report.faults.back());
  return std::move(report.faults);
}

[[noreturn]] void refuse(const Copy& copy, const std::vector<std::string>& faults) {
  const VerifyReport source = verify_checkpoint(copy.from, copy.name, copy.reading());
  if (!source.faults.empty())
    fail_env("{} is not copied, since it is damaged itself: {}", copy.from.locate(copy.name),
             source.faults.front());
  fail_env(
      "the copy {} does not read back as it was written, and is not committed: {}{}; {} is good: copy it "
      "again, and look at the store if that does not help",
      copy.report.location, faults.front(),
      faults.size() > 1 ? fmt::format(" (and {} more)", faults.size() - 1) : "", copy.from.locate(copy.name));
}

}  // namespace

CopyReport copy_checkpoint(const ByteStore& from, const std::string& name, ByteStore& to,
                           const CopyOptions& options) {
  Copy copy = start_copy(from, name, to, options);
  if (is_there(copy)) {
    copy.report.kind = CopyReport::Kind::was_there;
    return std::move(copy.report);
  }
  write_files(copy, left_by_an_earlier_copy(copy));
  std::vector<std::string> faults = read_back(copy);
  if (!faults.empty()) {
    write_files(copy, {});
    faults = read_back(copy);
  }
  if (!faults.empty()) refuse(copy, faults);
  to.publish(name, copy.marker);
  return std::move(copy.report);
}

std::string size_text(int64_t bytes) {
  const auto size = static_cast<double>(bytes);
  if (size < 1e7) return fmt::format("{:.1f} kB", size / 1e3);
  if (size < 1e9) return fmt::format("{:.1f} MB", size / 1e6);
  return fmt::format("{:.2f} GB", size / 1e9);
}

std::string describe(const CopyReport& report) {
  const auto rate = [](int64_t bytes, double seconds) {
    return static_cast<double>(bytes) / 1e6 / std::max(seconds, 1e-3);
  };
  std::string text =
      fmt::format("{} in {:.1f} s ({:.0f} MB/s written, {:.0f} MB/s read back)", size_text(report.bytes),
                  report.write_s + report.verify_s, rate(report.bytes - report.kept_bytes, report.write_s),
                  rate(report.bytes, report.verify_s));
  if (report.kept_bytes > 0) text += fmt::format("; {} of it had been there", size_text(report.kept_bytes));
  return text;
}

}  // namespace trireme
