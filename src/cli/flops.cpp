// `trireme flops`: what a token costs to train on.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <memory>
#include <optional>
#include <string>

#include "base/error.h"
#include "cli/answer_output.h"
#include "cli/command.h"
#include "cli/model_options.h"
#include "model/flops.h"
#include "plan/calculators/human_number.h"

namespace trireme::cli {
namespace {

struct Options {
  ModelOptions model;
  std::optional<std::string> tokens;
  AnswerForm form = AnswerForm::text;
};

AnswerSection parameter_section(const RunSpec& spec) {
  const Model model = whole_model(spec);
  AnswerSection section{"Parameters", {}};
  const auto add = [&](const char* key, const char* label, int64_t value) {
    Worked result = worked_number({.key = key, .label = label, .value = static_cast<double>(value)});
    result.shown = fmt::format("{}", value);
    section.results.push_back(std::move(result));
  };
  add("parameters", "all", parameter_count(model));
  if (spec.model.moe.experts > 0)
    add("active_parameters", "that a token uses", active_parameters(spec.model, model));
  add("matmul_parameters", "N_matmul, in a token's products", matmul_parameters(spec.model, model));
  return section;
}

Worked total_flops(const TokenFlops& flops, double tokens, const char* key, const char* label) {
  return worked_number({.key = key,
                        .label = label,
                        .value = flops.all() * tokens,
                        .unit = "FLOP",
                        .formula = "F * tokens",
                        .numbers = fmt::format("{} * {}", plain(flops.all()), plain(tokens))});
}

int run(const Options& options) {
  const GivenModel model = read_model(options.model);
  Answer answer;
  if (model.spec) answer.sections.push_back(parameter_section(*model.spec));
  AnswerSection section{"Training FLOPs, forward and backward (Chowdhery et al. 2022, appendix B)", {}};
  section.results.push_back(worked_number({.key = "flops_per_token",
                                           .label = "F, a token",
                                           .value = model.flops.all(),
                                           .unit = "FLOP",
                                           .formula = model.flops.formula,
                                           .numbers = model.flops.numbers}));
  section.results.push_back(worked_fraction(
      {.key = "attention_share",
       .label = "attention's share",
       .value = model.flops.attention / model.flops.all(),
       .formula = "the second term / F",
       .numbers = fmt::format("{} / {}", plain(model.flops.attention), plain(model.flops.all()))}));
  if (model.spec)
    section.results.push_back(total_flops(model.flops, static_cast<double>(tokens_per_step(*model.spec)),
                                          "flops_per_step", "a step"));
  if (options.tokens)
    section.results.push_back(
        total_flops(model.flops, read_number("--tokens", *options.tokens), "flops_total", "the run"));
  answer.sections.push_back(std::move(section));
  answer.notes.push_back(
      "Attention counts the whole square, as MFU is stated; recomputation is not counted.");
  if (model.flops.attention == 0)
    answer.notes.push_back("Attention's FLOPs are not in it: give --layers, --width and --seq.");
  print_answer(answer, options.form);
  return 0;
}

}  // namespace

void add_flops(CLI::App& app, Action& action) {
  CLI::App* command = app.add_subcommand("flops", "FLOPs per token: 6 N_matmul + 12 L d T");
  const auto options = std::make_shared<Options>();  // owned by the callback and by the parser's bindings
  add_model_options(*command, options->model);
  command->add_option("--tokens", options->tokens, "of the whole run, as 1T");
  add_json(*command, options->form);
  command->footer(
      "Example: trireme flops configs/gpt2-124m.toml\n"
      "         trireme flops --params 7B --layers 32 --width 4096 --seq 4096 --tokens 1T");
  command->callback([options, &action] { action = [options] { return run(*options); }; });
}

}  // namespace trireme::cli
