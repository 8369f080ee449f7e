// `trireme data`: text files to token shards, and what a shard holds.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <memory>
#include <string>
#include <vector>

#include "base/error.h"
#include "cli/command.h"
#include "cli/limits.h"
#include "io/data/token_shard.h"
#include "io/data/tokenize.h"
#include "io/files/file_list.h"
#include "io/tokenizer/tokenizer.h"
#include "obs/progress.h"

namespace trireme::cli {
namespace {

struct TokenizeArguments {
  std::vector<std::string> files;
  std::string tokenizer, format = "auto", separator;
  bool split_lines = false;
  TokenizeOptions options;
};

struct InspectArguments {
  std::vector<std::string> shards;
  std::string tokenizer;
  int64_t eot = -1;
  int64_t vocab = 0;
  int64_t head_tokens = 64;
};

// "\n" and "\t" as a shell passes them, to the characters.
std::string unescape(const std::string& text) {
  std::string out;
  for (size_t i = 0; i < text.size(); ++i) {
    const char next = i + 1 < text.size() ? text[i + 1] : '\0';
    if (text[i] == '\\' && (next == 'n' || next == 't' || next == 'r' || next == '\\')) {
      out += next == 'n' ? '\n' : next == 't' ? '\t' : next == 'r' ? '\r' : '\\';
      ++i;
    } else {
      out += text[i];
    }
  }
  return out;
}

// Rewrites one line on stderr, from half a second on and twice a second; nothing where stderr is no terminal.
class Progress {
 public:
  void operator()(const TokenizeReport& report) {
    const auto now = Clock::now();
    if (!terminal_ || now - last_ < std::chrono::milliseconds(500)) return;
    last_ = now;
    const double seconds = seconds_since_start();
    std::fputs(fmt::format("\r{:.1f} MB, {} documents, {} tokens, {:.1f} MB/s ",
                           static_cast<double>(report.bytes) * 1e-6, report.documents, report.tokens,
                           static_cast<double>(report.bytes) * 1e-6 / seconds)
                   .c_str(),
               stderr);
    shown_ = true;
  }
  void end() const {
    if (shown_) std::fputs("\r\033[K", stderr);
  }
  double seconds_since_start() const { return std::chrono::duration<double>(Clock::now() - start_).count(); }

 private:
  using Clock = std::chrono::steady_clock;
  Clock::time_point start_ = Clock::now(), last_ = start_;
  bool terminal_ = progress_style_of(stderr) == ProgressStyle::redraw;
  bool shown_ = false;
};

void print_tokenized(const TokenizeOptions& o, const TokenizeReport& r, double seconds) {
  for (const Reject& reject : r.rejects) {
    std::fputs(fmt::format("rejected {}:{}: {}\n", reject.path, reject.line, reject.reason).c_str(), stderr);
  }
  if (r.rejected > static_cast<int64_t>(r.rejects.size())) {
    std::fputs(fmt::format("... and {} more rejected\n", r.rejected - static_cast<int64_t>(r.rejects.size()))
                   .c_str(),
               stderr);
  }
  const double megabytes = static_cast<double>(r.bytes) * 1e-6;
  fmt::print("read {} records ({:.1f} MB) in {} files: {} documents written, {} empty, {} rejected\n",
             r.records, megabytes, o.files.size(), r.documents, r.empty, r.rejected);
  fmt::print("{}.bin, {}.idx: {} documents, {} tokens of {}\n", o.out, o.out, r.documents - r.val_documents,
             r.tokens - r.val_tokens, o.vocab <= 65536 ? "u16" : "i32");
  if (!o.val_out.empty()) {
    fmt::print("{}.bin, {}.idx: {} documents, {} tokens\n", o.val_out, o.val_out, r.val_documents,
               r.val_tokens);
  }
  fmt::print("{:.3f} bytes of text per token, {:.2f} s, {:.1f} MB/s\n",
             static_cast<double>(r.text_bytes) / static_cast<double>(r.tokens), seconds, megabytes / seconds);
}

void check_arguments(const TokenizeArguments& a) {
  const TokenizeOptions& o = a.options;
  if (a.split_lines && !a.separator.empty()) fail_user("--split-lines and --separator exclude each other");
  if (o.val_out.empty() != (o.val_fraction == 0)) {
    fail_user(
        "--val-out and --val-fraction go together, for example --val-out shards/val --val-fraction 0.01");
  }
  if (!(o.val_fraction >= 0 && o.val_fraction < 1)) {
    fail_user("--val-fraction = {} is not in [0, 1)", o.val_fraction);
  }
  if (!o.val_out.empty() && o.val_out == o.out) fail_user("--out and --val-out are both {}", o.out);
}

int run_tokenize(TokenizeArguments& a) {
  check_arguments(a);
  TokenizeOptions& o = a.options;
  const Tokenizer tokenizer = load_tokenizer(a.tokenizer);
  o.files = expand_files(a.files, "FILE");
  o.vocab = vocab_size(tokenizer);
  o.eot = end_of_text(tokenizer);
  if (a.format != "auto") o.rules.kind = a.format == "jsonl" ? RecordKind::json_line : RecordKind::document;
  if (a.split_lines) o.rules.separator = "\n";
  if (!a.separator.empty()) o.rules.separator = unescape(a.separator);
  o.strip_carriage_return = a.split_lines;
  if (!o.eot) {
    std::fputs(
        fmt::format("{} has no end-of-text token: documents get none, their ends are in the index only\n",
                    a.tokenizer)
            .c_str(),
        stderr);
  }
  Progress progress;
  const TokenizeReport report = tokenize_files(
      o,
      [&tokenizer] {
        return EncodeFunction(
            [encoder = std::make_shared<Encoder>(tokenizer)](  // shared: std::function copies
                std::string_view text, std::vector<uint32_t>& ids) { encoder->encode(text, ids); });
      },
      [&progress](const TokenizeReport& r) { progress(r); });
  progress.end();
  print_tokenized(o, report, progress.seconds_since_start());
  return 0;
}

void print_head(const TokenShard& shard, const Tokenizer* tokenizer, int64_t head_tokens) {
  const int64_t count = std::min(head_tokens, shard.layout.count);
  std::vector<uint32_t> ids;
  std::string numbers;
  for (int64_t i = 0; i < count; ++i) {
    ids.push_back(static_cast<uint32_t>(token_at(shard.layout, i)));
    if (i < 16) numbers += fmt::format(" {}", token_at(shard.layout, i));
  }
  fmt::print("  first ids:{}{}\n", numbers, shard.layout.count > 16 ? " ..." : "");
  if (tokenizer) fmt::print("  first {} tokens as text:\n{}\n", count, decode(*tokenizer, ids));
}

// Prints what the shard is before its ids are checked, so that a refusal comes with its context.
void inspect(const std::string& path, const InspectArguments& a, const Tokenizer* tokenizer) {
  const TokenShard shard = open_shard(path);
  const ShardLayout& layout = shard.layout;
  const int64_t vocab = a.vocab > 0 ? a.vocab : tokenizer ? vocab_size(*tokenizer) : 0;
  int64_t eot = a.eot;
  if (eot < 0 && tokenizer) eot = end_of_text(*tokenizer) ? int64_t{*end_of_text(*tokenizer)} : -1;
  if (eot < 0) eot = prescribed_delimiter(layout.format);
  const ShardReport report = scan_shard(shard, eot);
  fmt::print("{}: {} format, {} tokens of {} ({} bytes)\n", path, name_of(layout.format), layout.count,
             name_of(layout.type), shard.data.bytes().size());
  if (report.documents >= 0) {
    fmt::print(
        "  documents: {} by {}, {} empty, {} to {} tokens, {:.1f} on average\n", report.documents,
        layout.has_documents ? "the index" : fmt::format("id {}", eot), report.empty_documents,
        report.shortest, report.longest,
        report.documents ? static_cast<double>(layout.count) / static_cast<double>(report.documents) : 0.0);
  } else {
    fmt::print("  documents: unknown; the format keeps no index (--tokenizer or --eot finds them)\n");
  }
  fmt::print("  ids: {} to {}", report.smallest_id, report.largest_id);
  fmt::print("{}\n", eot >= 0 ? fmt::format(", end of text ({}) {} times", eot, report.eot_count) : "");
  if (report.smallest_id < 0)
    fail_user("{} is no shard of token ids: its smallest id is {}", path, report.smallest_id);
  if (vocab > 0 && report.largest_id >= vocab) {
    fail_user("{}: its largest id {} is outside the vocabulary of {}; it was made with another tokenizer",
              path, report.largest_id, vocab);
  }
  if (layout.count > 0) print_head(shard, tokenizer, a.head_tokens);
}

int run_inspect(const InspectArguments& a) {
  std::unique_ptr<const Tokenizer> tokenizer;
  if (!a.tokenizer.empty()) tokenizer = std::make_unique<const Tokenizer>(load_tokenizer(a.tokenizer));
  for (const std::string& path : expand_shards(a.shards, "SHARD")) {
    inspect(path, a, tokenizer.get());
    std::fflush(stdout);
  }
  return 0;
}

void add_tokenize(CLI::App& data, Action& action) {
  CLI::App* command =
      data.add_subcommand("tokenize", "Text files to a token shard (Megatron .bin/.idx), on all cores");
  const auto a = std::make_shared<TokenizeArguments>();  // owned by the action and by the parser's bindings
  TokenizeOptions& o = a->options;
  command
      ->add_option("FILE", a->files,
                   "Text or .jsonl files, also .gz or .zst; names or globs, read in sorted order")
      ->required();
  command
      ->add_option("--tokenizer", a->tokenizer, "tokenizer.json, or another file that `tokenizer info` reads")
      ->required();
  command->add_option("--out", o.out, "PREFIX: writes PREFIX.bin and PREFIX.idx")->required();
  command->add_option("--val-out", o.val_out, "PREFIX of a validation shard; needs --val-fraction");
  command->add_option("--val-fraction", o.val_fraction,
                      "Share of the documents that go to --val-out, in (0, 1)");
  command->add_option("--seed", o.seed, "Chooses the documents that go to --val-out")->capture_default_str();
  command->add_option("--format", a->format, "auto: .jsonl and .ndjson are JSON lines, all else is text")
      ->check(CLI::IsMember({"auto", "text", "jsonl"}))
      ->capture_default_str();
  command->add_option("--key", o.json_key, "JSON lines: the key of the text")->capture_default_str();
  command->add_flag("--split-lines", a->split_lines,
                    "Text: every line is a document (default: every file is one)");
  command->add_option("--separator", a->separator,
                      "Text: what stands between documents, for example '\\n<|endoftext|>\\n'");
  command->add_option("--threads", o.threads, "0: all cores; the shards do not depend on it")
      ->check(at_least(0))
      ->capture_default_str();
  command->footer(
      "Each document ends with the tokenizer's end-of-text id. Empty documents are counted and left out; "
      "lines\n"
      "that are no JSON object with the key are reported with their number, counted and left out.\n\n"
      "Example: trireme data tokenize --tokenizer tokenizer.json --out shards/train --val-out shards/val \\\n"
      "           --val-fraction 0.02 'texts/*.txt' corpus.jsonl.zst");
  command->callback([a, &action] { action = [a] { return run_tokenize(*a); }; });
}

void add_inspect(CLI::App& data, Action& action) {
  CLI::App* command = data.add_subcommand("inspect", "Says what a token shard is and checks the whole of it");
  const auto a = std::make_shared<InspectArguments>();  // owned by the action and by the parser's bindings
  command
      ->add_option("SHARD", a->shards,
                   "llm.c .bin, Megatron .bin or .idx, datatrove .ds, .u16, .u32; or globs")
      ->required();
  command->add_option("--tokenizer", a->tokenizer,
                      "Shows the first tokens as text; ids outside it are refused");
  command->add_option("--vocab", a->vocab, "Ids from this on are refused (default: the tokenizer's size)")
      ->check(at_least(1));
  command->add_option("--eot", a->eot, "The id that delimits documents in formats without an index")
      ->check(at_least(0));
  command->add_option("--head", a->head_tokens, "How many tokens to show as text")
      ->check(at_least(0))
      ->capture_default_str();
  command->footer("Example: trireme data inspect shards/train.bin --tokenizer tokenizer.json");
  command->callback([a, &action] { action = [a] { return run_inspect(*a); }; });
}

}  // namespace

void add_data(CLI::App& app, Action& action) {
  CLI::App* data = app.add_subcommand("data", "Makes token shards from text, and looks into shards");
  data->require_subcommand(1);
  data->footer("Example: trireme data tokenize --tokenizer tokenizer.json --out shards/train 'texts/*.txt'");
  add_tokenize(*data, action);
  add_inspect(*data, action);
}

}  // namespace trireme::cli
