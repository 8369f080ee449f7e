// Real runs that cut the inside of layers: what goes over the wire is what the codes say, and what ranks have
// in common stays the same to the bit.
#include <gtest/gtest.h>

#include <array>
#include <cstring>
#include <mutex>
#include <set>
#include <tuple>

#include "compile/comm_report.h"
#include "dist/layout_run.h"

namespace trireme {
namespace {

using test::Layout;
using test::name_of;
using test::run_layout;
using test::RunForm;

constexpr const char* kModes[] = {"ring", "allgather", "ulysses"};

// --- the wire ----------------------------------------------------------------------------------------------

using AxisBytes = std::array<int64_t, kBlockAxes>;

// By the codes, of one step: each block that the rank has, once per micro-batch.
AxisBytes planned_bytes(const Program& program) {
  AxisBytes bytes{};
  const Timeline& train = *find_timeline(program, "train");
  std::set<std::string> blocks;
  for (const Action& action : train.actions) {
    if (action.kind != ActionKind::forward || !blocks.insert(program.unit(action.unit).name).second) continue;
    const Code& code = program.code(program.unit(action.unit).code);
    for (int a = 0; a < kBlockAxes; ++a)
      for (const Section section : {Section::forward, Section::backward})
        bytes[static_cast<size_t>(a)] +=
            sent_bytes(code, section, static_cast<BlockAxis>(a)) * train.micro_batches;
  }
  return bytes;
}

void expect_planned_bytes(const RunForm& form, const Layout& layout) {
  SCOPED_TRACE(form.family + " " + form.compute + " " + name_of(layout));
  std::mutex mutex;
  int looked = 0;
  run_layout(form, layout, {0, 2, [&](const RankLink& link, Engine& engine, int64_t step) {
                              engine.time_actions(Timing::on);
                              if (step == 0) return;
                              AxisBytes sent{};
                              for (const AxisCall& call : engine.axis_calls())
                                sent[static_cast<size_t>(call.axis)] += call.sent_bytes;
                              const std::lock_guard lock(mutex);
                              ++looked;
                              EXPECT_EQ(sent, planned_bytes(engine.program())) << "rank " << link.rank();
                              EXPECT_EQ(sent[static_cast<size_t>(BlockAxis::tp)] > 0, layout.tp > 1);
                              EXPECT_EQ(sent[static_cast<size_t>(BlockAxis::cp)] > 0, layout.cp > 1);
                            }});
  EXPECT_EQ(looked, layout.ranks());
}

TEST(BlockAxesRun, SendsTheBytesOfThePlan) {
  for (const char* compute : {"fp32", "bf16"}) {
    const RunForm gpt2{.compute = compute, .micro = 2};
    for (const bool sequence : {true, false}) {
      expect_planned_bytes(gpt2, {.lanes = 1, .tp = 2, .sequence = sequence});
      expect_planned_bytes(gpt2, {.lanes = 1, .tp = 4, .sequence = sequence});
    }
    for (const bool documents : {false, true})
      for (const char* mode : kModes) {
        const RunForm llama{.family = "llama", .compute = compute, .micro = 2, .documents = documents};
        expect_planned_bytes(llama, {.lanes = 1, .cp = 2, .cp_mode = mode});
      }
    expect_planned_bytes(gpt2, {.lanes = 1, .cp = 4, .cp_mode = "ring"});
    expect_planned_bytes(gpt2, {.lanes = 1, .tp = 2, .cp = 2, .cp_mode = "ulysses"});
    expect_planned_bytes(gpt2, {.lanes = 1, .pp = 2, .schedule = "zb_h1", .tp = 2});
    for (const char* recompute : {"selective", "full"})
      expect_planned_bytes(gpt2, {.lanes = 1, .tp = 2, .cp = 2, .recompute = recompute});
  }
}

// --- what ranks have in common -----------------------------------------------------------------------------

// A piece of a parameter's state, as a rank has it: equal pieces are copies of each other.
using Piece = std::tuple<std::string, ParamState, int64_t, size_t>;  // parameter, state, first element, count

struct Holders {
  std::vector<float> values;  // of the first to show it
  int64_t ranks = 0;
};

// After three steps.
void expect_equal_copies(const RunForm& form, const Layout& layout) {
  SCOPED_TRACE(form.family + " " + name_of(layout));
  std::mutex mutex;
  std::map<Piece, Holders> pieces;
  std::map<std::string, std::pair<int64_t, ParamRole>> params;  // elements of the whole
  run_layout(
      form, layout,
      {0, 4, [&](const RankLink& link, Engine& engine, int64_t step) {
         if (step < 3) return;
         const std::lock_guard lock(mutex);
         const Program& program = engine.program();
         for (size_t p = 0; p < program.params.size(); ++p) {
           const Param& param = program.params[p];
           params[param.name] = {count(param.shape), param.role};
           for (const ParamState state : {ParamState::master, ParamState::moment1, ParamState::moment2})
             for (const StatePiece& piece : engine.state_pieces(ParamId(static_cast<int64_t>(p)), state)) {
               Holders& holders = pieces[{param.name, state, piece.first, piece.values.size()}];
               if (holders.ranks++ == 0) holders.values.assign(piece.values.begin(), piece.values.end());
               EXPECT_EQ(std::memcmp(holders.values.data(), piece.values.data(), piece.values.size_bytes()),
                         0)
                   << param.name << " from " << piece.first << " on rank " << link.rank();
             }
         }
       }});
  // Each element is there as often as the axes that do not cut it say.
  std::map<std::string, int64_t> held;
  for (const auto& [piece, holders] : pieces)
    if (std::get<1>(piece) == ParamState::master)
      held[std::get<0>(piece)] += static_cast<int64_t>(std::get<3>(piece)) * holders.ranks;
  for (const auto& [name, param] : params) {
    const int64_t tensor = param.second == ParamRole::whole ? layout.tp : 1;
    const int64_t shards = layout.zero > 0 ? 1 : layout.shard * layout.cp;
    const bool tied = form.family == "gpt2" && layout.pp > 1 && name == "embed.weight";  // first, last stage
    EXPECT_EQ(held[name], param.first * tensor * shards * layout.replicate * (tied ? 2 : 1)) << name;
  }
}

TEST(BlockAxesRun, CopiesOfParametersStayEqual) {
  for (const char* family : {"gpt2", "llama"}) {
    const RunForm form{.family = family, .sequences = 8, .micro = 2, .lr = 1e-2};
    for (const bool sequence : {true, false}) {
      expect_equal_copies(form, {.lanes = 1, .tp = 2, .sequence = sequence});
      for (const char* mode : kModes)
        if (family == std::string("gpt2") || mode != kModes[2])  // two kv heads are cut by one of them
          expect_equal_copies(form, {.lanes = 1, .tp = 2, .sequence = sequence, .cp = 2, .cp_mode = mode});
    }
    for (const char* mode : kModes) expect_equal_copies(form, {.lanes = 1, .cp = 2, .cp_mode = mode});
    for (const int64_t zero : {0, 1, 3})
      expect_equal_copies(form, {.shard = 2, .zero = zero, .lanes = 2, .tp = 2, .cp = 2});
    expect_equal_copies(form, {.replicate = 2, .lanes = 2, .pp = 2, .tp = 2});
  }
}

}  // namespace
}  // namespace trireme
