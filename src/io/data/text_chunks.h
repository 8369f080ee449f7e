// Text files to chunks of whole records, in a fixed order: the serial end of the tokenising pipeline. Records
// are found here only as far as to cut between them; what is in them is the workers' business.
#pragma once
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace trireme {

enum class RecordKind : uint8_t { document, json_line };

// How the text files of one call are cut into records.
struct RecordRules {
  std::optional<std::string>
      separator;                   // stands between documents of plain text; unset: a file is a document
  std::optional<RecordKind> kind;  // unset: json_line for .jsonl and .ndjson, else document
};

// Records in `text` are separated by `separator`; an empty separator means that all of it is one record.
struct TextChunk {
  int64_t number = 0;  // 0, 1, ... over all files
  std::string path;
  RecordKind kind = RecordKind::document;
  std::string separator;
  int64_t first_record = 0;  // number of its first record over all files, blank lines counted
  int64_t first_line = 1;    // the same within the file, from 1: the line number when records are lines
  std::string text;
};

// Calls f(record, index in the chunk) for each record. A chunk does not end with a separator.
template <class F>
void for_each_record(const TextChunk& chunk, F f) {
  const std::string_view text = chunk.text;
  size_t begin = 0;
  for (int64_t i = 0;; ++i) {
    const size_t end = chunk.separator.empty() ? std::string_view::npos : text.find(chunk.separator, begin);
    f(text.substr(begin, end == std::string_view::npos ? end : end - begin), i);
    if (end == std::string_view::npos) return;
    begin = end + chunk.separator.size();
  }
}

// A byte order mark at a file's begin is dropped. A separator at a file's end begins no record. A record of
// more than 2 GiB is a UserError.
class ChunkReader {
 public:
  ChunkReader(std::vector<std::string> files, RecordRules rules, int64_t chunk_bytes);
  ~ChunkReader();

  std::optional<TextChunk> next();  // nullopt after the last
  int64_t bytes_read() const;       // unpacked

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace trireme
