// Finds out which kind of tokenizer file stands at a path, reads it whole and hands the text to its reader.
#include <filesystem>

#include "base/error.h"
#include "io/files/whole_file.h"
#include "io/tokenizer/formats.h"

namespace trireme {
namespace {

namespace fs = std::filesystem;

// The one of `names` that stands beside `path`; empty if none does.
fs::path beside(const fs::path& path, std::initializer_list<const char*> names) {
  for (const char* name : names) {
    const fs::path there = path.parent_path() / name;
    if (std::error_code ignored; fs::is_regular_file(there, ignored)) return there;
  }
  return {};
}

fs::path file_in_folder(const fs::path& folder) {
  const fs::path file = beside(folder / "x", {"tokenizer.json", "vocab.bpe", "merges.txt"});
  if (file.empty()) fail_user("{}: holds no tokenizer.json, vocab.bpe or merges.txt", folder.string());
  return file;
}

char first_character(std::string_view text) {
  const size_t at = text.find_first_not_of(" \t\r\n");
  return at == std::string_view::npos ? '\0' : text[at];
}

// A tokenizer.json has an object "model"; GPT-2's encoder.json is a flat map, in which "model" is a token
// with an id.
bool is_hugging_face(std::string_view text) {
  constexpr std::string_view kKey = "\"model\"";
  for (size_t at = text.find(kKey); at != std::string_view::npos; at = text.find(kKey, at + 1)) {
    std::string_view rest = text.substr(at + kKey.size());
    if (first_character(rest) != ':') continue;
    rest.remove_prefix(rest.find(':') + 1);
    if (first_character(rest) == '{') return true;
  }
  return false;
}

}  // namespace

Tokenizer load_tokenizer(const std::string& path) { return load_tokenizer(path, {}); }

Tokenizer load_tokenizer(const std::string& path, const LoadOptions& options) {
  fs::path file = path;
  if (std::error_code ignored; fs::is_directory(file, ignored)) file = file_in_folder(file);
  const std::string text = read_whole_file(file);
  if (text.empty()) fail_user("tokenizer {} is empty", file.string());
  if (first_character(text) == '{') {
    if (is_hugging_face(text)) return parse_hugging_face(text, file.string());
    const fs::path merges = beside(file, {"vocab.bpe", "merges.txt"});
    if (merges.empty()) {
      fail_user("{} is no tokenizer.json; if it is GPT-2's encoder.json, vocab.bpe must stand beside it",
                file.string());
    }
    return parse_gpt2(text, read_whole_file(merges), file.string());
  }
  const bool merges_name = file.filename() == "vocab.bpe" || file.filename() == "merges.txt";
  if (text.starts_with("#version") || merges_name) {
    const fs::path encoder = beside(file, {"encoder.json", "vocab.json"});
    if (encoder.empty()) fail_user("{}: encoder.json or vocab.json must stand beside it", file.string());
    return parse_gpt2(read_whole_file(encoder), text, file.string());
  }
  return parse_tiktoken(text, file.string(), options);
}

}  // namespace trireme
