// The rows, as their sources give them. Numbers that a source lacks are the table's `assumed`.
#include "rows.h"

#include <fmt/format.h>

#include <cmath>

namespace trireme {
namespace {

struct Batch {
  int64_t seq_len = 0, sequences = 0, micro = 1;
};

std::string config_text(const std::string& model, const Batch& batch, const std::string& parallel) {
  return fmt::format(
      "[model]\n{}context = {}\n\n[data]\ntrain = [\"tokens.bin\"]\nseq_len = {}\n\n[batch]\nsequences = {}\n"
      "micro = {}\n\n[optimizer]\nlr = 1e-4\n\n[run]\nname = \"published\"\nsteps = 100\n\n[parallel]\n{}",
      model, batch.seq_len, batch.seq_len, batch.sequences, batch.micro, parallel);
}

struct Gpt {
  int64_t heads, width, layers, vocab;
  bool tied = false, bias = true;
};

std::string model_text(const Gpt& m) {
  return fmt::format(
      "family = \"gpt2\"\nlayers = {}\nwidth = {}\nheads = {}\nffn = {}\nvocab = {}\nbias = {}\n"
      "tie_embeddings = {}\n",
      m.layers, m.width, m.heads, 4 * m.width, m.vocab, m.bias, m.tied);
}

struct Llama {
  int64_t heads, kv_heads, width, layers, ffn, vocab;
};
constexpr Llama kLlama3Of8b{32, 8, 4096, 32, 14336, 128256};
constexpr Llama kLlama3Of70b{64, 8, 8192, 80, 28672, 128256};
constexpr Llama kLlama3Of405b{128, 8, 16384, 126, 53248, 128256};
constexpr Llama kLlama2Of13b{40, 40, 5120, 40, 13824, 32000};

std::string model_text(const Llama& m) {
  return fmt::format(
      "family = \"llama\"\nlayers = {}\nwidth = {}\nheads = {}\nkv_heads = {}\nffn = {}\nvocab = {}\n"
      "tie_embeddings = false\n",
      m.layers, m.width, m.heads, m.kv_heads, m.ffn, m.vocab);
}

std::string tensor_text(int64_t tp, int64_t chunks) {
  if (tp == 1) return "";
  return fmt::format("tp = {}\nsequence = true\ntp_chunks = {}\n", tp, chunks);
}

std::string pipeline_text(int64_t pp, int64_t virtual_stages) {
  if (pp == 1) return "";
  return fmt::format("pp = {}\nschedule = \"interleaved\"\nvirtual_stages = {}\n", pp, virtual_stages);
}

void add_megatron(std::vector<PublishedRow>& rows) {
  struct Row {
    const char* name;
    int64_t heads, width, layers, tp, pp, sequences;
    double tflops;
    int64_t micro, virtual_stages;
    const char* fits;
  };
  const Row table[] = {
      {"1.7B", 16, 2048, 24, 1, 1, 192, 408.8, 4, 1, "h100-sxm: kernels.unfused, tile_fill"},
      {"16B", 48, 6144, 32, 4, 1, 192, 489.1, 4, 1, "h100-sxm: kernels.unfused, tile_fill"},
      {"70B", 64, 8192, 84, 8, 2, 384, 419.7, 2, 14, ""},
      {"177B", 96, 12288, 96, 8, 6, 1152, 432.8, 2, 8, ""},
      {"462B", 144, 18432, 112, 8, 16, 3072, 459.9, 1, 7, ""},
  };
  for (const Row& r : table)
    rows.push_back(
        {.table = "megatron",
         .name = r.name,
         .hardware = "h100-sxm",
         .config = config_text(
             model_text(Gpt{r.heads, r.width, r.layers, 131072}), {4096, r.sequences, r.micro},
             "dp_shard = 48\nzero = 1\n" + tensor_text(r.tp, 4) + pipeline_text(r.pp, r.virtual_stages)),
         .published = r.tflops,
         .use = *r.fits != 0 ? RowUse::fitted : RowUse::held_out,
         .fits = r.fits});
}

std::string fsdp(int64_t ranks) { return fmt::format("dp_shard = {}\nzero = 3\n", ranks); }

void add_torchtitan(std::vector<PublishedRow>& rows) {
  struct Row {
    const char *name, *hardware;
    int64_t devices;
    double tokens;
    const char* fits;
  };
  const Row table[] = {
      {"8 devices, eager", "h100-500w-eager", 8, 5762, "h100-500w: kernels.product"},
      {"8 devices, compiled", "h100-500w", 8, 6667, "h100-500w: kernels.unfused"},
      {"128 devices, eager", "h100-500w-eager", 128, 5605, ""},
      {"128 devices, compiled", "h100-500w", 128, 6514, ""},
  };
  for (const Row& r : table)
    rows.push_back({.table = "torchtitan",
                    .name = std::string("8B, ") + r.name,
                    .hardware = r.hardware,
                    .config = config_text(model_text(kLlama3Of8b), {8192, 2 * r.devices, 2}, fsdp(r.devices)),
                    .again = Again::every_other,
                    .speed = Speed::tokens,
                    .published = r.tokens,
                    .use = *r.fits != 0 ? RowUse::fitted : RowUse::held_out,
                    .fits = r.fits});
}

void add_further_torchtitan(std::vector<PublishedRow>& rows) {
  const auto add = [&](const char* name, const char* hardware, std::string config, Again again,
                       double tokens) {
    rows.push_back({.table = "torchtitan2",
                    .name = name,
                    .hardware = hardware,
                    .config = std::move(config),
                    .again = again,
                    .speed = Speed::tokens,
                    .published = tokens,
                    .use = RowUse::further});
  };
  const std::string wide = fsdp(32) + tensor_text(8, 1), wide_async = fsdp(32) + tensor_text(8, 4);
  const std::string small = fsdp(8) + tensor_text(8, 1), small_async = fsdp(8) + tensor_text(8, 4);
  const std::string llama70 = model_text(kLlama3Of70b), llama8 = model_text(kLlama3Of8b);
  add("70B, 256 H100, tp 8", "h100-500w", config_text(llama70, {8192, 512, 16}, wide), Again::full, 597.3);
  add("70B, 256 H100, tp 8 overlapped", "h100-500w", config_text(llama70, {8192, 512, 16}, wide_async),
      Again::full, 652.4);
  add("8B, 64 H100, tp 8", "h100-500w", config_text(llama8, {8192, 96, 12}, small), Again::every_other, 4378);
  add("8B, 64 H100, tp 8 overlapped", "h100-500w", config_text(llama8, {8192, 96, 12}, small_async),
      Again::every_other, 4809.4);
  add("13B Llama 2, 64 A100", "a100-80", config_text(model_text(kLlama2Of13b), {4096, 128, 2}, fsdp(64)),
      Again::none, 2162);
  add("8B, 64 A100", "a100-80", config_text(llama8, {8192, 64, 1}, fsdp(64)), Again::every_other, 2973);
  add("70B, 64 A100", "a100-80", config_text(llama70, {8192, 64, 1}, fsdp(64)), Again::full, 331);
}

void add_llama405(std::vector<PublishedRow>& rows) {
  const auto add = [&](const char* name, int64_t shards, double tflops) {
    const std::string parallel =
        fmt::format("dp_shard = {}\nzero = 2\n", shards) + tensor_text(8, 1) + pipeline_text(16, 8);
    rows.push_back({.table = "llama3",
                    .name = name,
                    .hardware = "h100-sxm",
                    .config = config_text(model_text(kLlama3Of405b), {8192, 2048, 1}, parallel),
                    .published = tflops,
                    .use = RowUse::further});
  };
  add("405B, 8192 devices", 64, 430);
  add("405B, 16384 devices", 128, 400);
}

void add_sc21(std::vector<PublishedRow>& rows) {
  struct Row {
    const char* name;
    int64_t heads, width, layers, tp, pp, devices, sequences;
    double tflops;
    int64_t micro, virtual_stages;
  };
  const Row table[] = {
      {"1.7B", 24, 2304, 24, 1, 1, 32, 512, 137, 4, 1},
      {"3.6B", 32, 3072, 30, 2, 1, 64, 512, 138, 4, 1},
      {"7.5B", 32, 4096, 36, 4, 1, 128, 512, 142, 4, 1},
      {"18B", 48, 6144, 40, 8, 1, 256, 1024, 135, 4, 1},
      {"39B", 64, 8192, 48, 8, 2, 512, 1536, 138, 2, 2},
      {"76B", 80, 10240, 60, 8, 4, 1024, 1792, 140, 2, 3},
      {"146B", 96, 12288, 80, 8, 8, 1536, 2304, 148, 2, 2},
      {"310B", 128, 16384, 96, 8, 16, 1920, 2160, 155, 1, 2},
      {"530B", 128, 20480, 105, 8, 35, 2520, 2520, 163, 1, 3},
      {"1T", 160, 25600, 128, 8, 64, 3072, 3072, 163, 1, 2},
  };
  for (const Row& r : table) {
    std::string parallel = fmt::format("dp_replicate = {}\n", r.devices / r.tp / r.pp);
    if (r.tp > 1) parallel += fmt::format("tp = {}\nsequence = false\n", r.tp);
    rows.push_back({.table = "sc21",
                    .name = r.name,
                    .hardware = "a100-80",
                    .config = config_text(model_text(Gpt{r.heads, r.width, r.layers, 51200, true}),
                                          {2048, r.sequences, r.micro},
                                          parallel + pipeline_text(r.pp, r.virtual_stages)),
                    .again = Again::full,
                    .speed = Speed::executed_tflops,
                    .published = r.tflops,
                    .use = RowUse::further});
  }
}

void add_mosaic(std::vector<PublishedRow>& rows) {
  struct Size {
    const char* name;
    int64_t layers, width, heads;
  };
  constexpr Size k350m{"350M", 24, 1024, 16}, k1b{"1B", 24, 2048, 16}, k3b{"3B", 32, 2560, 20},
      k7b{"7B", 32, 4096, 32}, k13b{"13B", 40, 5120, 40}, k30b{"30B", 48, 7168, 56},
      k70b{"70B", 80, 8192, 64};
  struct Row {
    const char* hardware;
    Size size;
    int64_t seq_len, devices, micro, steps;
    Again again;
    double tflops;
  };
  const Row table[] = {
      {"a100-80", k350m, 2048, 8, 32, 2, Again::none, 161.1},
      {"a100-80", k1b, 2048, 8, 14, 4, Again::none, 186.8},
      {"a100-80", k1b, 16384, 8, 2, 4, Again::none, 176.6},
      {"a100-80", k3b, 2048, 8, 10, 2, Again::none, 193.8},
      {"a100-80", k3b, 8192, 8, 3, 6, Again::none, 185.2},
      {"a100-80", k7b, 2048, 8, 6, 2, Again::none, 200.4},
      {"a100-80", k7b, 4096, 8, 16, 2, Again::full, 171.1},
      {"a100-80", k13b, 2048, 8, 2, 3, Again::none, 185.9},
      {"a100-80", k13b, 4096, 8, 10, 3, Again::full, 179.8},
      {"a100-80", k30b, 2048, 8, 3, 21, Again::full, 172.5},
      {"a100-80", k70b, 2048, 64, 8, 4, Again::full, 166.4},
      {"h100-sxm", k1b, 2048, 8, 14, 1, Again::none, 413.8},
      {"h100-sxm", k1b, 2048, 64, 20, 1, Again::none, 404.2},
      {"h100-sxm", k1b, 16384, 8, 2, 4, Again::none, 348.5},
      {"h100-sxm", k3b, 2048, 16, 10, 3, Again::none, 432.7},
      {"h100-sxm", k7b, 2048, 8, 6, 1, Again::none, 459.5},
      {"h100-sxm", k7b, 4096, 8, 16, 2, Again::full, 400.0},
      {"h100-sxm", k13b, 2048, 8, 2, 1, Again::none, 393.7},
      {"h100-sxm", k13b, 4096, 8, 10, 3, Again::full, 411.6},
      {"h100-sxm", k70b, 2048, 64, 8, 4, Again::full, 421.3},
  };
  for (const Row& r : table) {
    const bool fits =
        r.hardware == std::string("a100-80") && r.size.name == std::string("7B") && r.seq_len == 2048;
    rows.push_back(
        {.table = "mosaic",
         .name = fmt::format("{}, T = {}, {} {}", r.size.name, r.seq_len, r.devices, r.hardware),
         .hardware = r.hardware,
         .config = config_text(model_text(Gpt{r.size.heads, r.size.width, r.size.layers, 50368, true, false}),
                               {r.seq_len, r.micro * r.steps * r.devices, r.micro}, fsdp(r.devices)),
         .again = r.again,
         .published = r.tflops,
         .use = fits ? RowUse::fitted : RowUse::further,
         .fits = fits ? "a100-80: kernels.product" : ""});
  }
}

void add_llmc(std::vector<PublishedRow>& rows) {
  struct Row {
    const char *name, *hardware;
    Gpt model;
    int64_t sequences, micro, steps;
    double minutes;
  };
  constexpr Gpt k124m{12, 768, 12, 50304, true}, k1558m{25, 1600, 48, 50304, true};
  const Row table[] = {
      {"124M, 8 A100", "a100-80", k124m, 512, 64, 18865, 90},
      {"124M, 8 H100", "h100-sxm", k124m, 512, 64, 18865, 45},
      {"1558M, 8 H100", "h100-sxm", k1558m, 1024, 16, 32000, 24 * 60},
  };
  constexpr int64_t kSeqLen = 1024, kDevices = 8;
  for (const Row& r : table) {
    const double tokens = static_cast<double>(r.sequences * kSeqLen * r.steps);
    rows.push_back({.table = "llmc",
                    .name = r.name,
                    .hardware = r.hardware,
                    .assumptions = {"kernels.unfused=1"},
                    .config = config_text(model_text(r.model), {kSeqLen, r.sequences, r.micro},
                                          fmt::format("dp_shard = {}\nzero = 1\n", kDevices)),
                    .speed = Speed::tokens,
                    .published = std::round(tokens / (60 * r.minutes) / kDevices),
                    .use = RowUse::further});
  }
}

}  // namespace

std::string config_of(const PublishedRow& row, Again again) {
  const char* recompute = again == Again::none ? "none" : again == Again::full ? "full" : "selective";
  return fmt::format("{}recompute = \"{}\"\n", row.config, recompute);
}

std::vector<PublishedTable> published_tables() {
  return {
      {"megatron", "Megatron-LM, weak scaling on H100",
       "README of github.com/NVIDIA/Megatron-LM, \"Training Speed and Scalability\" (2024): model table; "
       "vocabulary 131072, T = 4096, data parallel 48, distributed optimizer, data, tensor and pipeline "
       "communication overlapped",
       "The README has neither micro-batch nor virtual stages: the fastest that fit of micro-batches of 1, "
       "2, 4 and of the divisors of a rank's layers. Tensor communication goes in 4 runs beside the "
       "products. Nothing is recomputed. FLOPs are model FLOPs with attention over the whole square"},
      {"torchtitan", "torchtitan, Llama 3.1 8B, FSDP on H100 (96 GB, 500 W)",
       "github.com/pytorch/torchtitan, benchmarks/llama3_h100_202412_torchtitan.md, tables 1 and 3: local "
       "batch 2, T = 8192, selective checkpointing by op",
       "Selective checkpointing computes each second product again besides what is cheap; the step is taken "
       "as the mean of the steps with recompute = \"selective\" and \"full\""},
      {"llama3", "Llama 3 405B on H100",
       "The Llama 3 Herd of Models (arXiv:2407.21783), table 4: tp 8, pp 16, T = 8192, 16 M tokens a batch",
       "Micro-batches of 1 sequence, 8 virtual stages, gradients cut (zero 2); its FLOPs are taken as model "
       "FLOPs with attention over the whole square. Memory is tight: the source varies layers of stages and "
       "micro-batches to fit"},
      {"torchtitan2", "torchtitan, other tables",
       "github.com/pytorch/torchtitan, benchmarks/asyncTP_llama3_h100_2025-06_torchtitan.md (H100 of 96 GB, "
       "500 W, compiled; local batch 16 and 12) and docs/performance.md of 2024-10 (64 A100 80 GB; local "
       "batch 2, 1 and 1)",
       "Overlapped tensor parallelism: 4 runs beside the products"},
      {"llmc", "llm.c, GPT-2 on one node",
       "github.com/karpathy/llm.c, discussions 481 (2024-05: 124M in about 90 minutes on 8 A100 80 GB) and "
       "677 (2024-07: 1558M in 24 hours on 8 H100); github.com/KellerJordan/modded-nanogpt, README (llm.c's "
       "124M in 45 minutes on 8 H100). T = 1024, vocabulary 50304, batches of 0.5 M and 1 M tokens, ZeRO 1",
       "Tokens of all steps over the whole time, evaluations among it. Kernels are fused by hand: "
       "`--assume kernels.unfused=1`"},
      {"mosaic", "MosaicML, MPT on A100 80 GB and H100",
       "github.com/mosaicml/llm-foundry, scripts/train/benchmarking/README.md (2023): FSDP, full "
       "checkpointing where it says so",
       "A choice of its rows. Model FLOPs with attention over the whole square. The H100 rows are of early "
       "software. Its attention kernel is older than the one that the hardware files have: long sequences "
       "come out too fast"},
      {"sc21", "Megatron-LM, weak scaling on A100",
       "Narayanan et al. 2021, Efficient Large-Scale Language Model Training on GPU Clusters Using "
       "Megatron-LM (arXiv:2104.04473), table 1: T = 2048, vocabulary 51200, full recomputation, which its "
       "FLOPs count",
       "Micro-batches of 4, 2 or 1 sequences, 2 or 3 virtual stages. Attention was not fused then: where it "
       "is a large part of the work (1.7B, 3.6B) the model is too fast"},
  };
}

std::vector<PublishedRow> published_rows() {
  std::vector<PublishedRow> rows;
  add_megatron(rows);
  add_torchtitan(rows);
  add_llama405(rows);
  add_further_torchtitan(rows);
  add_llmc(rows);
  add_mosaic(rows);
  add_sc21(rows);
  return rows;
}

}  // namespace trireme
