// What cutting the inside of a layer over ranks costs and saves, by formulas: bytes kept for backward and
// bytes on the wire, of one layer and one micro-batch, in bf16.
//
// Names: B sequences of T tokens, width C, H query heads and K key heads of D, hidden width F; t ranks of tp,
// c of cp.
#include <gtest/gtest.h>

#include <set>

#include "compile/comm_report.h"
#include "compile/compile.h"
#include "ops/head/row_part.h"
#include "ops/op_axis.h"

namespace trireme {
namespace {

constexpr int64_t kB = 2, kT = 128, kC = 64, kH = 8, kD = 8, kF = 256, kV = 257;
constexpr int64_t kBTC = kB * kT * kC;
constexpr int64_t kBf16 = 2, kF32 = 4;

struct Cut {
  std::string family = "gpt2";
  int64_t K = kH, tp = 1, cp = 1;
  std::string mode = "ring";
  bool sequence = true;
};

std::string name_of(const Cut& cut) {
  return fmt::format("{}: tp {} (sequence {}), cp {} ({})", cut.family, cut.tp, cut.sequence, cut.cp,
                     cut.mode);
}

Program program_of(const Cut& cut, int rank = 0) {
  std::string parallel;
  if (cut.tp > 1) parallel += fmt::format("tp = {}\nsequence = {}\n", cut.tp, cut.sequence);
  if (cut.cp > 1) parallel += fmt::format("cp = {}\ncp_mode = \"{}\"\n", cut.cp, cut.mode);
  const RunSpec spec = parse_config(
      fmt::format(
          "[model]\nfamily = \"{}\"\nlayers = 2\nwidth = {}\nheads = {}\nvocab = {}\ncontext = {}\nffn = "
          "{}\n{}\n"
          "[data]\ntrain = [\"unused.bin\"]\n[batch]\nsequences = {}\nmicro = {}\n[optimizer]\nlr = 1e-3\n"
          "[parallel]\n{}[run]\nname = \"a run\"\nsteps = 10\n",
          cut.family, kC, kH, kV, kT, kF,
          cut.family == "llama" ? fmt::format("kv_heads = {}\nqk_norm = true", cut.K) : std::string(), 2 * kB,
          kB, parallel),
      "cut");
  return compile(spec, {.rank = rank}).program;
}

size_t block_of(const Program& program, std::string_view kind) {
  for (size_t i = 0; i < program.codes.size(); ++i)
    if (program.codes[i].name.ends_with(kind)) return i;
  ADD_FAILURE() << "no block " << kind;
  return 0;
}

// --- memory ------------------------------------------------------------------------------------------------

// What a layer keeps of one micro-batch: what its code saves, and its input, which lives on.
int64_t kept_bytes(const Program& program) {
  const size_t layer = block_of(program, ".layer");
  int64_t saved = 0, input = 0;
  for (const Value& value : program.codes[layer].values) {
    if (value.role == ValueRole::saved) saved += bytes_of(value.type);
    if (value.role == ValueRole::input) input += bytes_of(value.type);
  }
  EXPECT_EQ(saved, program.layouts[layer].saved_bytes);
  return saved + input;
}

// Korthikanti et al. 2022 ("Reducing Activation Recomputation in Large Transformer Models"), table 2, count
// 34 sbh + 5 a s^2 b bytes for a layer (their s, b, h, a are T, B, C, H). Flash attention has no score
// matrix: in place of 5 a s^2 b it keeps the softmax's statistic, 4 abs. Without dropout there are no masks:
// 34 becomes 32. Tensor parallelism divides the inside of attention and MLP, 24 sbh; sequence parallelism
// what lies between, of which theirs is 10 sbh with two masks and ours 8: both norms' inputs and outputs. The
// norms' own statistics, which they leave out, are 16 sb.
struct Kept {
  int64_t inside = 0, between = 0;
};

Kept kept_by(const Cut& cut) {
  const int64_t rows = kB * kT, qkv = (kH + 2 * cut.K) * kD, lse = kF32 * kB * kH * kT;
  if (cut.family == "gpt2")  // qkv; attention's result; the hidden layer before and after its activation
    return {kBf16 * rows * (qkv + kH * kD + 2 * kF) + lse, kBf16 * 4 * kBTC + 2 * 2 * kF32 * rows};
  // qkv before the head norms with their statistic, and turned; attention's result; gate, up, their product.
  return {kBf16 * rows * (2 * qkv + kH * kD + 3 * kF) + kF32 * rows * (kH + cut.K) + lse,
          kBf16 * 4 * kBTC + 2 * kF32 * rows};
}

TEST(BlockAxes, KeptBytesAreMegatronsFormula) {
  const Kept gpt2 = kept_by({});
  EXPECT_EQ(gpt2.inside, 24 * kBTC + 4 * kB * kH * kT);
  EXPECT_EQ(gpt2.between, 8 * kBTC + 16 * kB * kT);
  for (const char* family : {"gpt2", "llama"})
    for (const int64_t tp : {1, 2, 4}) {
      Cut cut{.family = family, .K = family == std::string("gpt2") ? kH : 4, .tp = tp};
      const Kept kept = kept_by(cut);
      SCOPED_TRACE(name_of(cut));
      EXPECT_EQ(kept_bytes(program_of(cut)), (kept.inside + kept.between) / tp);
      cut.sequence = false;
      EXPECT_EQ(kept_bytes(program_of(cut)), kept.inside / tp + kept.between);
    }
}

TEST(BlockAxes, ContextDividesAllThatIsKept) {
  for (const char* family : {"gpt2", "llama"})
    for (const char* mode : {"ring", "allgather", "ulysses"})
      for (const int64_t tp : {1, 2}) {
        const Cut cut{
            .family = family, .K = family == std::string("gpt2") ? kH : 4, .tp = tp, .cp = 2, .mode = mode};
        SCOPED_TRACE(name_of(cut));
        const Kept kept = kept_by(cut);
        EXPECT_EQ(kept_bytes(program_of(cut)), (kept.inside + kept.between) / (2 * tp));
      }
}

// --- the wire ----------------------------------------------------------------------------------------------

struct Sent {
  int64_t forward = 0, backward = 0;
  bool operator==(const Sent&) const = default;
};

void PrintTo(const Sent& sent, std::ostream* out) {
  *out << "forward " << sent.forward << ", backward " << sent.backward;
}

Sent sent_by(const Program& program, std::string_view kind, BlockAxis axis) {
  const Code& code = program.codes[block_of(program, kind)];
  return {sent_bytes(code, Section::forward, axis), sent_bytes(code, Section::backward, axis)};
}

// (t-1)/t of an activation [B,T/c,C]: what an all_gather or a reduce_scatter of it sends.
int64_t moved(const Cut& cut) { return kBf16 * kBTC / cut.cp * (cut.tp - 1) / cut.tp; }

TEST(BlockAxes, TensorParallelBytes) {
  for (const char* family : {"gpt2", "llama"})
    for (const int64_t tp : {2, 4})
      for (const int64_t cp : {1, 2}) {
        Cut cut{.family = family, .K = family == std::string("gpt2") ? kH : 4, .tp = tp, .cp = cp};
        SCOPED_TRACE(name_of(cut));
        // Forward two all_gathers, before qkv and before the MLP, and two reduce_scatters behind them; in
        // backward their adjoints, and both gathers again, of what is kept in slices.
        EXPECT_EQ(sent_by(program_of(cut), ".layer", BlockAxis::tp), (Sent{4 * moved(cut), 6 * moved(cut)}));
        // Two all_reduces each way, each as much as a reduce_scatter and an all_gather.
        cut.sequence = false;
        EXPECT_EQ(sent_by(program_of(cut), ".layer", BlockAxis::tp), (Sent{4 * moved(cut), 4 * moved(cut)}));
      }
}

// The embedding's rows are summed from parts of the table. The head gathers its input, all ranks exchange
// what they know of each row of logits, and dx is summed from parts of the vocabulary.
TEST(BlockAxes, VocabularyParallelBytes) {
  for (const int64_t tp : {2, 4})
    for (const int64_t cp : {1, 2}) {
      Cut cut{.tp = tp, .cp = cp};
      SCOPED_TRACE(name_of(cut));
      const int64_t parts = (tp - 1) * kB * kT / cp * static_cast<int64_t>(sizeof(HeadRowPart));
      const Program rows = program_of(cut);
      EXPECT_EQ(sent_by(rows, ".embed", BlockAxis::tp), (Sent{moved(cut), moved(cut)}));
      EXPECT_EQ(sent_by(rows, ".head", BlockAxis::tp), (Sent{moved(cut) + parts, moved(cut)}));
      cut.sequence = false;
      const Program whole = program_of(cut);
      EXPECT_EQ(sent_by(whole, ".embed", BlockAxis::tp), (Sent{2 * moved(cut), 0}));
      EXPECT_EQ(sent_by(whole, ".head", BlockAxis::tp), (Sent{parts, 2 * moved(cut)}));
    }
}

// Of a rank's rows, B T/c, on the wire per layer:
//   ring       its keys and values pass all other ranks, in backward again; their gradients, in f32, pass all
//              ranks and come home
//   allgather  keys and values go to all others, in backward again; gradients in f32 to whose they are
//   ulysses    of qkv and of the result all but the rank's own slice; in backward qkv, the result and its
//              gradient there, and the gradient of qkv back
Sent context_bytes(const Cut& cut) {
  const int64_t c = cut.cp, rows = kB * kT / c;
  const int64_t keys = rows * 2 * cut.K / cut.tp * kD;  // elements of keys and values
  const int64_t qkv = rows * (kH + 2 * cut.K) / cut.tp * kD, y = rows * kH / cut.tp * kD;
  if (cut.mode == "ring") return {(c - 1) * keys * kBf16, (c - 1) * keys * kBf16 + c * keys * kF32};
  if (cut.mode == "allgather") return {(c - 1) * keys * kBf16, (c - 1) * keys * (kBf16 + kF32)};
  return {(c - 1) * (qkv + y) / c * kBf16, (c - 1) * (2 * qkv + 2 * y) / c * kBf16};
}

TEST(BlockAxes, ContextParallelBytes) {
  for (const char* mode : {"ring", "allgather", "ulysses"})
    for (const char* family : {"gpt2", "llama"})
      for (const int64_t cp : {2, 4})
        for (const int64_t tp : {1, 2}) {
          const Cut cut{.family = family,
                        .K = family == std::string("gpt2") ? kH : 4,
                        .tp = mode == std::string("ulysses") && cp == 4 ? 1 : tp,
                        .cp = cp,
                        .mode = mode};
          SCOPED_TRACE(name_of(cut));
          const Program program = program_of(cut);
          EXPECT_EQ(sent_by(program, ".layer", BlockAxis::cp), context_bytes(cut));
          for (const char* kind : {".embed", ".head"})
            EXPECT_EQ(sent_by(program, kind, BlockAxis::cp), (Sent{0, 0})) << kind;
        }
}

// What the ranks of an axis do together inside a block, in order.
std::string calls_of(const Program& program, BlockAxis axis) {
  std::string calls;
  for (const Code& code : program.codes)
    for (const Section section : {Section::forward, Section::backward})
      for (const Op* op : ops_of(code, section)) {
        if (axis_of(*op) == name_of(axis))
          calls += fmt::format("{} {} {} {}\n", code.name, name_of(section), op->kind,
                               to_string(code.value(op->inputs[0]).type));
      }
  return calls;
}

// Ranks that did not would wait for each other for ever; and none has more to send than the others.
TEST(BlockAxes, AllRanksMakeTheSameCalls) {
  for (const char* mode : {"ring", "allgather", "ulysses"})
    for (const bool sequence : {true, false}) {
      const Cut cut{.tp = 2, .cp = 2, .mode = mode, .sequence = sequence};
      SCOPED_TRACE(name_of(cut));
      const Program first = program_of(cut);
      for (const BlockAxis axis : {BlockAxis::tp, BlockAxis::cp}) {
        EXPECT_NE(calls_of(first, axis), "");
        for (int rank = 1; rank < 4; ++rank) {
          const Program other = program_of(cut, rank);
          EXPECT_EQ(calls_of(other, axis), calls_of(first, axis)) << "rank " << rank;
          for (const char* kind : {".embed", ".layer", ".head"})
            EXPECT_EQ(sent_by(other, kind, axis), sent_by(first, kind, axis)) << kind << " rank " << rank;
        }
      }
    }
}

// Stages are balanced by what blocks cost. With a window the ranks of cp see different numbers of keys, and
// would wait for each other for ever if one had a layer more than the next; somewhere among these heads lies
// the size at which a layer changes stages.
TEST(BlockAxes, AllRanksCutTheChainAlike) {
  const auto units_of = [](int64_t vocab, int rank) {
    const RunSpec spec = parse_config(
        fmt::format(
            "[model]\nfamily = \"llama\"\nlayers = 5\nwidth = 16\nheads = 2\nvocab = {}\ncontext = "
            "512\nwindow = 128\n[data]\ntrain = [\"unused.bin\"]\n[batch]\nsequences = 2\nmicro = 1\n"
            "[optimizer]\nlr = 1e-3\n[parallel]\npp = 2\ncp = 2\n[run]\nname = \"a run\"\nsteps = 10\n",
            vocab),
        "window");
    std::string names;
    for (const Unit& unit : compile(spec, {.rank = rank}).program.units) names += unit.name + "\n";
    return names;
  };
  std::set<std::string> cuts;
  for (int64_t vocab = 100; vocab < 1400; vocab += 20) {
    const std::string first = units_of(vocab, 0);
    EXPECT_EQ(units_of(vocab, 1), first) << "vocab " << vocab;
    cuts.insert(first);
  }
  EXPECT_GT(cuts.size(), 1);
}

}  // namespace
}  // namespace trireme
