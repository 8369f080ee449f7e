// `trireme tokenizer train|encode|decode|info`: files, ids and bytes in and out; the work is in io/tokenizer.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cerrno>
#include <charconv>
#include <chrono>
#include <cstdio>
#include <memory>
#include <string>
#include <vector>

#include "base/error.h"
#include "cli/command.h"
#include "io/files/file_list.h"
#include "io/files/whole_file.h"
#include "io/tokenizer/tokenizer.h"

namespace trireme::cli {
namespace {

// What the subcommands that read a tokenizer share.
struct Source {
  std::string path;
  std::string pattern;                // of a rank file; empty: guess
  std::vector<std::string> specials;  // of a rank file
};

void add_source(CLI::App& command, Source& source) {
  command
      .add_option("TOKENIZER", source.path,
                  "tokenizer.json, a tiktoken rank file, vocab.bpe or encoder.json, or a folder with one")
      ->required();
  command.add_option("--pattern", source.pattern,
                     "Split pattern of a rank file: gpt2, cl100k, o200k, llama3 or a regular expression");
  command
      .add_option("--special", source.specials,
                  "Special token of a rank file, with the next id; may be repeated")
      ->expected(1)
      ->take_all();
}

Tokenizer load(const Source& source) {
  LoadOptions options;
  if (!source.pattern.empty()) options.pattern = source.pattern;
  if (!source.specials.empty()) options.specials = source.specials;
  return load_tokenizer(source.path, options);
}

// The bytes of a file; of standard input for "-".
std::string read_input(const std::string& path) {
  return path == "-" ? read_stream(stdin, "standard input") : read_whole_file(path);
}

void print(std::string_view text) {
  if (std::fwrite(text.data(), 1, text.size(), stdout) != text.size() || std::fflush(stdout) != 0) {
    fail_env("{}", with_errno("cannot write to standard output"));
  }
}

struct TrainRequest {
  TrainOptions options;
  std::string out = "tokenizer.json";
  std::vector<std::string> files;
};

int run_train(const TrainRequest& request) {
  const auto start = std::chrono::steady_clock::now();
  const std::vector<std::string> files = expand_files(request.files, "FILE");
  const Tokenizer tokenizer = train_tokenizer(files, request.options);
  save_tokenizer(tokenizer, request.out);
  const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - start;
  fmt::print("{}: {} tokens ({} merges, {} special) from {} file(s) in {:.1f} s\n", request.out,
             vocab_size(tokenizer), tokenizer.merges.size(), tokenizer.specials.size(), files.size(),
             seconds.count());
  if (vocab_size(tokenizer) < request.options.vocab_size) {
    fmt::print("Note: {} tokens were asked for; no further pair occurs {} times in this text.\n",
               request.options.vocab_size, request.options.min_count);
  }
  return 0;
}

void add_train_command(CLI::App& parent, Action& action) {
  CLI::App* command = parent.add_subcommand("train", "Trains a byte-level BPE vocabulary on text files");
  const auto request = std::make_shared<TrainRequest>();  // also owned by the parser's bindings
  command->add_option("FILE", request->files, "Text files; names or globs, read in sorted order")->required();
  command
      ->add_option("--vocab", request->options.vocab_size, "Tokens in all, bytes and special tokens included")
      ->capture_default_str();
  command->add_option("--pattern", request->options.pattern, "Split pattern: gpt2, cl100k, o200k or llama3")
      ->capture_default_str();
  command->add_option("--out", request->out, "File to write")->capture_default_str();
  command
      ->add_option("--special", request->options.specials,
                   "Special token; may be repeated; the first ends a document")
      ->expected(1)
      ->take_all()
      ->capture_default_str();
  command->add_option("--min-count", request->options.min_count, "Least count of a pair to be merged")
      ->capture_default_str();
  command->add_option("--threads", request->options.threads, "Threads; 0: all cores. The result is the same")
      ->capture_default_str();
  command->footer(
      "Example: trireme tokenizer train --vocab 8192 --pattern gpt2 --out tokenizer.json books/*.txt");
  command->callback([request, &action] { action = [request] { return run_train(*request); }; });
}

struct EncodeRequest {
  Source source;
  std::string file = "-";
  std::string text;
  bool specials = false;
};

int run_encode(const EncodeRequest& request) {
  const Tokenizer tokenizer = load(request.source);
  const std::string text = request.text.empty() ? read_input(request.file) : request.text;
  std::vector<uint32_t> ids;
  Encoder encoder(tokenizer);
  if (request.specials) {
    encoder.encode_with_specials(text, ids);
  } else {
    encoder.encode(text, ids);
  }
  print(fmt::format("{}\n", fmt::join(ids, " ")));
  return 0;
}

void add_encode_command(CLI::App& parent, Action& action) {
  CLI::App* command = parent.add_subcommand("encode", "Prints the ids of a text, read as one document");
  const auto request = std::make_shared<EncodeRequest>();  // also owned by the parser's bindings
  add_source(*command, request->source);
  command->add_option("FILE", request->file, "Text file; - is standard input")->capture_default_str();
  command->add_option("--text", request->text, "The text itself, in place of a file");
  command->add_flag("--with-specials", request->specials,
                    "Text that spells a special token becomes that token");
  command->footer("Example: trireme tokenizer encode tokenizer.json --text 'Hello, world!'");
  command->callback([request, &action] { action = [request] { return run_encode(*request); }; });
}

struct DecodeRequest {
  Source source;
  std::vector<uint32_t> ids;
};

// Ids from standard input, apart by white space or commas.
std::vector<uint32_t> read_ids() {
  const std::string text = read_input("-");
  std::vector<uint32_t> ids;
  constexpr std::string_view kBetween = " \t\r\n,";
  for (size_t at = text.find_first_not_of(kBetween); at < text.size();) {
    const size_t end = std::min(text.find_first_of(kBetween, at), text.size());
    uint32_t id = 0;
    const auto parsed = std::from_chars(text.data() + at, text.data() + end, id);
    if (parsed.ec != std::errc() || parsed.ptr != text.data() + end) {
      fail_user("{} on standard input is no token id; give whole numbers apart by spaces",
                text.substr(at, end - at));
    }
    ids.push_back(id);
    at = text.find_first_not_of(kBetween, end);
  }
  return ids;
}

int run_decode(const DecodeRequest& request) {
  const Tokenizer tokenizer = load(request.source);
  print(decode(tokenizer, request.ids.empty() ? read_ids() : request.ids));
  return 0;
}

void add_decode_command(CLI::App& parent, Action& action) {
  CLI::App* command = parent.add_subcommand("decode", "Writes the bytes that ids stand for");
  const auto request = std::make_shared<DecodeRequest>();  // also owned by the parser's bindings
  add_source(*command, request->source);
  command->add_option("ID", request->ids, "Token ids; none: read from standard input");
  command->footer(
      "Example: trireme tokenizer encode tokenizer.json a.txt | trireme tokenizer decode tokenizer.json");
  command->callback([request, &action] { action = [request] { return run_decode(*request); }; });
}

struct InfoRequest {
  Source source;
  std::string save;
};

int run_info(const InfoRequest& request) {
  const Tokenizer tokenizer = load(request.source);
  size_t longest = 0;
  for (const std::string& token : tokenizer.tokens) longest = std::max(longest, token.size());
  const std::optional<uint32_t> end = end_of_text(tokenizer);
  std::string text = fmt::format("vocabulary     {} ids\nmerges         {}\nlongest token  {} bytes\n",
                                 vocab_size(tokenizer), tokenizer.merges.size(), longest);
  text += fmt::format("split pattern  {}  {}\n", split_kind_name(tokenizer.pattern.kind),
                      tokenizer.pattern.regex);
  text += fmt::format("whole pieces   {}\n",
                      tokenizer.ignore_merges ? "a piece that is a token is taken whole" : "by merges alone");
  text += fmt::format("end of text    {}\n", end ? std::to_string(*end) : "none");
  for (const SpecialToken& special : tokenizer.specials) {
    text += fmt::format("special        {} {}\n", special.id, special.content);
  }
  print(text);
  if (!request.save.empty()) save_tokenizer(tokenizer, request.save);
  return 0;
}

void add_info_command(CLI::App& parent, Action& action) {
  CLI::App* command =
      parent.add_subcommand("info", "Says what a tokenizer is; converts it to tokenizer.json");
  const auto request = std::make_shared<InfoRequest>();  // also owned by the parser's bindings
  add_source(*command, request->source);
  command->add_option("--save", request->save, "Also write it as a Hugging Face tokenizer.json");
  command->footer("Example: trireme tokenizer info cl100k_base.tiktoken --save tokenizer.json");
  command->callback([request, &action] { action = [request] { return run_info(*request); }; });
}

}  // namespace

void add_tokenizer(CLI::App& app, Action& action) {
  CLI::App* tokenizer =
      app.add_subcommand("tokenizer", "Trains, applies and describes byte-level BPE tokenizers");
  tokenizer->require_subcommand(1);
  tokenizer->footer("Example: trireme tokenizer info tokenizer.json");
  add_train_command(*tokenizer, action);
  add_encode_command(*tokenizer, action);
  add_decode_command(*tokenizer, action);
  add_info_command(*tokenizer, action);
}

}  // namespace trireme::cli
