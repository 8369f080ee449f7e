// Rows come from a counter-based generator, so that every rank can make its own.
#include "dist/layout_run.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <mutex>

#include "base/random.h"
#include "compile/compile.h"
#include "device/cpu/cpu_device.h"
#include "ops/attention/context_rows.h"
#include "train/optimizer_step.h"
#include "train/ranks.h"
#include "train/saver.h"
#include "train/state_parts.h"
#include "train/weights.h"

namespace trireme::test {
namespace {

constexpr int64_t kLength = 16, kVocab = 97, kEvalSequences = 11;

struct Rows {
  std::vector<int32_t> tokens, targets, positions, doc_start;
  int64_t counted = 0;
};

// Sequences [begin, end) of the endless data; from `last` on nothing counts.
Rows rows(int64_t begin, int64_t end, int64_t last, bool documents) {
  const RandomStream draw(3, "dist/tokens");
  Rows rows;
  for (int64_t k = begin; k < end; ++k)
    for (int64_t t = 0; t < kLength; ++t) {
      const auto token = [&](int64_t place) {
        const double u = draw.uniform(static_cast<uint64_t>(k * (kLength + 1) + place));
        return static_cast<int32_t>(u * u * static_cast<double>(kVocab));
      };
      const bool counts = k < last && !(k % 3 == 1 && t > 9);
      rows.tokens.push_back(token(t));
      rows.targets.push_back(counts ? token(t + 1) : -1);
      rows.counted += counts ? 1 : 0;
      // Two documents per row, which meet at another place in each.
      const int64_t second = 5 + k % 7;
      const int64_t start = documents && t >= second ? second : 0;
      rows.positions.push_back(static_cast<int32_t>(t - start));
      rows.doc_start.push_back(static_cast<int32_t>(start));
    }
  return rows;
}

const std::vector<int32_t>& field_of(const Rows& rows, const std::string& name) {
  if (name == "tokens") return rows.tokens;
  if (name == "targets") return rows.targets;
  return name == "positions" ? rows.positions : rows.doc_start;
}

// The rank's part of the rows, in micro-batches.
std::vector<BatchArrays> arrays_of(const Program& program, const RunSpec& spec, const Rows& rows) {
  std::vector<BatchArrays> batches;
  const auto micro_tokens = static_cast<size_t>(spec.batch.micro * kLength / program.mesh.cp);
  for (size_t at = 0; at < rows.tokens.size(); at += micro_tokens) {
    BatchArrays arrays;
    for (const BatchField& field : program.batch) arrays.push_back(field_of(rows, field.name).data() + at);
    batches.push_back(arrays);
  }
  return batches;
}

// Of every row, what this rank of cp has.
Rows context_part(const Program& program, const RunSpec& spec, const Rows& whole) {
  const Mesh& mesh = program.mesh;
  if (mesh.cp == 1) return whole;
  const ContextRows cut = context_rows_of(name_of_value(spec.parallel.cp_mode));
  Rows part;
  part.counted = whole.counted;
  for (size_t row = 0; row < whole.tokens.size(); row += kLength)
    for (const auto& [begin, count] : context_rows(kLength, mesh.cp, mesh.cp_index(program.rank), cut))
      for (int64_t t = begin; t < begin + count; ++t) {
        const size_t at = row + static_cast<size_t>(t);
        part.tokens.push_back(whole.tokens[at]);
        part.targets.push_back(whole.targets[at]);
        part.positions.push_back(whole.positions[at]);
        part.doc_start.push_back(whole.doc_start[at]);
      }
  return part;
}

// Every rank adds what it would write to a checkpoint; what nobody does stays NaN.
void add_state(RankLink& link, const Engine& engine, std::map<std::string, std::vector<float>>& state) {
  const Program& program = engine.program();
  if (link.leads())
    for (const NamedState& named : kTrainingStates)
      for (const Param& param : program.params)
        if (keeps(program, named.state))
          state[named.prefix + param.name].assign(static_cast<size_t>(count(param.shape)), NAN);
  link.meet("the end");
  for (const TensorPart& part : written_parts(engine)) {
    std::vector<float>& whole = state.at(part.tensor);
    const auto* values = reinterpret_cast<const float*>(part.bytes.data());
    for (const BoxRun& run : overlap_of(part.part, whole_of(part.shape)))
      std::copy_n(values + run.from, run.count, whole.begin() + run.to);
  }
  link.meet("the end");
}

void set_state(Engine& engine, const std::map<std::string, std::vector<float>>& state) {
  const std::vector<Param>& params = engine.program().params;
  for (size_t i = 0; i < params.size(); ++i) {
    const ParamId id(static_cast<int64_t>(i));
    engine.write_state(id, ParamState::master, state.at("params/" + params[i].name));
    engine.write_state(id, ParamState::moment1, state.at("moment1/" + params[i].name));
    if (const auto found = state.find("moment2/" + params[i].name); found != state.end())
      engine.write_state(id, ParamState::moment2, found->second);
  }
}

// One rank's whole life; the leader fills in the trace.
int run_rank(RankLink& link, const RunSpec& spec, const Span& steps, const Trace* from, Trace& trace) {
  const int64_t evals = eval_micro_batches(spec, kEvalSequences);
  const Compiled compiled = compile(spec, {.rank = link.rank(), .threads = 1, .eval_micro_batches = evals});
  const auto device = make_cpu_device({.threads = 1});
  Engine engine(compiled.program, *device, link.connect(compiled.program));
  if (steps.from != nullptr)
    restore_state(engine, CheckpointReader(*steps.from, checkpoint_name(steps.begin)));
  else if (from != nullptr)
    set_state(engine, from->state);
  else
    initialize_weights(engine, compiled.model, 7, 1);
  return link.guarded([&] {
    const Mesh& mesh = compiled.program.mesh;
    const bool documents = spec.data.packing == Packing::document;
    const int64_t all = spec.batch.sequences, mine = all / mesh.data_parallel();
    const int64_t place = mesh.data_parallel_index(link.rank());
    for (int64_t step = steps.begin; step < steps.end; ++step) {
      if (steps.before) steps.before(link, engine, step);
      const int64_t first = step * all + place * mine;
      const Rows batch =
          context_part(compiled.program, spec, rows(first, first + mine, INT64_MAX, documents));
      const double own = mesh.counts_rows(link.rank()) ? static_cast<double>(batch.counted) : 0.0;
      const auto counted = static_cast<int64_t>(link.sum(own, "counted tokens"));
      if (link.leads()) trace.counted = counted;
      const StepOutcome outcome =
          run_optimizer_step(engine, spec.optimizer, {spec.optimizer.lr, step + 1, counted},
                             arrays_of(compiled.program, spec, batch));
      if (!link.leads()) continue;
      trace.skipped.push_back(outcome.skipped);
      trace.loss.push_back(outcome.loss);
      trace.grad_norm.push_back(outcome.grad_norm);
    }
    if (steps.to != nullptr) {
      Saver saver(link, engine, *steps.to, {});
      saver.save({.step = steps.end}, Saver::Behind::yes);
      for (const SaveNews& news : saver.take_news()) EXPECT_EQ(news.failure, "");
    }
    const int64_t part = evals / mesh.data_parallel(), begin = 1'000'000 + place * part * spec.batch.micro;
    const Rows set =
        context_part(compiled.program, spec,
                     rows(begin, begin + part * spec.batch.micro, 1'000'000 + kEvalSequences, documents));
    engine.run(*find_timeline(compiled.program, "eval"), arrays_of(compiled.program, spec, set));
    double sums[2] = {};
    engine.read_buffer(compiled.program.result, sums, sizeof sums);
    if (link.leads()) trace.eval_loss = sums[0];
    add_state(link, engine, trace.state);
    return 0;
  });
}

}  // namespace

std::string name_of(const Layout& l) {
  return fmt::format(
      "pp {} ({}, {} stages each) x dp_replicate {} x dp_shard {}, zero {}, lanes {}, reshard {}, each {}, "
      "prefetch {}; tp {} (sequence {}, chunks {}), cp {} ({}), ep {}, etp {}; recompute {}",
      l.pp, l.schedule, l.virtual_stages, l.replicate, l.shard, l.zero, l.lanes, l.reshard,
      l.each_micro_batch, l.prefetch, l.tp, l.sequence, l.tp_chunks, l.cp, l.cp_mode, l.ep, l.etp,
      l.recompute);
}

RunSpec spec_of(const RunForm& form, const Layout& l) {
  const std::string family =
      form.family == "gpt2" ? "activation = \"gelu_tanh\"\ntie_embeddings = true"
      : form.family == "llama"
          ? fmt::format("kv_heads = {}\nqk_norm = true\ntie_embeddings = false", form.kv_heads)
          : "";
  std::string styles = fmt::format("recompute = \"{}\"\n", l.recompute);
  if (l.zero == 3) styles += fmt::format("reshard_after_forward = {}\n", l.reshard);
  if (l.zero >= 2) styles += fmt::format("reduce_each_micro_batch = {}\n", l.each_micro_batch);
  if (l.zero >= 1) styles += fmt::format("prefetch = {}\n", l.prefetch);
  if (l.tp > 1) styles += fmt::format("tp = {}\nsequence = {}\netp = {}\n", l.tp, l.sequence, l.etp);
  if (l.tp > 1 && l.sequence) styles += fmt::format("tp_chunks = {}\n", l.tp_chunks);
  if (l.cp > 1) styles += fmt::format("cp = {}\ncp_mode = \"{}\"\n", l.cp, l.cp_mode);
  if (l.ep > 1) styles += fmt::format("ep = {}\n", l.ep);
  const std::string pipeline = l.pp > 1 ? fmt::format("pp = {}\nschedule = \"{}\"\nvirtual_stages = {}\n",
                                                      l.pp, l.schedule, l.virtual_stages)
                                        : std::string();
  return parse_config(
      fmt::format(
          "[model]\nfamily = \"{}\"\nlayers = {}\nwidth = 32\nheads = 4\nvocab = {}\ncontext = {}\n{}\n{}\n"
          "[data]\ntrain = [\"unused.bin\"]\nseq_len = {}\npacking = \"{}\"\n"
          "[batch]\nsequences = {}\nmicro = {}\nlanes = {}\n[parallel]\ndp_replicate = {}\n"
          "dp_shard = {}\nzero = {}\n{}{}[optimizer]\nlr = {}\nclip_norm = {}\n{}\n"
          "[precision]\ncompute = \"{}\"\n[run]\nname = \"dist\"\nsteps = 10\n{}",
          form.family, form.layers, kVocab, kLength, family, form.more, kLength,
          form.documents ? "document" : "stream", form.sequences, form.micro, l.lanes, l.replicate, l.shard,
          l.zero, styles, pipeline, form.lr, form.clip_norm, form.optimizer, form.compute, form.sections),
      "dist");
}

Trace run_layout(const RunForm& form, const Layout& layout, const Span& steps, const Trace* from) {
  const RunSpec spec = spec_of(form, layout);
  Trace trace;
  run_ranks({.mesh = mesh_of(spec), .timeout_s = 120, .threads = static_cast<int>(layout.ranks())},
            [&](RankLink& link) { return run_rank(link, spec, steps, from, trace); });
  return trace;
}

void expect_same(const Trace& a, const Trace& b) {
  EXPECT_EQ(a.loss, b.loss);
  EXPECT_EQ(a.grad_norm, b.grad_norm);
  EXPECT_EQ(a.eval_loss, b.eval_loss);
  ASSERT_EQ(a.state.size(), b.state.size());
  for (const auto& [name, values] : a.state) {
    const std::vector<float>& others = b.state.at(name);
    ASSERT_EQ(values.size(), others.size()) << name;
    EXPECT_EQ(std::memcmp(values.data(), others.data(), values.size() * sizeof(float)), 0) << name;
  }
}

void expect_close(const Trace& a, const Trace& b) {
  EXPECT_EQ(a.counted, b.counted);
  ASSERT_EQ(a.loss.size(), b.loss.size());
  for (size_t i = 0; i < a.loss.size(); ++i) {
    EXPECT_NEAR(a.loss[i], b.loss[i], 1e-4 * b.loss[i]) << "loss of step " << i;
    EXPECT_NEAR(a.grad_norm[i], b.grad_norm[i], 1e-4 * b.grad_norm[i]) << "grad norm of step " << i;
  }
  EXPECT_NEAR(a.eval_loss, b.eval_loss, 1e-4 * b.eval_loss);
}

void expect_close_weights(const Trace& a, const Trace& b) {
  ASSERT_EQ(a.state.size(), b.state.size());
  for (const auto& [name, values] : a.state) {
    if (!name.starts_with("params/")) continue;
    const std::vector<float>& others = b.state.at(name);
    ASSERT_EQ(values.size(), others.size()) << name;
    float largest = 1;
    for (const float x : others) largest = std::max(largest, std::abs(x));
    float apart = 0;
    for (size_t i = 0; i < values.size(); ++i) apart = std::max(apart, std::abs(values[i] - others[i]));
    EXPECT_LE(apart, 1e-5f * largest) << name;
  }
}

}  // namespace trireme::test
