// `trireme ckpt export` and `import`: weights to other projects' files and back.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <memory>
#include <string>

#include "base/error.h"
#include "cli/ckpt_command.h"
#include "exchange/export_hf.h"
#include "exchange/export_llmc.h"
#include "exchange/import_run.h"

namespace trireme::cli {
namespace {

struct ExportOptions {
  std::string run, place;
  std::vector<std::string> to;
  std::string dtype = "f32";
  int64_t max_shard_bytes = HfExport{}.max_shard_bytes;
  int32_t version = 3;
};

int export_weights(const ExportOptions& options) {
  const SavedRun run = open_saved_run(options.run);
  const std::string& kind = options.to.at(0);
  const std::string& place = options.to.at(1);
  ExportReport done;
  if (kind == "hf") {
    HfExport hf{.max_shard_bytes = options.max_shard_bytes};
    hf.dtype = options.dtype == "bf16" ? DType::bf16 : DType::f32;
    done = export_hf(run, place, hf);
  } else if (kind == "llmc") {
    done = export_llmc(run, place, options.version);
  } else {
    fail_user("--to {} is not known; hf and llmc are", kind);
  }
  fmt::print("{} -> {}: {} tensors, {} bytes, in {} file{}{}\n", run.reader.location(), place, done.tensors,
             done.bytes, done.files, done.files == 1 ? "" : "s",
             kind == "llmc"   ? ""
             : done.tokenizer ? ", with its tokenizer"
                              : "; the run has no tokenizer");
  return 0;
}

struct ImportArguments {
  std::vector<std::string> from;
  std::string run, config;
};

WeightSource source_named(const std::string& name) {
  for (const WeightSource source : {WeightSource::hf, WeightSource::llmc, WeightSource::torch_dcp})
    if (name == name_of(source)) return source;
  fail_user("--from {} is not known; hf, llmc and torch-dcp are", name);
}

int import_weights(const ImportArguments& arguments) {
  ImportOptions options{.source = source_named(arguments.from.at(0)), .from = arguments.from.at(1)};
  options.on_note = [](const std::string& note) { fmt::print("{}\n", note); };
  if (!arguments.config.empty()) options.config = arguments.config;
  const ImportReport done = import_run(options, arguments.run);
  fmt::print("{} -> {}: {} tensors, {} elements\n", options.from, done.checkpoint, done.tensors,
             done.elements);
  if (!done.no_tokenizer.empty()) fmt::print("no tokenizer: {}\n", done.no_tokenizer);
  return 0;
}

void add_export(CLI::App& ckpt, Action& action) {
  const auto options = std::make_shared<ExportOptions>();  // shared by the parser's bindings and the action
  CLI::App* command =
      ckpt.add_subcommand("export", "Writes a checkpoint's weights as another project has them");
  command
      ->add_option("RUN|CKPT", options->run,
                   "A run's folder, whose newest checkpoint is taken, or a checkpoint")
      ->required();
  command->add_option("--to", options->to, "hf FOLDER (transformers), or llmc FILE (llm.c's GPT-2)")
      ->required()
      ->expected(2)
      ->type_name("KIND PLACE");
  command->add_option("--dtype", options->dtype, "hf: of the weights")
      ->check(CLI::IsMember({"bf16", "f32"}))
      ->capture_default_str();
  command->add_option("--max-shard-bytes", options->max_shard_bytes, "hf: of the tensors in a file")
      ->check(CLI::Range(int64_t{1}, int64_t{1} << 60))
      ->capture_default_str();
  command->add_option("--version", options->version, "llmc: 3 is f32, 5 is bf16")
      ->check(CLI::IsMember({3, 5}))
      ->capture_default_str();
  command->footer("Example: trireme ckpt export runs/demo --to hf exported --dtype bf16");
  command->callback([options, &action] { action = [options] { return export_weights(*options); }; });
}

void add_import(CLI::App& ckpt, Action& action) {
  const auto options = std::make_shared<ImportArguments>();  // shared by the parser's bindings and the action
  CLI::App* command = ckpt.add_subcommand("import", "Makes a run of weights that another project saved");
  command
      ->add_option("--from", options->from,
                   "hf FOLDER (transformers), llmc FILE (llm.c's GPT-2), or torch-dcp FOLDER")
      ->required()
      ->expected(2)
      ->type_name("KIND PLACE");
  command->add_option("--out", options->run, "The run's folder, which must not be there")->required();
  command->add_option("--config", options->config,
                      "A config for the run; [model] must be that of the weights");
  command->footer(
      "To train on, name the run, or the weights themselves, in model.init_from of a config.\n"
      "Example: trireme ckpt import --from hf gpt2 --out runs/gpt2");
  command->callback([options, &action] { action = [options] { return import_weights(*options); }; });
}

}  // namespace

void add_ckpt_exchange(CLI::App& ckpt, Action& action) {
  add_export(ckpt, action);
  add_import(ckpt, action);
}

}  // namespace trireme::cli
