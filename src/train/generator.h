// Text from a checkpoint, token by token, with a KV cache.
#pragma once
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "compile/compile.h"
#include "engine/engine.h"
#include "io/checkpoint/checkpoint.h"
#include "train/sampler.h"

namespace trireme {

class Generator {
 public:
  // Compiles the config for generation and loads the weights.
  Generator(const RunSpec& spec, const CheckpointReader& checkpoint, int threads);

  // Feeds tokens after those that were fed before; UserError past model.context. Returns the logits of the
  // last one, valid until the next call.
  std::span<const float> feed(std::span<const uint32_t> tokens);

  int64_t length() const { return length_; }
  int64_t context() const { return context_; }

 private:
  void run(const char* timeline, std::span<const uint32_t> tokens);

  int64_t context_;
  int64_t prefill_tokens_;
  Compiled compiled_;
  std::unique_ptr<Device> device_;
  std::optional<Engine> engine_;
  std::vector<float> logits_;
  std::vector<int32_t> tokens_, positions_;
  int64_t length_ = 0;  // tokens in the caches
};

// Prompt in, tokens out as they come, until `limit` new ones, end of text, or the end of the context.
void generate(Generator& generator, Sampler& sampler, std::span<const uint32_t> prompt, int64_t limit,
              std::optional<uint32_t> end_of_text, const std::function<void(uint32_t)>& on_token);

}  // namespace trireme
