// The header, and where the tensors follow it.
#include "exchange/llmc_file.h"

#include <fmt/format.h>

#include <array>
#include <cstring>
#include <filesystem>
#include <fstream>

#include "base/error.h"

namespace trireme {
namespace {

constexpr int32_t kMagic = 20240326, kLlamaMagic = 20240803;

// 0 where the file has ended before.
std::array<int32_t, 256> first_integers(const std::string& path) {
  std::error_code error;
  if (!std::filesystem::is_regular_file(path, error))
    fail_user("there is no file {}: name one that llm.c wrote, such as gpt2_124M.bin", path);
  std::array<int32_t, 256> head{};
  std::ifstream file(path, std::ios::binary);
  if (!file) fail_env("{}", with_errno("cannot open " + path));
  file.read(reinterpret_cast<char*>(head.data()), sizeof(head));
  return head;
}

void require_whole_header(const std::string& path) {
  std::error_code error;
  const auto bytes = static_cast<int64_t>(std::filesystem::file_size(path, error));
  if (error || bytes < kLlmcHeaderBytes)
    fail_env("{} has {} bytes, fewer than the {} of llm.c's header: it is cut off; copy it anew", path, bytes,
             kLlmcHeaderBytes);
}

}  // namespace

bool is_llmc_file(const std::string& path) {
  const int32_t magic = first_integers(path)[0];
  return magic == kMagic || magic == kLlamaMagic;
}

LlmcHeader read_llmc_header(const std::string& path) {
  const std::array<int32_t, 256> head = first_integers(path);
  if (head[0] == kLlamaMagic)
    fail_user("{} is llm.c's Llama 3, which is not read; import the Hugging Face folder that it was made of",
              path);
  if (head[0] != kMagic)
    fail_user("{} begins with {}, but llm.c's model files with {}", path, head[0], kMagic);
  require_whole_header(path);
  if (head[1] != 3 && head[1] != 5)
    fail_user("{} is of version {}; 3 (f32) and 5 (bf16) are read: write it anew with today's llm.c", path,
              head[1]);
  const LlmcHeader header{.version = head[1],
                          .context = head[2],
                          .vocab = head[3],
                          .layers = head[4],
                          .heads = head[5],
                          .width = head[6],
                          .padded_vocab = head[7]};
  for (const int64_t size : {header.context, header.vocab, header.layers, header.heads, header.width})
    if (size < 1) fail_user("{}: a size of {} in its header; the file is damaged", path, size);
  if (header.padded_vocab < header.vocab)
    fail_user("{}: {} padded rows are fewer than the vocabulary of {}; the file is damaged", path,
              header.padded_vocab, header.vocab);
  return header;
}

std::vector<std::byte> llmc_header_bytes(const LlmcHeader& header) {
  std::array<int32_t, 256> head{kMagic, header.version};
  const std::array sizes = {header.context, header.vocab, header.layers,
                            header.heads,   header.width, header.padded_vocab};
  for (size_t i = 0; i < sizes.size(); ++i) head[2 + i] = static_cast<int32_t>(sizes[i]);
  std::vector<std::byte> bytes(sizeof(head));
  std::memcpy(bytes.data(), head.data(), sizeof(head));
  return bytes;
}

std::string llmc_model_toml(const LlmcHeader& header) {
  return fmt::format(
      "[model]\nfamily = \"gpt2\"\nlayers = {}\nwidth = {}\nheads = {}\nvocab = {}\ncontext = {}\n"
      "norm_eps = 1e-5\n",
      header.layers, header.width, header.heads, header.vocab, header.context);
}

LlmcHeader llmc_header_of(const ModelSpec& spec, int32_t version) {
  const auto refuse = [](const std::string& key, const std::string& value, const std::string& only) {
    fail_user("{} = {} has no form in llm.c's files, whose GPT-2 has {}; use that, or Hugging Face's form",
              key, value, only);
  };
  if (spec.family != Family::gpt2) refuse("model.family", std::string(name_of_value(spec.family)), "gpt2");
  if (!spec.bias) refuse("model.bias", "false", "true");
  if (!spec.tie_embeddings) refuse("model.tie_embeddings", "false", "true");
  if (spec.ffn != 4 * spec.width) refuse("model.ffn", std::to_string(spec.ffn), "4 x model.width");
  if (spec.activation != Activation::gelu_tanh)
    refuse("model.activation", std::string(name_of_value(spec.activation)), "gelu_tanh");
  if (spec.norm_eps != 1e-5) refuse("model.norm_eps", fmt::format("{}", spec.norm_eps), "1e-5");
  if (spec.kv_heads != spec.heads) refuse("model.kv_heads", std::to_string(spec.kv_heads), "model.heads");
  if (spec.heads * spec.head_dim != spec.width)
    refuse("model.head_dim", std::to_string(spec.head_dim), "model.width / model.heads");
  if (spec.window != 0) refuse("model.window", std::to_string(spec.window), "0");
  if (spec.attn_softcap != 0) refuse("model.attn_softcap", fmt::format("{}", spec.attn_softcap), "0");
  if (spec.logit_softcap != 0) refuse("model.logit_softcap", fmt::format("{}", spec.logit_softcap), "0");
  return {.version = version,
          .context = spec.context,
          .vocab = spec.vocab,
          .layers = spec.layers,
          .heads = spec.heads,
          .width = spec.width,
          .padded_vocab = (spec.vocab + 127) / 128 * 128};
}

ForeignTensors read_llmc_tensors(const std::string& path, const LlmcHeader& header, const NameMap& map) {
  ForeignTensors all;
  all.from = path;
  all.files = {path};
  const ForeignDType dtype = header.version == 5 ? ForeignDType::bf16 : ForeignDType::f32;
  int64_t at = kLlmcHeaderBytes;
  for (const ForeignParam& param : map.foreign) {
    all.tensors[param.name] = {dtype, param.shape, {{0, at, Shape(param.shape.size(), 0), param.shape}}};
    at += count(param.shape) * (header.version == 5 ? 2 : 4);
  }
  std::error_code error;
  const auto bytes = static_cast<int64_t>(std::filesystem::file_size(path, error));
  if (error || bytes != at)
    fail_env("{} has {} bytes, but its header describes {}: it is cut off or damaged", path, bytes, at);
  return all;
}

}  // namespace trireme
