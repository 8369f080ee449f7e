// Reads ahead by blocks and cuts at the last separator; what follows it waits for the next block. Each byte
// is searched once, so a record as large as a file costs no more than many small ones.
#include "io/data/text_chunks.h"

#include "base/error.h"
#include "io/files/text_stream.h"

namespace trireme {
namespace {

constexpr size_t kBlockBytes = 1 << 18;
constexpr size_t kLargestRecord = size_t{1} << 31;
constexpr std::string_view kByteOrderMark = "\xef\xbb\xbf";

}  // namespace

struct ChunkReader::State {
  std::vector<std::string> files;
  RecordRules rules;
  size_t chunk_bytes;

  size_t next_file = 0;
  std::optional<TextStream> stream;  // of files[next_file - 1]
  RecordKind kind = RecordKind::document;
  std::string separator;
  std::string pending;  // read and not given out
  size_t searched = 0;  // pending[0, searched) holds no separator after last_cut
  size_t last_cut = 0;  // where the last separator in `pending` ends, or 0
  int64_t chunks = 0, records = 0, lines = 1, bytes = 0;
  bool began = false;  // something of the file has been given out

  void open_next();
  bool read_block();  // false at the file's end
  void find_cut();
  TextChunk give(size_t text_bytes, size_t cut);
};

void ChunkReader::State::open_next() {
  const std::string& path = files[next_file++];
  stream.emplace(path);
  kind = rules.kind.value_or(is_json_lines(path) ? RecordKind::json_line : RecordKind::document);
  separator = kind == RecordKind::json_line ? "\n" : rules.separator.value_or("");
  pending.clear();
  searched = last_cut = 0;
  lines = 1;
  began = false;
  while (pending.size() < kByteOrderMark.size() && read_block()) {
  }
  if (pending.starts_with(kByteOrderMark)) pending.erase(0, kByteOrderMark.size());
}

bool ChunkReader::State::read_block() {
  const size_t before = pending.size();
  pending.resize(before + kBlockBytes);
  const size_t got = stream->read(pending.data() + before, kBlockBytes);
  pending.resize(before + got);
  bytes += static_cast<int64_t>(got);
  return got > 0;
}

void ChunkReader::State::find_cut() {
  if (separator.empty()) return;
  for (size_t at; (at = pending.find(separator, searched)) != std::string::npos;) {
    last_cut = searched = at + separator.size();
  }
  // A separator may have begun in the last bytes.
  if (pending.size() + 1 > searched + separator.size()) searched = pending.size() + 1 - separator.size();
}

// Gives pending[0, text_bytes) and drops pending[0, cut).
TextChunk ChunkReader::State::give(size_t text_bytes, size_t cut) {
  TextChunk chunk{.number = chunks++,
                  .path = files[next_file - 1],
                  .kind = kind,
                  .separator = separator,
                  .first_record = records,
                  .first_line = lines};
  if (cut == pending.size()) {
    chunk.text.swap(pending);
    chunk.text.resize(text_bytes);
  } else {
    chunk.text = pending.substr(0, text_bytes);
    pending.erase(0, cut);
  }
  for_each_record(chunk, [&](std::string_view, int64_t) {
    ++records;
    ++lines;
  });
  searched = searched > cut ? searched - cut : 0;
  last_cut = 0;
  began = true;
  return chunk;
}

ChunkReader::ChunkReader(std::vector<std::string> files, RecordRules rules, int64_t chunk_bytes)
    : state_(std::make_unique<State>()) {
  state_->files = std::move(files);
  state_->rules = std::move(rules);
  state_->chunk_bytes = static_cast<size_t>(chunk_bytes);
}

ChunkReader::~ChunkReader() = default;

int64_t ChunkReader::bytes_read() const { return state_->bytes; }

std::optional<TextChunk> ChunkReader::next() {
  State& s = *state_;
  for (;;) {
    if (!s.stream) {
      if (s.next_file == s.files.size()) return std::nullopt;
      s.open_next();
    }
    bool more = true;
    for (s.find_cut(); more && (s.last_cut == 0 || s.pending.size() < s.chunk_bytes); s.find_cut()) {
      if (s.pending.size() - s.last_cut > kLargestRecord) {
        fail_user("{}: a document of more than 2 GiB; cut it with --split-lines or --separator",
                  s.files[s.next_file - 1]);
      }
      more = s.read_block();
    }
    if (more) return s.give(s.last_cut - s.separator.size(), s.last_cut);
    s.stream.reset();
    size_t text_bytes = s.pending.size();
    if (!s.separator.empty() && s.pending.ends_with(s.separator)) text_bytes -= s.separator.size();
    // A file of records holds none when it is empty; a file that is a document is one even then.
    if (text_bytes > 0 || s.pending.size() > text_bytes || (s.separator.empty() && !s.began)) {
      return s.give(text_bytes, s.pending.size());
    }
  }
}

}  // namespace trireme
