// `trireme generate`: text from a checkpoint, streamed to the terminal.
#include <CLI/CLI.hpp>
#include <cstdio>
#include <memory>
#include <string>
#include <vector>

#include "base/error.h"
#include "cli/command.h"
#include "cli/limits.h"
#include "cli/overrides.h"
#include "cli/store_environment.h"
#include "train/generator.h"
#include "train/machine.h"
#include "train/open_run.h"

namespace trireme::cli {
namespace {

struct Options {
  std::string run, prompt;
  int64_t tokens = 128;
  SamplerOptions sampler;
  std::vector<std::string> overrides;
};

std::vector<uint32_t> prompt_tokens(const Tokenizer& tokenizer, const std::string& prompt) {
  std::vector<uint32_t> ids;
  Encoder(tokenizer).encode(prompt, ids);
  // An empty prompt starts a document.
  if (ids.empty()) {
    const auto eot = end_of_text(tokenizer);
    if (!eot)
      fail_user("--prompt is empty and the tokenizer has no end-of-text token to start from: give a prompt");
    ids.push_back(*eot);
  }
  return ids;
}

int run(const Options& options) {
  Log log(LogOptions{.terminal_level = LogLevel::warn});
  const OpenRun run = open_run(options.run, options.overrides, s3_options_from_environment(), log);
  if (!run.tokenizer) fail_user("{} has no tokenizer: give --set data.tokenizer=tokenizer.json", options.run);
  const Tokenizer& tokenizer = *run.tokenizer;
  const std::vector<uint32_t> prompt = prompt_tokens(tokenizer, options.prompt);
  Generator generator(run.spec, run.checkpoint.reader, thread_count(run.spec));
  if (static_cast<int64_t>(prompt.size()) > generator.context())
    fail_user("--prompt has {} tokens, but model.context = {}: shorten it", prompt.size(),
              generator.context());
  Sampler sampler(options.sampler);
  std::fputs(options.prompt.c_str(), stdout);
  std::fflush(stdout);
  generate(generator, sampler, prompt, options.tokens, end_of_text(tokenizer), [&](uint32_t id) {
    if (id >= vocab_size(tokenizer)) return;  // a row of the model beyond the tokenizer's ids has no text
    const std::string_view bytes = token_bytes(tokenizer, id);
    std::fwrite(bytes.data(), 1, bytes.size(), stdout);
    std::fflush(stdout);
  });
  std::fputc('\n', stdout);
  return 0;
}

}  // namespace

void add_generate(CLI::App& app, Action& action) {
  CLI::App* command =
      app.add_subcommand("generate", "Continues a prompt with the newest checkpoint of a run");
  const auto options = std::make_shared<Options>();  // owned by the callback and by the parser's bindings
  command->add_option("RUN", options->run, "a run's folder, one of its checkpoints, or a config")->required();
  command->add_option("--prompt", options->prompt, "text to continue; empty: a new document");
  command->add_option("--tokens", options->tokens, "new tokens at most")
      ->capture_default_str()
      ->check(at_least(1));
  command->add_option("--temperature", options->sampler.temperature, "0: always the likeliest token")
      ->capture_default_str()
      ->check(at_least(0));
  command->add_option("--top-k", options->sampler.top_k, "only the k likeliest; 0: all")
      ->capture_default_str()
      ->check(at_least(0));
  command->add_option("--top-p", options->sampler.top_p, "only the likeliest that reach p together")
      ->capture_default_str()
      ->check(CLI::Range(0.0, 1.0));
  command->add_option("--seed", options->sampler.seed, "same seed, same text")->capture_default_str();
  add_overrides(*command, options->overrides);
  command->footer(
      "Example: trireme generate runs/demo --prompt 'The open function' --temperature 0.8 --top-p 0.95");
  command->callback([options, &action] { action = [options] { return run(*options); }; });
}

}  // namespace trireme::cli
