// Trace files, written event by event under a temporary name and renamed when complete.
#include "obs/trace.h"

#include <cerrno>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <system_error>

#include "base/error.h"

namespace trireme {
namespace {
namespace fs = std::filesystem;

std::string quoted(const std::string& text) {
  return nlohmann::json(text).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}
}  // namespace

TraceWriter::TraceWriter(const std::string& path) : path_(path) {
  std::error_code error, none;
  if (fs::exists(path, none) && !fs::is_regular_file(path, none))
    fail_env("cannot write {}: a folder or a device is there; name a file", path);
  if (fs::path(path).has_parent_path()) fs::create_directories(fs::path(path).parent_path(), error);
  if (error) fail_env("cannot make the folder of {}: {}", path, error.message());
  file_ = std::fopen((path + ".tmp").c_str(), "we");
  if (!file_) fail_env("{}", with_errno("cannot create " + path));
  std::fputs("{\"displayTimeUnit\":\"ms\",\"traceEvents\":[", file_);
}

TraceWriter::~TraceWriter() {
  if (!file_) return;
  std::fclose(file_);
  std::error_code ignored;
  fs::remove(path_ + ".tmp", ignored);
}

void TraceWriter::name_rank(int64_t rank, const std::string& name) {
  event(
      fmt::format(R"({{"ph":"M","name":"process_name","pid":{},"args":{{"name":{}}}}})", rank, quoted(name)));
}

void TraceWriter::name_stream(int64_t rank, int64_t stream, const std::string& name) {
  event(fmt::format(R"({{"ph":"M","name":"thread_name","pid":{},"tid":{},"args":{{"name":{}}}}})", rank,
                    stream, quoted(name)));
}

void TraceWriter::add(const TraceSpan& span) {
  event(fmt::format(R"({{"ph":"X","name":{},"cat":{},"pid":{},"tid":{},"ts":{:.3f},"dur":{:.3f}{}}})",
                    quoted(span.name), quoted(span.category), span.rank, span.stream, span.start_us,
                    span.duration_us,
                    span.bytes < 0 ? "" : fmt::format(R"(,"args":{{"bytes":{}}})", span.bytes)));
}

void TraceWriter::event(const std::string& json) {
  std::fputs(first_ ? "\n" : ",\n", file_);
  std::fwrite(json.data(), 1, json.size(), file_);
  first_ = false;
}

void TraceWriter::finish() {
  std::fputs("\n]}\n", file_);
  const bool whole = std::ferror(file_) == 0 && std::fflush(file_) == 0;
  if (!whole) fail_env("{}", with_errno("cannot write " + path_));
  std::fclose(file_);
  file_ = nullptr;
  std::error_code error;
  fs::rename(path_ + ".tmp", path_, error);
  if (error) fail_env("cannot write {}: {}", path_, error.message());
}

}  // namespace trireme
