// Writes tokenizer.json as Hugging Face's `tokenizers` reads it. Merges are written as "left right" strings,
// which its old versions read too. A special token whose id would not come out as the next free one stands in
// the vocabulary as well, since the reader numbers added tokens by itself.
#include <cerrno>
#include <cstdio>
#include <nlohmann/json.hpp>
#include <vector>

#include "base/error.h"
#include "io/tokenizer/byte_text.h"
#include "io/tokenizer/tokenizer.h"

namespace trireme {
namespace {

std::string quoted(const std::string& text) { return nlohmann::json(text).dump(); }

std::string added_tokens(const Tokenizer& t) {
  std::string text;
  for (const SpecialToken& special : t.specials) {
    text += fmt::format(
        "{}\n    {{\"id\": {}, \"content\": {}, \"single_word\": false, \"lstrip\": false, \"rstrip\": "
        "false, "
        "\"normalized\": false, \"special\": true}}",
        text.empty() ? "" : ",", special.id, quoted(special.content));
  }
  return text.empty() ? "[]" : "[" + text + "\n  ]";
}

struct ByteLevel {
  bool add_prefix_space = true, use_regex = true;
};

std::string to_json(const ByteLevel& node) {
  return fmt::format(
      R"({{"type": "ByteLevel", "add_prefix_space": {}, "trim_offsets": true, "use_regex": {}}})",
      node.add_prefix_space, node.use_regex);
}

std::string pre_tokenizer(const Tokenizer& t) {
  if (t.pattern.kind == SplitKind::Gpt2) return to_json(ByteLevel{.add_prefix_space = t.add_prefix_space});
  return fmt::format(
      "{{\"type\": \"Sequence\", \"pretokenizers\": [\n    {{\"type\": \"Split\", \"pattern\": {{\"Regex\": "
      "{}}}, "
      "\"behavior\": \"Isolated\", \"invert\": false}},\n    {}]}}",
      quoted(t.pattern.regex),
      to_json(ByteLevel{.add_prefix_space = t.add_prefix_space, .use_regex = false}));
}

std::string vocab_lines(const Tokenizer& t, const ByteText& writing) {
  std::vector<bool> special(t.tokens.size());
  for (const SpecialToken& s : t.specials) special[s.id] = true;
  // Added tokens alone: those that follow the other tokens without a gap.
  size_t entries = 0;
  for (size_t id = 0; id < t.tokens.size(); ++id) entries += !t.tokens[id].empty() && !special[id];
  bool at_end = true;
  for (size_t i = 0; i < t.specials.size(); ++i) at_end &= t.specials[i].id == entries + i;
  std::string text;
  for (size_t id = 0; id < t.tokens.size(); ++id) {
    if (t.tokens[id].empty() || (special[id] && at_end)) continue;
    const std::string token = special[id] ? t.tokens[id] : writing.to_text(t.tokens[id]);
    text += fmt::format("{}\n      {}: {}", text.empty() ? "" : ",", quoted(token), id);
  }
  return text;
}

std::string merge_lines(const Tokenizer& t, const ByteText& writing) {
  std::string text;
  for (const Merge& m : t.merges) {
    const std::string pair = writing.to_text(t.tokens[m.left]) + ' ' + writing.to_text(t.tokens[m.right]);
    text += fmt::format("{}\n      {}", text.empty() ? "" : ",", quoted(pair));
  }
  return text;
}

void write_whole(const std::string& path, const std::string& text) {
  const std::string temporary = path + ".tmp";
  FILE* file = std::fopen(temporary.c_str(), "wb");
  if (file == nullptr) fail_env("{}", with_errno("cannot write " + temporary));
  const bool written = std::fwrite(text.data(), 1, text.size(), file) == text.size();
  const bool closed = std::fclose(file) == 0;
  if (!written || !closed || std::rename(temporary.c_str(), path.c_str()) != 0) {
    const std::string message = with_errno("cannot write " + path);
    std::remove(temporary.c_str());
    fail_env("{}", message);
  }
}

}  // namespace

void save_tokenizer(const Tokenizer& tokenizer, const std::string& path) {
  const ByteText writing;
  std::string text =
      "{\n  \"version\": \"1.0\",\n  \"truncation\": null,\n  \"padding\": null,\n  \"added_tokens\": ";
  text += added_tokens(tokenizer);
  text += ",\n  \"normalizer\": null,\n  \"pre_tokenizer\": " + pre_tokenizer(tokenizer);
  text += ",\n  \"post_processor\": null,\n  \"decoder\": " + to_json(ByteLevel{});
  text += ",\n  \"model\": {\n    \"type\": \"BPE\",\n    \"dropout\": null,\n    \"unk_token\": null,\n";
  text +=
      "    \"continuing_subword_prefix\": null,\n    \"end_of_word_suffix\": null,\n    \"fuse_unk\": "
      "false,\n";
  text += fmt::format("    \"byte_fallback\": false,\n    \"ignore_merges\": {},\n", tokenizer.ignore_merges);
  text += "    \"vocab\": {" + vocab_lines(tokenizer, writing) + "\n    },\n    \"merges\": [";
  text += merge_lines(tokenizer, writing) + "\n    ]\n  }\n}\n";
  write_whole(path, text);
}

}  // namespace trireme
