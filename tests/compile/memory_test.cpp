// The memory plan by brute force: no two things that are alive at once share a byte, inside a workspace and
// in the arena; and the report says what the plan holds.
#include <gtest/gtest.h>

#include "compile/memory_report.h"
#include "compile/specs.h"
#include "lower/place.h"
#include "ops/op.h"

namespace trireme {
namespace {

using test::for_all_programs;
using test::Form;

struct Piece {
  std::string name;
  int64_t begin, end;
  bool apart_from(const Piece& other) const { return end <= other.begin || other.end <= begin; }
};

void expect_apart(const std::vector<Piece>& pieces, const std::string& when) {
  for (size_t i = 0; i < pieces.size(); ++i)
    for (size_t j = 0; j < i; ++j)
      EXPECT_TRUE(pieces[i].apart_from(pieces[j]))
          << when << ": " << pieces[i].name << " and " << pieces[j].name;
}

// --- inside a workspace -----------------------------------------------------------------------------------

struct Span {
  int64_t first = -1, last = -1;  // ops that touch the value
};

std::vector<Span> spans_of(const Code& code, const std::vector<const Op*>& ops) {
  std::vector<Span> spans(code.values.size());
  for (size_t i = 0; i < ops.size(); ++i)
    for (const auto* ids : {&ops[i]->inputs, &ops[i]->outputs})
      for (const ValueId id : *ids) {
        if (!id.valid() || code.value(id).role != ValueRole::local) continue;
        Span& span = spans[static_cast<size_t>(id.index)];
        if (span.first < 0) span.first = static_cast<int64_t>(i);
        span.last = static_cast<int64_t>(i);
      }
  return spans;
}

// Whether the op writes its output `made` over its input `dying`, as its definition allows.
bool in_place(const Op& op, size_t dying, size_t made) {
  for (const auto& [in, out] : op_def(op.kind).in_place)
    if (static_cast<size_t>(in) < op.inputs.size() && static_cast<size_t>(out) < op.outputs.size() &&
        op.inputs[static_cast<size_t>(in)] == ValueId(static_cast<int64_t>(dying)) &&
        op.outputs[static_cast<size_t>(out)] == ValueId(static_cast<int64_t>(made)))
      return true;
  return false;
}

void expect_sound_workspace(const Code& code, const CodeLayout& layout, Section section, int threads) {
  const std::vector<const Op*> ops = ops_of(code, section);
  const auto s = static_cast<size_t>(section);
  if (layout.scratch[s].empty()) return;
  ASSERT_EQ(layout.scratch[s].size(), ops.size());
  const std::vector<Span> spans = spans_of(code, ops);
  for (size_t i = 0; i < ops.size(); ++i) {
    const auto now = static_cast<int64_t>(i);
    std::vector<Piece> alive;
    for (size_t v = 0; v < spans.size(); ++v) {
      if (spans[v].first < 0 || spans[v].first > now || spans[v].last < now) continue;
      const int64_t begin = layout.offset[v], bytes = bytes_of(code.values[v].type);
      ASSERT_GE(begin, 0) << code.values[v].name;
      // An input that dies into an output of this op is the same memory.
      bool handed_on = false;
      for (const ValueId id : ops[i]->outputs)
        if (id.valid() && spans[v].last == now && in_place(*ops[i], v, static_cast<size_t>(id.index)) &&
            layout.offset[static_cast<size_t>(id.index)] == begin && bytes_of(code.value(id).type) == bytes)
          handed_on = true;
      if (!handed_on) alive.push_back({code.values[v].name, begin, begin + bytes});
    }
    const OpDef& def = op_def(ops[i]->kind);
    const int64_t scratch =
        def.scratch_bytes != nullptr ? def.scratch_bytes(signature(*ops[i], code.values), threads) : 0;
    if (scratch > 0) alive.push_back({"scratch", layout.scratch[s][i], layout.scratch[s][i] + scratch});
    expect_apart(alive, code.name + " " + ops[i]->kind);
    for (const Piece& piece : alive) EXPECT_LE(piece.end, layout.workspace_bytes[s]) << piece.name;
  }
}

TEST(Memory, LocalsAndScratchOfAnOpNeverOverlap) {
  for_all_programs([](const Compiled& compiled, const Form&, const CompileOptions& options) {
    const Program& p = compiled.program;
    for (size_t c = 0; c < p.codes.size(); ++c)
      for (int s = 0; s < kSections; ++s)
        expect_sound_workspace(p.codes[c], p.layouts[c], static_cast<Section>(s), options.threads);
  });
}

TEST(Memory, SavedValuesLieSideBySide) {
  for_all_programs([](const Compiled& compiled, const Form&, const CompileOptions&) {
    const Program& p = compiled.program;
    for (size_t c = 0; c < p.codes.size(); ++c) {
      std::vector<Piece> saved;
      for (const ValueId id : values_with(p.codes[c].values, ValueRole::saved)) {
        const int64_t begin = p.layouts[c].offset[static_cast<size_t>(id.index)];
        saved.push_back({p.codes[c].value(id).name, begin, begin + bytes_of(p.codes[c].value(id).type)});
        EXPECT_LE(saved.back().end, p.layouts[c].saved_bytes);
      }
      expect_apart(saved, p.codes[c].name);
    }
  });
}

// --- in the arena -----------------------------------------------------------------------------------------

TEST(Memory, BuffersThatAnActionNeedsAreAliveAndApart) {
  for_all_programs([](const Compiled& compiled, const Form&, const CompileOptions&) {
    const Program& p = compiled.program;
    for (size_t t = 0; t < p.timelines.size(); ++t)
      for (size_t i = 0; i < p.timelines[t].actions.size(); ++i) {
        std::vector<Piece> alive;
        const auto now = static_cast<int32_t>(i);
        for (const Buffer& b : p.memory.buffers)
          if (b.timeline < 0 ||
              (b.timeline == static_cast<int32_t>(t) && b.first.index <= now && now <= b.last.index))
            alive.push_back({b.name, b.offset, b.offset + b.bytes});
        std::sort(alive.begin(), alive.end(),
                  [](const Piece& a, const Piece& b) { return a.begin < b.begin; });
        for (size_t k = 1; k < alive.size(); ++k)
          EXPECT_LE(alive[k - 1].end, alive[k].begin) << alive[k - 1].name << " and " << alive[k].name;
        EXPECT_LE(alive.back().end, p.memory.arena_bytes);
        EXPECT_GE(alive.front().begin, 0);
        for (const BufferId id : buffers_of(p, p.timelines[t].actions[i])) {
          const Buffer& b = p.buffer(id);
          EXPECT_TRUE(b.timeline < 0 || (b.first.index <= now && now <= b.last.index)) << b.name;
        }
      }
  });
}

TEST(Memory, TheArenaEndsWhereItsHighestBufferEnds) {
  for_all_programs([](const Compiled& compiled, const Form&, const CompileOptions&) {
    int64_t end = 0;
    for (const Buffer& b : compiled.program.memory.buffers) end = std::max(end, b.offset + b.bytes);
    EXPECT_GE(compiled.program.memory.arena_bytes, end);
    EXPECT_LT(compiled.program.memory.arena_bytes - end, kBufferAlignment);
  });
}

int64_t peak_of(const MemoryMoment& peak, BufferClass cls) { return peak.bytes[static_cast<size_t>(cls)]; }

TEST(Memory, StateTakesTheBytesPerParameterThatTheFormulasSay) {
  for_all_programs([](const Compiled& compiled, const Form& form, const CompileOptions& options) {
    const Program& p = compiled.program;
    int64_t elements = 0;  // each parameter padded to kParamAlignment
    for (const Param& param : p.params)
      elements += (count(param.shape) + kParamAlignment - 1) / kParamAlignment * kParamAlignment;
    const MemoryMoment peak = memory_peak(p);
    const bool trains = options.purpose == Purpose::training;
    EXPECT_EQ(peak_of(peak, BufferClass::master), 4 * elements);
    EXPECT_EQ(peak_of(peak, BufferClass::moment), trains ? 8 * elements : 0);
    // One accumulator per parameter, and one more for each further block that uses it.
    int64_t used_again = 0;
    for (const Param& param : p.params)
      if (param.name == "embed.weight" && compiled.model.params.back().name != "head.weight")
        used_again = (count(param.shape) + kParamAlignment - 1) / kParamAlignment * kParamAlignment;
    int64_t accumulators = 0;
    for (const Buffer& buffer : p.memory.buffers)
      if (buffer.cls == BufferClass::gradient) accumulators += buffer.bytes;
    EXPECT_EQ(accumulators, trains ? 4 * (elements + used_again) : 0);
    if (form.compute == "fp32") {
      EXPECT_EQ(peak_of(peak, BufferClass::compute), 0) << "the master weights serve";
    }
  });
}

// Counted anew: every action, every buffer.
TEST(Memory, ThePeakIsTheMostThatIsEverAlive) {
  for_all_programs([](const Compiled& compiled, const Form&, const CompileOptions&) {
    const Program& p = compiled.program;
    int64_t most = 0;
    for (size_t t = 0; t < p.timelines.size(); ++t)
      for (size_t i = 0; i < p.timelines[t].actions.size(); ++i) {
        int64_t sum = 0;
        for (const Buffer& b : p.memory.buffers) {
          const auto now = static_cast<int32_t>(i);
          if (b.timeline < 0 ||
              (b.timeline == static_cast<int32_t>(t) && b.first.index <= now && now <= b.last.index))
            sum += b.bytes;
        }
        most = std::max(most, sum);
      }
    const int64_t peak = memory_peak(p).total();
    EXPECT_EQ(peak, most);
    EXPECT_LE(peak, p.memory.arena_bytes);
    // Gaps are a few per cent of the arena at most, rounding of small buffers included.
    EXPECT_LT(p.memory.arena_bytes - peak, p.memory.arena_bytes / 20 + 64 * 64);
  });
}

}  // namespace
}  // namespace trireme
