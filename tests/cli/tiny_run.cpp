// Data from counter-based random numbers: words out of a small list, so that there is something to learn.
#include "cli/tiny_run.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "base/random.h"
#include "io/checkpoint/checkpoint.h"
#include "io/checkpoint/checksum.h"
#include "io/store/directory_store.h"

namespace trireme {
namespace {

constexpr const char* kConfig = R"([model]
family = "gpt2"
layers = 2
width = 64
heads = 4
vocab = 257
context = 64
[data]
train = ["shards/train.u16"]
val = ["shards/val.u16"]
seq_len = 64
tokenizer = "tokenizer.json"
log_samples = true
[batch]
sequences = 4
micro = 2
[optimizer]
lr = 1e-3
[lr]
kind = "cosine"
warmup_steps = 2
[checkpoint]
every_steps = 4
keep = 3
[eval]
every_steps = 3
sequences = 5
[run]
name = "tiny"
steps = 12
device = "cpu"
threads = 1
peak_flops = 1e12
)";

std::string shard(uint64_t seed, int64_t tokens) {
  const RandomStream random(seed, "test/words");
  std::string bytes;
  const auto put = [&](uint32_t id) {
    bytes.push_back(static_cast<char>(id & 255));
    bytes.push_back(static_cast<char>(id >> 8));
  };
  uint64_t draw = 0;
  while (static_cast<int64_t>(bytes.size()) < 2 * tokens) {
    const auto word = static_cast<uint32_t>(random.uniform(draw++) * 40);
    for (uint32_t i = 0; i < 2 + word % 5; ++i) put((97 + word * 7 + i * i * 3) % 251);
    put(random.uniform(draw++) < 0.08 ? 256 : 32);
  }
  bytes.resize(static_cast<size_t>(2 * tokens));
  return bytes;
}

}  // namespace

Settings overlaid(Settings base, const Settings& more) {
  for (const auto& [key, value] : more) base[key] = value;
  return base;
}

TinyRun::TinyRun() {
  write_bytes(folder_ / "config.toml", kConfig);
  write_bytes(folder_ / "shards/train.u16", shard(1, 5000));
  write_bytes(folder_ / "shards/val.u16", shard(2, 700));
  write_bytes(folder_ / "text.txt", "some text to count\n");
  run({"tokenizer", "train", "text.txt", "--vocab", "257", "--out", "tokenizer.json"});
}

Arguments TinyRun::train_arguments(const Settings& settings, const Arguments& more) {
  Arguments arguments = {"train", "config.toml"};
  for (const auto& [key, value] : settings) {
    arguments.push_back("--set");
    arguments.push_back(key + "=" + value);
  }
  arguments.insert(arguments.end(), more.begin(), more.end());
  return arguments;
}

Outcome TinyRun::train(const Settings& settings, const Arguments& more) const {
  return run(train_arguments(settings, more));
}

std::vector<std::string> TinyRun::checkpoints(const std::string& run) const {
  return names_in(run_folder(run) + "/checkpoints");
}

std::map<int64_t, std::string> TinyRun::metric(const std::string& run, const std::string& name) const {
  std::map<int64_t, std::string> values;
  const std::string key = "\"" + name + "\":";
  for (const std::string& line : lines_of(test::slurp(run_folder(run) + "/metrics.jsonl"))) {
    const size_t at = line.find(key);
    if (at == std::string::npos) continue;
    const size_t begin = at + key.size();
    values[std::stoll(line.substr(line.find(':') + 1))] =
        line.substr(begin, line.find_first_of(",}", begin) - begin);
  }
  return values;
}

namespace {

// By name, whatever pieces they lie in.
std::string tensors_of(const std::string& folder, const std::string& checkpoint) {
  const auto store = open_directory_store(folder);
  const CheckpointReader reader(*store, checkpoint);
  std::string text;
  for (const StoredTensor& tensor : reader.tensors()) {
    std::vector<std::byte> bytes(static_cast<size_t>(count(tensor.shape) * size_of(tensor.dtype)));
    reader.read(tensor.name, tensor.dtype, tensor.shape, bytes);
    text += fmt::format("{} {} [{}] {}\n", tensor.name, name_of(tensor.dtype), to_string(tensor.shape),
                        to_hex(checksum_of(bytes)));
  }
  return text;
}

}  // namespace

std::string TinyRun::fingerprint(const std::string& run) const {
  std::string text;
  // Line by line, so that a step that stands twice shows.
  for (const std::string& line : lines_of(test::slurp(run_folder(run) + "/metrics.jsonl"))) {
    const auto json = nlohmann::ordered_json::parse(line);
    for (const auto& [key, value] : json.items())
      if (!key.ends_with("_s") && key != "tokens_per_s" && key != "mfu" && key != "ckpt_bytes")
        text += key + " " + value.dump() + " ";
    text += "\n";
  }
  text += test::slurp(run_folder(run) + "/samples.jsonl");
  const std::vector<std::string> saved = checkpoints(run);
  if (saved.empty()) return text + "no checkpoint";
  return text + saved.back() + "\n" + tensors_of(run_folder(run) + "/checkpoints", saved.back());
}

}  // namespace trireme
