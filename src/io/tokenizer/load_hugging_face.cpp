// Reads tokenizer.json. What would change ids and is not supported (a normalizer, dropout, byte fallback,
// several splits) is refused with its name; what does not change ids (truncation, padding, post_processor,
// decoder) is left.
#include <nlohmann/json.hpp>

#include "base/error.h"
#include "io/tokenizer/formats.h"

namespace trireme {
namespace {

using nlohmann::json;

// The member `key` of an object, null when it is not there. UserError: `object` is none.
const json& member(const json& object, const char* key, const std::string& source) {
  static const json none;
  if (!object.is_object()) fail_user("{}: an object with \"{}\" is expected", source, key);
  const auto found = object.find(key);
  return found == object.end() ? none : *found;
}

bool flag(const json& object, const char* key, bool otherwise, const std::string& source) {
  const json& value = member(object, key, source);
  if (value.is_null()) return otherwise;
  if (!value.is_boolean()) fail_user("{}: \"{}\" must be true or false", source, key);
  return value.get<bool>();
}

std::string type_of(const json& object, const std::string& source) {
  const json& type = member(object, "type", source);
  if (!type.is_string()) fail_user("{}: \"type\" must be a string", source);
  return type.get<std::string>();
}

uint64_t id_of(const json& value, const std::string& source) {
  if (!value.is_number_unsigned())
    fail_user("{}: a token's id must be a whole number, not {}", source, value.dump());
  return value.get<uint64_t>();
}

std::vector<SpecialToken> read_added(const json& added, const std::string& source) {
  std::vector<SpecialToken> tokens;
  if (added.is_null()) return tokens;
  if (!added.is_array()) fail_user("{}: \"added_tokens\" must be a list", source);
  for (const json& token : added) {
    const json& content = member(token, "content", source);
    if (!content.is_string()) fail_user("{}: an added token has no \"content\"", source);
    for (const char* key : {"lstrip", "rstrip", "single_word"}) {
      if (flag(token, key, false, source)) {
        fail_user("{}: added token {} has \"{}\": true, which is not supported", source, content.dump(), key);
      }
    }
    const uint64_t id = id_of(member(token, "id", source), source);
    if (id >= UINT32_MAX) fail_user("{}: id {} of {} is too large", source, id, content.dump());
    tokens.push_back({static_cast<uint32_t>(id), content.get<std::string>()});
  }
  return tokens;
}

void read_byte_level(const json& node, Tokenizer& tokenizer, const std::string& source) {
  tokenizer.add_prefix_space = flag(node, "add_prefix_space", true, source);
}

std::string split_regex(const json& node, const std::string& source) {
  const json& behavior = member(node, "behavior", source);
  const json& regex = member(member(node, "pattern", source), "Regex", source);
  if (!regex.is_string() || behavior != "Isolated" || flag(node, "invert", false, source)) {
    fail_user("{}: pre_tokenizer Split is supported with a \"Regex\", \"Isolated\" and not inverted", source);
  }
  return regex.get<std::string>();
}

// ByteLevel with its own (GPT-2's) pattern, or a Sequence of Split and a ByteLevel that does not split.
void read_pre_tokenizer(const json& node, Tokenizer& tokenizer, const std::string& source) {
  if (node.is_object() && type_of(node, source) == "ByteLevel") {
    if (!flag(node, "use_regex", true, source)) {
      fail_user("{}: pre_tokenizer ByteLevel with use_regex = false does not split at all; not supported",
                source);
    }
    read_byte_level(node, tokenizer, source);
    tokenizer.pattern = split_pattern("gpt2");
    return;
  }
  if (node.is_object() && type_of(node, source) == "Sequence") {
    const json& parts = member(node, "pretokenizers", source);
    if (parts.is_array() && parts.size() == 2 && type_of(parts[0], source) == "Split" &&
        type_of(parts[1], source) == "ByteLevel" && !flag(parts[1], "use_regex", true, source)) {
      tokenizer.pattern = split_pattern(split_regex(parts[0], source));
      read_byte_level(parts[1], tokenizer, source);
      if (!tokenizer.add_prefix_space) return;
    }
  }
  fail_user(
      "{}: pre_tokenizer is not supported; use ByteLevel, or a Sequence of one Split and one ByteLevel "
      "(use_regex = false, add_prefix_space = false)",
      source);
}

void refuse_unsupported(const json& root, const json& model, const std::string& source) {
  const json& normalizer = member(root, "normalizer", source);
  if (!normalizer.is_null()) {
    fail_user("{}: normalizer {} changes the text before it is encoded and is not supported; set it to null",
              source, type_of(normalizer, source));
  }
  const json& type = member(model, "type", source);
  if (!type.is_null() && type != "BPE")
    fail_user("{}: model {} is not supported; use BPE", source, type.dump());
  const json& dropout = member(model, "dropout", source);
  if (!dropout.is_null() && dropout != 0.0)
    fail_user("{}: BPE dropout is not supported; set it to null", source);
  if (flag(model, "byte_fallback", false, source)) {
    fail_user("{}: byte_fallback (SentencePiece style) is not supported; use a byte-level vocabulary",
              source);
  }
  for (const char* key : {"continuing_subword_prefix", "end_of_word_suffix"}) {
    const json& value = member(model, key, source);
    if (!value.is_null() && value != "") fail_user("{}: {} is not supported; set it to null", source, key);
  }
}

void read_merges(const json& merges, Tokenizer& tokenizer, const std::string& source) {
  if (!merges.is_array()) fail_user("{}: model.merges must be a list", source);
  const MergeReader reader(tokenizer, source);
  uint32_t number = 0;
  for (const json& merge : merges) {
    if (merge.is_array() && merge.size() == 2 && merge[0].is_string() && merge[1].is_string()) {
      tokenizer.merges.push_back(reader.read(merge[0].get_ref<const std::string&>(),
                                             merge[1].get_ref<const std::string&>(), number++));
      continue;
    }
    if (!merge.is_string()) fail_user("{}: merge {} is neither \"a b\" nor [\"a\", \"b\"]", source, number);
    const std::string& text = merge.get_ref<const std::string&>();
    const size_t space = text.find(' ');
    if (space == std::string::npos) fail_user("{}: merge {} ({}) has no space", source, number, text);
    const std::string_view view = text;
    tokenizer.merges.push_back(reader.read(view.substr(0, space), view.substr(space + 1), number++));
  }
  keep_last_merges(tokenizer.merges);
}

Tokenizer from_json(const json& root, const std::string& source) {
  const json& model = member(root, "model", source);
  refuse_unsupported(root, model, source);
  const json& vocab = member(model, "vocab", source);
  if (!vocab.is_object()) fail_user("{}: model.vocab must be an object of token: id", source);
  std::vector<VocabEntry> entries;
  for (const auto& [text, id] : vocab.items()) entries.push_back({text, id_of(id, source)});
  Tokenizer tokenizer =
      tokenizer_of_vocab(entries, read_added(member(root, "added_tokens", source), source), source);
  tokenizer.ignore_merges = flag(model, "ignore_merges", false, source);
  read_pre_tokenizer(member(root, "pre_tokenizer", source), tokenizer, source);
  read_merges(member(model, "merges", source), tokenizer, source);
  index_tokenizer(tokenizer, source);
  return tokenizer;
}

// encoder.json of GPT-2: an object of token: id.
std::vector<VocabEntry> flat_vocab(const json& encoder, const std::string& source) {
  if (!encoder.is_object()) fail_user("{}: the vocabulary must be an object of token: id", source);
  std::vector<VocabEntry> entries;
  for (const auto& [text, id] : encoder.items()) entries.push_back({text, id_of(id, source)});
  return entries;
}

json parse_json(std::string_view text, const std::string& source) {
  try {
    return json::parse(text);
  } catch (const json::exception& error) {
    fail_user("{}: not valid JSON: {}", source, error.what());
  }
}

}  // namespace

Tokenizer parse_hugging_face(std::string_view text, const std::string& source) {
  return from_json(parse_json(text, source), source);
}

Tokenizer parse_gpt2(std::string_view encoder, std::string_view merges, const std::string& source) {
  const json root = parse_json(encoder, source);
  const std::vector<VocabEntry> entries = flat_vocab(root, source);
  std::vector<SpecialToken> specials;
  for (const VocabEntry& entry : entries) {
    if (entry.text == "<|endoftext|>") specials.push_back({static_cast<uint32_t>(entry.id), "<|endoftext|>"});
  }
  Tokenizer tokenizer = tokenizer_of_vocab(entries, specials, source);
  tokenizer.pattern = split_pattern("gpt2");
  const MergeReader reader(tokenizer, source);
  uint32_t number = 0;
  while (!merges.empty()) {
    const size_t stop = std::min(merges.find('\n'), merges.size());
    std::string_view line = merges.substr(0, stop);
    merges.remove_prefix(std::min(stop + 1, merges.size()));
    if (line.ends_with('\r')) line.remove_suffix(1);
    if (line.empty() || line.starts_with("#version")) continue;
    const size_t space = line.find(' ');
    if (space == std::string_view::npos) fail_user("{}: merge {} ({}) has no space", source, number, line);
    tokenizer.merges.push_back(reader.read(line.substr(0, space), line.substr(space + 1), number++));
  }
  keep_last_merges(tokenizer.merges);
  index_tokenizer(tokenizer, source);
  return tokenizer;
}

}  // namespace trireme
