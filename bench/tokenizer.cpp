// Tokenizer throughput on one core: encoding text, the hardest long lines, decoding, and training.
//
//   bench_tokenizer [TEXT [TOKENIZER]]
//
// Without TEXT, made-up words with a natural spread of frequencies stand in; without TOKENIZER, one of 32,768
// tokens is trained on the text. tests/golden/tokenizer/speed.py sets tiktoken beside it, in the same run.
#include <benchmark/benchmark.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cmath>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "base/error.h"
#include "io/tokenizer/split.h"
#include "io/tokenizer/tokenizer.h"

namespace trireme {
namespace {

constexpr size_t kTextBytes = 8 << 20;
constexpr size_t kLineBytes = 50'000'000;

class Draws {
 public:
  uint64_t next() {
    state_ ^= state_ << 13;
    state_ ^= state_ >> 7;
    return state_ ^= state_ << 17;
  }
  double unit() { return static_cast<double>(next() >> 11) * 0x1p-53; }

 private:
  uint64_t state_ = 88172645463325252u;
};

// Words of a vocabulary of about 60,000, the r-th about 1/r as often as the first, in sentences and
// paragraphs.
std::string made_up_text(size_t bytes) {
  constexpr std::string_view kLetters = "eeeeetttaaaooiinnsshhrrdlcumwfgypbvk";
  std::vector<std::string> words(60'000);
  Draws draws;
  for (size_t i = 0; i < words.size(); ++i) {
    const size_t length = 2 + draws.next() % 4 + i / 10'000;
    while (words[i].size() < length) words[i] += kLetters[draws.next() % kLetters.size()];
  }
  std::string text;
  while (text.size() < bytes) {
    text += words[static_cast<size_t>(std::exp(draws.unit() * std::log(double(words.size())))) - 1];
    const uint64_t draw = draws.next() % 64;
    text += draw == 0 ? ".\n\n" : draw < 5 ? ". " : draw < 9 ? ", " : draw == 9 ? " 1984 " : " ";
  }
  return text;
}

std::string read_text(const char* path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) fail_env("cannot open {}", path);
  return {std::istreambuf_iterator<char>(file), {}};
}

struct Subject {
  std::string text;
  std::string text_path;
  Tokenizer tokenizer;
};

void encode(benchmark::State& state, const Tokenizer& tokenizer, const std::string& text) {
  Encoder encoder(tokenizer);
  std::vector<uint32_t> ids;
  for (auto _ : state) {
    ids.clear();
    encoder.encode(text, ids);
  }
  state.SetBytesProcessed(static_cast<int64_t>(text.size()) * state.iterations());
  state.counters["bytes/token"] = static_cast<double>(text.size()) / static_cast<double>(ids.size());
}

std::string random_letters() {
  Draws draws;
  std::string line;
  while (line.size() < kLineBytes) line += static_cast<char>('a' + draws.next() % 26);
  return line;
}

void register_all(const Subject& subject) {
  using benchmark::kMillisecond;
  using benchmark::RegisterBenchmark;
  const Tokenizer& tokenizer = subject.tokenizer;
  RegisterBenchmark("encode/text", [&](auto& state) {
    encode(state, tokenizer, subject.text);
  })->Unit(kMillisecond);
  RegisterBenchmark("encode/50MB_of_spaces",
                    [&](auto& state) { encode(state, tokenizer, std::string(kLineBytes, ' ')); })
      ->Unit(kMillisecond)
      ->Iterations(1);
  RegisterBenchmark("encode/50MB_of_random_letters",
                    [&](auto& state) { encode(state, tokenizer, random_letters()); })
      ->Unit(kMillisecond)
      ->Iterations(1);
  for (const char* name : {"gpt2", "cl100k", "o200k", "llama3"}) {
    RegisterBenchmark(fmt::format("split/{}", name).c_str(), [&subject, name](auto& state) {
      const Splitter splitter(split_pattern(name));
      size_t pieces = 0;
      for (auto _ : state) splitter.split(subject.text, [&](std::string_view) { ++pieces; });
      benchmark::DoNotOptimize(pieces);
      state.SetBytesProcessed(static_cast<int64_t>(subject.text.size()) * state.iterations());
    })->Unit(kMillisecond);
  }
  RegisterBenchmark("decode/text", [&](auto& state) {
    std::vector<uint32_t> ids;
    Encoder(tokenizer).encode(subject.text, ids);
    for (auto _ : state) benchmark::DoNotOptimize(decode(tokenizer, ids));
    state.SetBytesProcessed(static_cast<int64_t>(subject.text.size()) * state.iterations());
  })->Unit(kMillisecond);
  RegisterBenchmark("train/32768_one_thread",
                    [&](auto& state) {
                      TrainOptions options;
                      options.threads = 1;
                      for (auto _ : state)
                        benchmark::DoNotOptimize(train_tokenizer({&subject.text_path, 1}, options));
                      state.SetBytesProcessed(static_cast<int64_t>(subject.text.size()) * state.iterations());
                    })
      ->Unit(kMillisecond)
      ->Iterations(1);
}

int run(int argc, char** argv) {
  Subject subject;
  subject.text = argc > 1 ? read_text(argv[1]) : made_up_text(kTextBytes);
  const auto made = std::filesystem::temp_directory_path() / fmt::format("trireme_bench_{}.txt", getpid());
  subject.text_path = argc > 1 ? argv[1] : made.string();
  if (argc <= 1) std::ofstream(made, std::ios::binary) << subject.text;
  subject.tokenizer =
      argc > 2 ? load_tokenizer(argv[2]) : train_tokenizer({&subject.text_path, 1}, TrainOptions{});
  register_all(subject);
  benchmark::RunSpecifiedBenchmarks();
  if (argc <= 1) std::filesystem::remove(made);
  return 0;
}

}  // namespace
}  // namespace trireme

int main(int argc, char** argv) {
  benchmark::Initialize(&argc, argv);
  try {
    return trireme::run(argc, argv);
  } catch (const trireme::EnvError& error) {
    fmt::print(stderr, "{}\n", error.what());
    return 3;
  } catch (const trireme::UserError& error) {
    fmt::print(stderr, "{}\n", error.what());
    return 2;
  }
}
