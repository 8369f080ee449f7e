// Ops of the Programs of small models: what their training steps run besides products and attention.
#include <fmt/format.h>

#include <map>
#include <string>
#include <tuple>

#include "calibrate/op_list.h"
#include "ops/op_axis.h"
#include "sim/op_size.h"
#include "sim/simulate.h"

namespace trireme {
namespace {

struct ModelSize {
  int64_t micro, seq_len, width, vocab;
};

constexpr ModelSize kSizes[] = {
    {1, 64, 128, 1024}, {2, 256, 256, 4096}, {4, 512, 512, 8192}, {4, 1024, 1024, 16384}};

std::string model_of(std::string_view family, const ModelSize& size) {
  const int64_t heads = size.width / 64;
  std::string model =
      fmt::format("[model]\nlayers = 2\nwidth = {}\nheads = {}\nvocab = {}\ncontext = {}\nffn = {}\n",
                  size.width, heads, size.vocab, size.seq_len, 3 * size.width);
  if (family == "gpt2") return model + "family = \"gpt2\"\n";
  if (family == "deepseek")
    return model + fmt::format(
                       "family = \"deepseek\"\nmtp = 1\n"
                       "mla = {{q_rank = {}, kv_rank = {}, nope_dim = 64, rope_dim = 32}}\n"
                       "[moe]\nexperts = 16\ntop_k = 2\nexpert_ffn = 64\nshared_ffn = 64\nfirst_dense = 1\n"
                       "score = \"sigmoid\"\ngroups = 4\ntop_groups = 2\n",
                       size.width / 2, size.width / 4);
  model += fmt::format("family = \"llama\"\nkv_heads = {}\n", std::max<int64_t>(2, heads / 2));
  if (family == "qwen") return model + "qk_norm = true\ntie_embeddings = true\n";
  if (family == "moe")
    return model + "[moe]\nexperts = 8\ntop_k = 2\nexpert_ffn = 64\naux_loss = 0.01\nz_loss = 0.001\n";
  return model;
}

struct Layout {
  std::string_view family, parallel, optimizer;
};

constexpr Layout kLayouts[] = {
    {"gpt2", "", ""},
    {"gpt2", "tp = 2", ""},
    {"llama", "", ""},
    {"llama", "tp = 2", ""},
    {"llama", "tp = 2\nsequence = false", ""},
    {"llama", "cp = 2", ""},
    {"llama", "dp_shard = 2\nzero = 3", "kind = \"sgd\""},
    {"qwen", "pp = 2", ""},
    {"moe", "", ""},
    {"moe", "dp_shard = 2\nep = 2", ""},
    {"deepseek", "", ""},
};

RunSpec spec_of(const Layout& layout, const ModelSize& size, DType compute) {
  const std::string text = fmt::format(
      "{}[data]\ntrain = [\"none\"]\nseq_len = {}\n[batch]\nmicro = {}\nsequences = {}\n[parallel]\n{}\n"
      "[optimizer]\nlr = 1e-4\n{}\n[precision]\ncompute = \"{}\"\n[run]\nname = \"calibrate\"\nsteps = 1\n",
      model_of(layout.family, size), size.seq_len, size.micro, 4 * size.micro, layout.parallel,
      layout.optimizer, compute == DType::bf16 ? "bf16" : "fp32");
  return parse_config(text, "a model to calibrate with");
}

// Points of a curve by size, thinned out: what differs by less says nothing new.
constexpr double kApart = 1.4;

using Key = std::tuple<std::string, std::string_view>;  // curve, dtype
using Found = std::map<Key, std::map<std::vector<int64_t>, OpSig>>;

void note(Found& found, const OpSig& sig) {
  if (on_grid(sig)) return;
  found[{curve_of_op(sig), dtype_of_op(sig)}].try_emplace(size_of_op(sig), sig);
}

bool talks(const Op& op, const OpSig& sig) {
  const OpDef& def = op_def(op.kind);
  return def.wire_bytes != nullptr && !axis_of(op).empty() && def.wire_bytes(sig) > 0;
}

void note_ops(Found& found, const Program& program) {
  const Timeline* timeline = find_timeline(program, "train");
  for (const Action& action : timeline->actions) {
    if (!action.unit.valid()) continue;
    const Code& code = program.code(program.unit(action.unit).code);
    for (const Op* op : ops_of(code, section_of(action.kind))) {
      const OpSig sig = signature(*op, code.values);
      if (!talks(*op, sig)) note(found, sig);
    }
  }
}

}  // namespace

std::vector<OpSig> program_ops(const OpListOptions& options) {
  Found found;
  for (const ModelSize& size : kSizes) {
    if (options.extent == Extent::quick && size.width != 256) continue;
    for (const Layout& layout : kLayouts)
      for (const Program& program :
           pipeline_programs(spec_of(layout, size, options.compute), {.threads = options.threads}))
        note_ops(found, program);
  }
  std::vector<OpSig> sigs;
  for (const auto& [key, sizes] : found) {
    double last = 0;
    for (const auto& [size, sig] : sizes) {
      const auto bytes = static_cast<double>(size[0]);
      if (bytes < kApart * last) continue;
      last = bytes;
      sigs.push_back(sig);
    }
  }
  return sigs;
}

}  // namespace trireme
