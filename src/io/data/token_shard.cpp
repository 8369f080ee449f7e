// Opens shards: finds the format by name and content, maps what belongs to it, and scans whole shards.
#include "io/data/token_shard.h"

#include <algorithm>
#include <filesystem>
#include <limits>

#include "base/error.h"

namespace trireme {
namespace {

namespace fs = std::filesystem;

bool is_file(const std::string& path) {
  std::error_code error;
  return fs::is_regular_file(path, error);
}

TokenShard open_megatron(const std::string& bin, const std::string& idx) {
  TokenShard shard;
  shard.path = bin;
  if (!is_file(bin)) fail_user("{} has no {} beside it, which holds the ids", idx, bin);
  shard.index = MappedFile(idx);
  shard.data = MappedFile(bin);
  shard.layout = parse_megatron(bin, shard.data.bytes(), idx, shard.index.bytes());
  return shard;
}

TokenShard open_datatrove(const std::string& path) {
  TokenShard shard;
  shard.path = path;
  if (!is_file(path + ".index"))
    fail_user("{} has no {}.index beside it, which holds its documents", path, path);
  shard.data = MappedFile(path);
  shard.index = MappedFile(path + ".index");
  const MappedFile metadata = is_file(path + ".metadata") ? MappedFile(path + ".metadata") : MappedFile();
  shard.layout = parse_datatrove(path, shard.data.bytes(), shard.index.bytes(), metadata.bytes());
  return shard;
}

TokenShard open_plain(const std::string& path, TokenType type) {
  TokenShard shard;
  shard.path = path;
  shard.data = MappedFile(path);
  shard.layout = parse_plain(path, shard.data.bytes(), type);
  return shard;
}

}  // namespace

TokenShard open_shard(const std::string& path) {
  const fs::path p(path);
  const std::string extension = p.extension().string();
  if (extension == ".u16") return open_plain(path, TokenType::u16);
  if (extension == ".u32") return open_plain(path, TokenType::u32);
  if (extension == ".ds") return open_datatrove(path);
  if (extension == ".idx") return open_megatron(fs::path(p).replace_extension(".bin").string(), path);
  const std::string idx = fs::path(p).replace_extension(".idx").string();
  if (is_file(idx) && looks_like_megatron_index(MappedFile(idx).bytes())) return open_megatron(path, idx);
  TokenShard shard;
  shard.path = path;
  shard.data = MappedFile(path);
  if (!looks_like_llm_c(shard.data.bytes())) {
    fail_user(
        "{} ({} bytes) is no token shard: it has neither llm.c's magic number nor a Megatron index {} beside "
        "it; "
        "a file of ids alone must be named .u16 or .u32",
        path, shard.data.bytes().size(), idx);
  }
  shard.layout = parse_llm_c(path, shard.data.bytes());
  return shard;
}

namespace {

// Documents of formats without an index, by the id that they begin or end with.
struct EotDocuments {
  bool starts;  // they begin with it
  int64_t length = 0;
  ShardReport* report;

  void close() {
    if (length == 0) return;
    ++report->documents;
    report->shortest = std::min(report->shortest, length);
    report->longest = std::max(report->longest, length);
    length = 0;
  }
  void take(bool is_eot) {
    if (is_eot && starts) close();
    ++length;
    if (is_eot && !starts) close();
  }
};

void scan_index(const ShardLayout& layout, ShardReport& report) {
  int64_t start = 0;
  for (int64_t d = 0; d < layout.documents; ++d) {
    const int64_t end = document_end(layout, d);
    report.empty_documents += end == start;
    report.shortest = std::min(report.shortest, end - start);
    report.longest = std::max(report.longest, end - start);
    start = end;
  }
  report.documents = layout.documents;
}

}  // namespace

ShardReport scan_shard(const TokenShard& shard, int64_t eot) {
  const ShardLayout& layout = shard.layout;
  ShardReport report;
  report.shortest = std::numeric_limits<int64_t>::max();
  report.smallest_id = std::numeric_limits<int64_t>::max();
  report.largest_id = std::numeric_limits<int64_t>::min();
  const bool by_eot = !layout.has_documents && eot >= 0;
  EotDocuments documents{.starts = begins_with_delimiter(layout.format), .report = &report};
  if (by_eot) report.documents = 0;
  if (layout.has_documents) scan_index(layout, report);
  for (int64_t i = 0; i < layout.count; ++i) {
    const int64_t id = token_at(layout, i);
    report.smallest_id = std::min(report.smallest_id, id);
    report.largest_id = std::max(report.largest_id, id);
    report.eot_count += id == eot;
    if (by_eot) documents.take(id == eot);
  }
  if (by_eot) documents.close();
  if (report.documents <= 0) report.shortest = 0;
  if (layout.count == 0) report.smallest_id = report.largest_id = 0;
  return report;
}

}  // namespace trireme
