// What every compiled Program keeps: it prints and parses back, it is the same bytes every time, and each
// parameter is held, differentiated and updated exactly once.
#include "compile/compile.h"

#include <gtest/gtest.h>

#include <map>
#include <set>

#include "base/clock.h"
#include "compile/specs.h"
#include "ir/text.h"
#include "lower/param_groups.h"
#include "ops/adamw/adamw.h"

namespace trireme {
namespace {

using test::for_all_programs;
using test::Form;
using test::spec_of;

TEST(Compile, ProgramsParseBackEqual) {
  for_all_programs([](const Compiled& compiled, const Form&, const CompileOptions&) {
    EXPECT_TRUE(parse_program(to_text(compiled.program)) == compiled.program);
  });
}

TEST(Compile, TheSameSpecGivesTheSameBytes) {
  for_all_programs([](const Compiled& compiled, const Form& form, const CompileOptions& options) {
    EXPECT_EQ(to_text(compile(spec_of(form), options).program), to_text(compiled.program));
  });
}

TEST(Compile, TimelinesByPurpose) {
  const auto names = [](const CompileOptions& options) {
    std::string text;
    for (const Timeline& timeline : compile(spec_of({}), options).program.timelines)
      text += timeline.name + " ";
    return text;
  };
  EXPECT_EQ(names({}), "train ");
  EXPECT_EQ(names({.eval_micro_batches = 1}), "train eval ");
  EXPECT_EQ(names({.purpose = Purpose::evaluation, .eval_micro_batches = 1}), "eval ");
  EXPECT_EQ(names({.purpose = Purpose::generation}), "weights prefill decode ");
}

TEST(Compile, DumpsEveryPassAsTextThatParses) {
  std::vector<std::string> passes;
  CompileOptions options;
  options.dump = [&](std::string_view pass, const std::string& text) {
    passes.emplace_back(pass);
    if (text.starts_with("graph")) {
      EXPECT_EQ(to_text(parse_graph(text)), text);
    } else if (text.starts_with("code")) {
      EXPECT_EQ(to_text(parse_code(text)), text);
    } else {
      EXPECT_EQ(to_text(parse_program(text)), text);
    }
  };
  compile(spec_of({}), options);
  const std::vector<std::string> block = {"model", "precision", "fuse", "autodiff", "pack"};
  std::vector<std::string> expected;
  for (int kind = 0; kind < 3; ++kind) expected.insert(expected.end(), block.begin(), block.end());
  expected.emplace_back("program");
  EXPECT_EQ(passes, expected);
}

// --- parameters -------------------------------------------------------------------------------------------

int64_t padded(int64_t elements) {
  return (elements + kParamAlignment - 1) / kParamAlignment * kParamAlignment;
}

TEST(Compile, ParametersStandOnceInTheFlatBuffers) {
  for_all_programs([](const Compiled& compiled, const Form&, const CompileOptions&) {
    const Program& p = compiled.program;
    ASSERT_EQ(p.params.size(), compiled.model.params.size());
    std::set<std::string> names;
    std::vector<std::map<int64_t, int64_t>> taken(p.groups.size());  // by group: begin -> end
    for (const Param& param : p.params) {
      EXPECT_TRUE(names.insert(param.name).second) << param.name;
      EXPECT_EQ(param.offset % kParamAlignment, 0);
      taken.at(static_cast<size_t>(param.group.index))[param.offset] =
          param.offset + padded(count(param.shape));
    }
    size_t places = 0;
    for (size_t g = 0; g < p.groups.size(); ++g) {
      int64_t end = 0;  // no gaps, no overlaps
      for (const auto& [begin, stop] : taken[g]) {
        EXPECT_EQ(begin, end) << p.groups[g].name;
        end = stop;
      }
      EXPECT_EQ(end, p.groups[g].elements);
      EXPECT_EQ(p.buffer(p.groups[g].master).bytes, 4 * p.groups[g].elements);
      places += taken[g].size();
    }
    EXPECT_EQ(places, p.params.size());
  });
}

// The bytes of a buffer that bindings of one kind cover, each as (begin, end).
using Cover = std::map<BufferId, std::map<int64_t, int64_t>>;

void expect_covered_once(const Cover& cover, BufferId buffer, int64_t bytes) {
  const auto found = cover.find(buffer);
  ASSERT_NE(found, cover.end());
  int64_t end = 0;
  for (const auto& [begin, stop] : found->second) {
    EXPECT_EQ(begin, end);
    end = stop;
  }
  EXPECT_EQ(end, bytes);
}

TEST(Compile, TheOptimizerUpdatesEveryElementOnceWithItsDecay) {
  for_all_programs([](const Compiled& compiled, const Form& form, const CompileOptions& options) {
    if (options.purpose != Purpose::training) return;
    const Program& p = compiled.program;
    std::array<Cover, 4> covers;                           // grad, master, moment1, moment2
    std::map<std::pair<BufferId, int64_t>, double> decay;  // of a range of master weights
    for (const Action& action : find_timeline(p, "train")->actions) {
      if (action.kind != ActionKind::optimizer) continue;
      const Unit& unit = p.unit(action.unit);
      const Code& code = p.code(unit.code);
      for (const Op& op : code.forward) {
        ASSERT_EQ(op.kind, "adamw");
        const std::array ids = {op.inputs[0], op.outputs[0], op.outputs[1], op.outputs[2]};
        for (size_t k = 0; k < ids.size(); ++k) {
          const Location& at = unit.bound[static_cast<size_t>(ids[k].index)];
          const int64_t end = at.offset + bytes_of(code.value(ids[k]).type);
          EXPECT_TRUE(covers[k][at.buffer].emplace(at.offset, end).second);
        }
        const Location& master = unit.bound[static_cast<size_t>(ids[1].index)];
        for (int64_t b = master.offset; b < covers[1][master.buffer][master.offset]; b += 4 * kParamAlignment)
          decay[{master.buffer, b}] = unpack_attrs<AdamwAttrs>(op.attrs).weight_decay;
      }
    }
    for (const ParamGroup& group : p.groups) {
      expect_covered_once(covers[1], group.master, 4 * group.elements);
      expect_covered_once(covers[2], group.moment1, 4 * group.elements);
      expect_covered_once(covers[3], group.moment2, 4 * group.elements);
    }
    EXPECT_EQ(covers[0].size(), p.groups.size());
    for (const auto& [buffer, ranges] : covers[0])
      expect_covered_once(covers[0], buffer, p.buffer(buffer).bytes);
    for (size_t i = 0; i < p.params.size(); ++i) {
      const Param& param = p.params[i];
      const BufferId master = p.groups[static_cast<size_t>(param.group.index)].master;
      const double expected = compiled.model.params[i].decay ? spec_of(form).optimizer.weight_decay : 0.0;
      EXPECT_EQ((decay.at({master, param.offset * 4})), expected) << param.name;
    }
  });
}

TEST(Compile, EveryParameterGetsAGradientInItsPlace) {
  for_all_programs([](const Compiled& compiled, const Form&, const CompileOptions& options) {
    if (options.purpose != Purpose::training) return;
    const Program& p = compiled.program;
    const Timeline& train = *find_timeline(p, "train");
    std::map<std::string, std::set<BufferId>> gradients;  // by group: one per block that uses it
    for (const Action& action : train.actions)
      if (action.kind == ActionKind::zero) {
        const BufferId cleared = p.unit(action.unit).bound.at(0).buffer;
        const std::string& name = p.buffer(cleared).name;
        gradients[name.substr(0, name.find("/gradient"))].insert(cleared);
      }
    EXPECT_EQ(gradients.size(), p.groups.size());
    std::set<std::pair<BufferId, int64_t>> added;  // where some op adds a gradient
    std::map<std::pair<BufferId, int64_t>, Shape> shapes;
    for (const Action& action : train.actions) {
      if (action.kind != ActionKind::forward && action.kind != ActionKind::backward) continue;
      const Unit& unit = p.unit(action.unit);
      const Code& code = p.code(unit.code);
      for (const Op* op : ops_of(code, section_of(action.kind)))
        for (const ValueId id : op->outputs) {
          if (!id.valid() || code.value(id).role != ValueRole::param_grad) continue;
          const Location& at = unit.bound[static_cast<size_t>(id.index)];
          added.insert({at.buffer, at.offset});
          shapes[{at.buffer, at.offset}] = code.value(id).type.shape;
        }
    }
    size_t places = 0;
    for (const Param& param : p.params)
      for (const BufferId gradient : gradients.at(p.groups[static_cast<size_t>(param.group.index)].name)) {
        const std::pair place(gradient, param.offset * 4);
        EXPECT_TRUE(added.contains(place)) << param.name;
        EXPECT_EQ(shapes[place], param.shape) << param.name;
        ++places;
      }
    EXPECT_EQ(added.size(), places);
  });
}

TEST(Compile, ATiedEmbeddingIsAGroupOfItsOwnAndEqualBlocksShareCode) {
  const auto groups = [](const char* tie) {
    std::string text;
    for (const ParamGroup& group : compile(spec_of({.more = tie}), {}).program.groups)
      text += group.name + " ";
    return text;
  };
  EXPECT_EQ(groups("tie_embeddings = true"), "embed.weight embed layers.0 layers.1 head ");
  EXPECT_EQ(groups("tie_embeddings = false"), "embed layers.0 layers.1 head ");
  EXPECT_EQ(compile(spec_of({.layers = 2}), {}).program.codes.size(),
            compile(spec_of({.layers = 20}), {}).program.codes.size());
}

TEST(Compile, WeightsArePackedOncePerStepNotPerMicroBatch) {
  for (const int64_t sequences : {2, 8}) {
    const Compiled compiled = compile(spec_of({.sequences = sequences, .micro = 2}), {});
    int packs = 0, forwards = 0;
    for (const Action& action : compiled.program.timelines[0].actions) {
      packs += action.kind == ActionKind::prepare ? 1 : 0;
      forwards += action.kind == ActionKind::forward ? 1 : 0;
    }
    EXPECT_EQ(packs, 3) << "two layers and the head";
    EXPECT_EQ(forwards, 4 * sequences / 2);
  }
}

// --- size -------------------------------------------------------------------------------------------------

void compile_large(const Form& form) {
  const RunSpec spec = spec_of(form);
  const double start = thread_seconds_now();
  const Compiled compiled = compile(spec, {.threads = 2, .eval_micro_batches = 4});
  const double seconds = thread_seconds_now() - start;
  EXPECT_EQ(compiled.model.blocks.size(), static_cast<size_t>(form.layers) + 2);
  fmt::print("{} layers, {} micro-batches: {} actions, {} buffers, compiled in {:.3f} s of CPU time\n",
             form.layers, form.sequences / form.micro, compiled.program.timelines[0].actions.size(),
             compiled.program.memory.buffers.size(), seconds);
}

TEST(Compile, FourHundredLayers) {
  compile_large({.family = "llama", .layers = 400, .sequences = 8, .micro = 2});
}

TEST(Compile, ManyMicroBatches) { compile_large({.layers = 48, .sequences = 128, .micro = 1}); }

}  // namespace
}  // namespace trireme
