// A tokenizer between a run and a Hugging Face folder.
#pragma once
#include <map>
#include <optional>
#include <string>

#include "config/model.h"

namespace trireme {

struct HfTokenizer {
  std::optional<int64_t> end_of_text;        // its id
  std::map<std::string, std::string> files;  // by name: what AutoTokenizer reads
};

// From a run's tokenizer.json. UserError when it has ids that the model has no rows for.
HfTokenizer hf_tokenizer(const std::string& tokenizer_json, const ModelSpec& spec);

// The tokenizer of a Hugging Face folder to `to`, a tokenizer.json. Returns why there is none, "" when there
// is: a folder need not have one, or one that is understood here.
std::string copy_hf_tokenizer(const std::string& folder, const std::string& to, const ModelSpec& spec);

}  // namespace trireme
