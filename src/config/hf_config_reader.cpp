// Typed access to a JSON object, and what may be passed over in it.
#include "config/hf_config_reader.h"

#include <fmt/format.h>

#include <cmath>

#include "base/error.h"

namespace trireme {
namespace {

// Keys that say nothing about the function computed in training: ids of the tokenizer, settings of generation
// and of other tasks, and what the writer was.
const char* const kNoMatter[] = {"model_type",
                                 "architectures",
                                 "auto_map",
                                 "_name_or_path",
                                 "name_or_path",
                                 "_commit_hash",
                                 "transformers_version",
                                 "torch_dtype",
                                 "dtype",
                                 "use_cache",
                                 "bos_token_id",
                                 "eos_token_id",
                                 "pad_token_id",
                                 "sep_token_id",
                                 "decoder_start_token_id",
                                 "tokenizer_class",
                                 "prefix",
                                 "task_specific_params",
                                 "summary_activation",
                                 "summary_first_dropout",
                                 "summary_proj_to_labels",
                                 "summary_type",
                                 "summary_use_proj",
                                 "finetuning_task",
                                 "id2label",
                                 "label2id",
                                 "num_labels",
                                 "problem_type",
                                 "return_dict",
                                 "output_hidden_states",
                                 "output_attentions",
                                 "output_past",
                                 "torchscript",
                                 "use_bfloat16",
                                 "tf_legacy_loss",
                                 "chunk_size_feed_forward",
                                 "max_length",
                                 "min_length",
                                 "do_sample",
                                 "early_stopping",
                                 "num_beams",
                                 "num_beam_groups",
                                 "diversity_penalty",
                                 "temperature",
                                 "top_k",
                                 "top_p",
                                 "typical_p",
                                 "repetition_penalty",
                                 "length_penalty",
                                 "no_repeat_ngram_size",
                                 "encoder_no_repeat_ngram_size",
                                 "bad_words_ids",
                                 "num_return_sequences",
                                 "output_scores",
                                 "return_dict_in_generate",
                                 "forced_bos_token_id",
                                 "forced_eos_token_id",
                                 "remove_invalid_values",
                                 "exponential_decay_length_penalty",
                                 "suppress_tokens",
                                 "begin_suppress_tokens",
                                 "_attn_implementation_autoset",
                                 "attn_implementation",
                                 "_attn_implementation",
                                 "reorder_and_upcast_attn",
                                 "pretraining_tp",
                                 "decoder",
                                 "gradient_checkpointing"};

}  // namespace

const HfReader::Json* HfReader::find(const std::string& key) {
  seen_.insert(key);
  const auto it = object_.find(key);
  return it == object_.end() || it->is_null() ? nullptr : &*it;
}

bool HfReader::is_null(const std::string& key) const {
  const auto it = object_.find(key);
  return it != object_.end() && it->is_null();
}

void HfReader::refuse(const std::string& key, const std::string& wrong) const {
  const auto it = object_.find(key);
  std::string value = it == object_.end() ? "" : it->dump(-1, ' ', false, Json::error_handler_t::replace);
  if (value.size() > 200) value = value.substr(0, 200) + "...";
  fail_user("{}: {}{}{} {}", name_, prefix_, key, value.empty() ? "" : " = " + value, wrong);
}

std::optional<int64_t> HfReader::integer(const std::string& key) {
  const Json* v = find(key);
  if (v == nullptr) return std::nullopt;
  if (!v->is_number_integer() || (v->is_number_unsigned() && v->get<uint64_t>() > INT64_MAX))
    refuse(key, "is not a whole number");
  return v->get<int64_t>();
}

int64_t HfReader::need_integer(const std::string& key) {
  const auto v = integer(key);
  if (!v) refuse(key, "is missing");
  return *v;
}

std::optional<double> HfReader::number(const std::string& key) {
  const Json* v = find(key);
  if (v == nullptr) return std::nullopt;
  if (!v->is_number() || !std::isfinite(v->get<double>())) refuse(key, "is not a finite number");
  return v->get<double>();
}

std::optional<bool> HfReader::boolean(const std::string& key) {
  const Json* v = find(key);
  if (v == nullptr) return std::nullopt;
  if (!v->is_boolean()) refuse(key, "is not true or false");
  return v->get<bool>();
}

std::optional<std::string> HfReader::word(const std::string& key) {
  const Json* v = find(key);
  if (v == nullptr) return std::nullopt;
  if (!v->is_string()) refuse(key, "is not a string");
  return v->get<std::string>();
}

void HfReader::only_boolean(const std::string& key, bool only) {
  if (boolean(key).value_or(only) != only) refuse(key, fmt::format("is not supported; only {} is", only));
}

void HfReader::only_number(const std::string& key, double only) {
  if (number(key).value_or(only) != only) refuse(key, fmt::format("is not supported; only {} is", only));
}

void HfReader::only_word(const std::string& key, const std::string& only) {
  if (word(key).value_or(only) != only) refuse(key, fmt::format("is not supported; only {} is", only));
}

HfReader HfReader::inner(const std::string& key, const Json& value) const {
  if (!value.is_object()) refuse(key, "is not an object");
  return HfReader(value, name_, key + ".");
}

void HfReader::pass_over_what_does_not_matter() {
  for (const char* key : kNoMatter) find(key);
}

void HfReader::refuse_the_rest() const {
  for (const auto& [key, value] : object_.items())
    if (seen_.count(key) == 0 && !value.is_null())
      refuse(key, "is not known here, so it may change what the model computes; remove it if it does not");
}

}  // namespace trireme
