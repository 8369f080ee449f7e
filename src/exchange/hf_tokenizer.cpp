// tokenizer.json as it is, and the small files around it.
#include "exchange/hf_tokenizer.h"

#include <filesystem>
#include <nlohmann/json.hpp>

#include "base/error.h"
#include "exchange/text_file.h"
#include "io/files/whole_file.h"
#include "io/tokenizer/tokenizer.h"

namespace trireme {
namespace {

using nlohmann::json;

json added_token(const SpecialToken& special) {
  return {{"content", special.content}, {"lstrip", false}, {"normalized", false}, {"rstrip", false},
          {"single_word", false},       {"special", true}};
}

}  // namespace

HfTokenizer hf_tokenizer(const std::string& tokenizer_json, const ModelSpec& spec) {
  const Tokenizer tokenizer = load_tokenizer(tokenizer_json);
  if (vocab_size(tokenizer) > spec.vocab)
    fail_user("{} has {} ids, but model.vocab = {}: it is another model's tokenizer", tokenizer_json,
              vocab_size(tokenizer), spec.vocab);
  json config, specials = json::object();
  config["tokenizer_class"] = "PreTrainedTokenizerFast";
  config["model_max_length"] = spec.context;
  config["clean_up_tokenization_spaces"] = false;
  config["added_tokens_decoder"] = json::object();
  for (const SpecialToken& special : tokenizer.specials)
    config["added_tokens_decoder"][std::to_string(special.id)] = added_token(special);
  HfTokenizer made;
  if (const auto end = end_of_text(tokenizer)) {
    made.end_of_text = *end;
    const std::string text = tokenizer.tokens[*end];
    for (const char* key : {"bos_token", "eos_token"}) config[key] = specials[key] = text;
  }
  made.files = {{"tokenizer.json", read_whole_file(tokenizer_json)},
                {"tokenizer_config.json", config.dump(2) + "\n"},
                {"special_tokens_map.json", specials.dump(2) + "\n"}};
  return made;
}

std::string copy_hf_tokenizer(const std::string& folder, const std::string& to, const ModelSpec& spec) {
  const std::string json_path = folder + "/tokenizer.json";
  std::error_code error;
  const bool json = std::filesystem::exists(json_path, error);
  try {
    const Tokenizer tokenizer = load_tokenizer(json ? json_path : folder);
    if (vocab_size(tokenizer) > spec.vocab)
      return fmt::format("the tokenizer of {} has {} ids, but the model {} rows", folder,
                         vocab_size(tokenizer), spec.vocab);
    if (json)
      write_text_file(to, read_whole_file(json_path));
    else
      save_tokenizer(tokenizer, to);
  } catch (const UserError& failure) {
    return failure.what();
  }
  return "";
}

}  // namespace trireme
