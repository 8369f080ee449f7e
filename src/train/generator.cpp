// Full chunks of the prompt by "prefill", the rest and every new token by "decode".
#include "train/generator.h"

#include <algorithm>
#include <array>

#include "base/error.h"
#include "train/machine.h"
#include "train/weights.h"

namespace trireme {

Generator::Generator(const RunSpec& spec, const CheckpointReader& checkpoint, int threads)
    : context_(spec.model.context), prefill_tokens_(std::min<int64_t>(64, spec.model.context)) {
  CompileOptions options;
  options.purpose = Purpose::generation;
  options.threads = threads;
  options.prefill_tokens = prefill_tokens_;
  compiled_ = compile(spec, options);
  device_ = open_device(spec, threads);
  engine_.emplace(compiled_.program, *device_);
  restore_state(*engine_, checkpoint);
  engine_->run(*find_timeline(compiled_.program, "weights"), {});
  logits_.resize(static_cast<size_t>(spec.model.vocab));
}

void Generator::run(const char* timeline, std::span<const uint32_t> tokens) {
  // The fields are as long as a prefill chunk; a decode step fills the first of each.
  tokens_.assign(static_cast<size_t>(prefill_tokens_), 0);
  positions_.assign(static_cast<size_t>(prefill_tokens_), 0);
  for (size_t i = 0; i < tokens.size(); ++i) {
    tokens_[i] = static_cast<int32_t>(tokens[i]);
    positions_[i] = static_cast<int32_t>(length_) + static_cast<int32_t>(i);
  }
  const auto length = static_cast<int32_t>(length_);
  BatchArrays arrays;
  for (const BatchField& field : compiled_.program.batch) {
    if (field.name == "tokens")
      arrays.push_back(tokens_.data());
    else if (field.name == "positions")
      arrays.push_back(positions_.data());
    else
      arrays.push_back(&length);
  }
  engine_->run(*find_timeline(compiled_.program, timeline), std::array{arrays});
  length_ += static_cast<int64_t>(tokens.size());
}

std::span<const float> Generator::feed(std::span<const uint32_t> tokens) {
  CHECK(!tokens.empty(), "nothing to feed");
  if (length_ + static_cast<int64_t>(tokens.size()) > context_)
    fail_user("{} tokens do not fit into model.context = {}", length_ + static_cast<int64_t>(tokens.size()),
              context_);
  const auto chunk = static_cast<size_t>(prefill_tokens_);
  for (; tokens.size() >= chunk && chunk > 1; tokens = tokens.subspan(chunk))
    run("prefill", tokens.first(chunk));
  for (const uint32_t& token : tokens) run("decode", std::span(&token, 1));
  engine_->read_buffer(compiled_.program.result, logits_.data(),
                       static_cast<int64_t>(logits_.size() * sizeof(float)));
  return logits_;
}

void generate(Generator& generator, Sampler& sampler, std::span<const uint32_t> prompt, int64_t limit,
              std::optional<uint32_t> end_of_text, const std::function<void(uint32_t)>& on_token) {
  std::span<const float> logits = generator.feed(prompt);
  for (int64_t i = 0; i < limit; ++i) {
    const uint32_t token = sampler.sample(logits, i);
    if (token == end_of_text) return;
    on_token(token);
    if (generator.length() == generator.context() || i + 1 == limit) return;
    logits = generator.feed(std::span(&token, 1));
  }
}

}  // namespace trireme
