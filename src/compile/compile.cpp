// The compile pipeline on one page: model -> (precision, fuse, autodiff, recompute, pack) -> schedule ->
// lower -> place, each verified.
#include "compile/compile.h"

#include <algorithm>

#include "compile/flops_report.h"
#include "compile/pipeline.h"
#include "ir/state_boxes.h"
#include "ir/text.h"
#include "lower/buffers.h"
#include "lower/check.h"
#include "lower/check_ranks.h"
#include "lower/code_layout.h"
#include "lower/lower.h"
#include "lower/place.h"
#include "lower/stages.h"
#include "passes/autodiff.h"
#include "passes/decode.h"
#include "passes/fuse.h"
#include "passes/overlap.h"
#include "passes/pack.h"
#include "passes/precision.h"
#include "passes/recompute.h"
#include "passes/shard.h"
#include "passes/verify.h"
#include "schedule/placement.h"

namespace trireme {
namespace {

DType compute_dtype(const RunSpec& spec) {
  return spec.precision.compute == Compute::bf16 ? DType::bf16 : DType::f32;
}

// Verifies and shows what a pass has made.
template <class Ir>
void passed(const CompileOptions& options, std::string_view pass, const Ir& ir) {
  verify(ir, pass);
  if (options.dump) options.dump(pass, to_text(ir));
}

// How the blocks of a chain become Code.
struct Derivation {
  bool backward = false;  // the forward alone, for evaluation and generation
  BackwardForm form = BackwardForm::whole;
  TableReads tables = TableReads::master;
  bool cuts = false;  // over the ranks of the block axes
  ShardPlan shard;
  int64_t tp_chunks = 1;
  Rerun layers = Rerun::gathers;  // what backward computes again of a layer; of other blocks, gathers alone
};

ParamAxes param_axes(const Mesh& mesh, int32_t rank) {
  return {.tp = mesh.tp,
          .tp_rank = mesh.tp_index(rank),
          .ep = mesh.ep,
          .ep_rank = mesh.ep_index(rank),
          .etp = mesh.etp};
}

void cut_blocks(Derivation& how, const RunSpec& spec, const Program& program) {
  const Mesh& mesh = program.mesh;
  how.cuts = mesh.tp > 1 || mesh.cp > 1 || mesh.ep > 1;
  how.shard = {.params = param_axes(mesh, program.rank),
               .cp = mesh.cp,
               .cp_rank = mesh.cp_index(program.rank),
               .cp_mode = std::string(name_of_value(spec.parallel.cp_mode)),
               .sequence = mesh.tp > 1 && spec.parallel.sequence};
  how.tp_chunks = spec.parallel.tp_chunks;
}

// What a graph's parameters are, in the order of its values: those of a block that has it.
std::vector<ParamUse> uses_of(const Model& model, size_t graph) {
  std::vector<ParamUse> uses;
  for (const ModelBlock& block : model.blocks) {
    if (static_cast<size_t>(block.graph) != graph) continue;
    for (const int32_t param : block.params) uses.push_back(model.params[static_cast<size_t>(param)].use);
    return uses;
  }
  return uses;
}

Code compile_block(Graph graph, const std::vector<ParamUse>& uses, const RunSpec& spec,
                   const CompileOptions& options, const Derivation& how, Rerun rerun) {
  passed(options, "model", graph);
  if (how.cuts) {
    shard(graph, uses, how.shard);
    passed(options, "shard", graph);
  }
  if (options.purpose == Purpose::generation) {
    add_kv_cache(graph, options.generation_context);
    passed(options, "decode", graph);
  }
  apply_precision(graph, compute_dtype(spec), how.tables);
  passed(options, "precision", graph);
  fuse_add_norm(graph);
  passed(options, "fuse", graph);
  const AxisAttrs tp{"tp", how.shard.params.tp, how.shard.params.tp_rank};
  Code code = how.backward ? autodiff(graph, how.form, tp) : forward_only(graph);
  passed(options, "autodiff", code);
  if (how.backward && (how.cuts || rerun != Rerun::gathers)) {
    recompute(code, how.form, rerun);
    passed(options, "recompute", code);
  }
  if (options.weights == WeightForm::packed) {
    pack_weights(code);
    passed(options, "pack", code);
  }
  if (how.shard.sequence && how.tp_chunks > 1) {
    overlap_collectives(code, how.tp_chunks);
    passed(options, "overlap", code);
  }
  return code;
}

// Behind the embedding come the layers; a graph is theirs or another block's.
bool is_layer(const Model& model, size_t graph, int64_t layers) {
  const auto first = model.blocks.begin() + 1;
  return std::any_of(first, first + layers,
                     [&](const ModelBlock& block) { return static_cast<size_t>(block.graph) == graph; });
}

Rerun rerun_of(RecomputeKind recompute) {
  if (recompute == RecomputeKind::none) return Rerun::gathers;
  return recompute == RecomputeKind::selective ? Rerun::cheap : Rerun::all;
}

// Equal blocks share their Code: one per graph of the model.
Chain compile_chain(Program& program, const Model& model, const RunSpec& spec, const CompileOptions& options,
                    const Derivation& how) {
  std::vector<CodeId> codes;
  for (size_t g = 0; g < model.graphs.size(); ++g) {
    codes.push_back(CodeId(static_cast<int64_t>(program.codes.size())));
    const Rerun rerun = is_layer(model, g, spec.model.layers) ? how.layers : Rerun::gathers;
    program.codes.push_back(compile_block(model.graphs[g], uses_of(model, g), spec, options, how, rerun));
    program.layouts.push_back(lay_out(program.codes.back(), program.batch, program.threads, how.form));
  }
  Chain chain;
  for (const ModelBlock& block : model.blocks) {
    std::vector<ParamId> params;
    for (const int32_t param : block.params) params.push_back(ParamId(param));
    chain.push_back({block.name, codes[static_cast<size_t>(block.graph)], std::move(params)});
  }
  return chain;
}

void add_batch_fields(Program& program, const ModelInputs& inputs) {
  const TensorType per_token{DType::i32, {inputs.batch, inputs.seq_len / program.mesh.cp}};
  const auto add = [&](const char* name, const TensorType& type) {
    program.batch.push_back({name, type, program.batch_bytes});
    program.batch_bytes += (bytes_of(type) + kBufferAlignment - 1) / kBufferAlignment * kBufferAlignment;
  };
  add("tokens", per_token);
  if (inputs.head == HeadResult::loss) add("targets", per_token);
  if (inputs.positions) add("positions", per_token);
  if (inputs.doc_start) add("doc_start", per_token);
  if (inputs.head == HeadResult::logits) add("length", {DType::i32, {1}});
}

// Whether a row's place in its rank's part of a sequence is not its position.
bool loses_positions(const RunSpec& spec, const Mesh& mesh) {
  return mesh.cp > 1 || (mesh.tp > 1 && spec.parallel.sequence && spec.model.family == Family::gpt2);
}

void add_params(Program& program, const Model& model) {
  for (const ParamSpec& param : model.params)
    program.params.push_back(
        {.name = param.name,
         .shape = param.shape,
         .role = param.use.role,
         .cut = cut_param(param.use, param.shape, param_axes(program.mesh, program.rank)),
         .decay = param.decay});
}

UpdateRule update_rule(const RunSpec& spec) {
  const OptimizerSpec& o = spec.optimizer;
  return {.kind = o.kind,
          .beta1 = o.beta1,
          .beta2 = o.beta2,
          .eps = o.eps,
          .momentum = o.momentum,
          .weight_decay = o.weight_decay,
          .clip_norm = o.clip_norm,
          .balance_rate = spec.model.moe.balance_rate};
}

Moments moments_of(const OptimizerSpec& optimizer) {
  return optimizer.kind == OptimizerKind::adamw ? Moments::two : Moments::one;
}

// Room for a copy of what the rank writes of a checkpoint.
void add_staging(Program& program) {
  const int64_t bytes = written_bytes(program);
  if (bytes > 0) program.staging = add_buffer(program, "staging", BufferClass::staging, bytes);
}

// FLOPs per micro-batch and block, by which stages are balanced.
std::vector<double> costs_of(const Program& program, const Chain& chain) {
  std::vector<double> by_code;
  for (const Code& code : program.codes) by_code.push_back(static_cast<double>(block_flops(code)));
  std::vector<double> costs;
  for (const ChainBlock& block : chain) costs.push_back(by_code[static_cast<size_t>(block.code.index)]);
  return costs;
}

StageMap map_stages(const Program& program, const Chain& chain, const RunSpec& spec,
                    const StagePlacement& placement) {
  return {placement,
          cut_chain(costs_of(program, chain), spec.model.layers, placement.stages(), spec.parallel.stages),
          program.mesh.stage_rank(program.rank)};
}

// Blocks that have a parameter in common with an earlier one.
std::vector<std::pair<size_t, size_t>> shared_blocks(const std::vector<GroupPlan>& groups) {
  std::vector<std::pair<size_t, size_t>> pairs;
  for (const GroupPlan& group : groups)
    for (size_t i = 1; i < group.uses.size(); ++i) pairs.push_back({group.uses[0], group.uses[i]});
  return pairs;
}

void compile_training(Compiled& out, const RunSpec& spec, const CompileOptions& options,
                      const ModelInputs& inputs) {
  Program& program = out.program;
  add_batch_fields(program, inputs);
  const bool trains = options.purpose == Purpose::training;
  const int32_t ranks = program.mesh.data_parallel();
  CHECK(options.eval_micro_batches % ranks == 0, "{} micro-batches of evaluation on {} ranks",
        options.eval_micro_batches, ranks);
  const auto evals = static_cast<int32_t>(options.eval_micro_batches / ranks);
  const Schedule schedule = trains ? make_pipeline(spec) : forwards(loop_placement(1, 1), evals);
  RankPlan plan;
  plan.compute = compute_dtype(spec);
  plan.form = schedule.split_backward ? BackwardForm::split : BackwardForm::whole;
  plan.sharding = sharding_of(spec, program.mesh, program.rank);
  Derivation how;
  how.tables = plan.sharding.cuts() ? TableReads::copy : TableReads::master;
  cut_blocks(how, spec, program);
  std::vector<Chain> chains;
  Derivation training = how;
  training.backward = true;
  training.form = plan.form;
  training.layers = rerun_of(spec.parallel.recompute);
  if (trains) chains.push_back(compile_chain(program, out.model, spec, options, training));
  if (evals > 0) chains.push_back(compile_chain(program, out.model, spec, options, how));
  plan.map = trains ? map_stages(program, chains.front(), spec, schedule.placement)
                    : one_stage(chains.front().size());
  const std::vector<GroupPlan> groups = add_groups(program, chains, plan.sharding, plan.map, plan.compute,
                                                   trains ? moments_of(spec.optimizer) : Moments::none);
  if (trains && spec.checkpoint.async) add_staging(program);
  plan.comms = add_comm_groups(program, plan.map, shared_blocks(groups));
  if (trains) lower_training(program, groups, chains.front(), schedule, plan, update_rule(spec));
  if (evals > 0) lower_evaluation(program, groups, chains.back(), forwards(schedule.placement, evals), plan);
}

void compile_generation(Compiled& out, const RunSpec& spec, const CompileOptions& options,
                        ModelInputs inputs) {
  Program& program = out.program;
  add_batch_fields(program, inputs);
  const Chain prefill = compile_chain(program, out.model, spec, options, {});
  inputs.seq_len = 1;
  const Chain decode = compile_chain(program, build_model(spec.model, inputs), spec, options, {});
  RankPlan plan;
  plan.compute = compute_dtype(spec);
  plan.map = one_stage(prefill.size());
  const std::vector<GroupPlan> groups =
      add_groups(program, {prefill, decode}, plan.sharding, plan.map, plan.compute, Moments::none);
  lower_generation(program, groups, prefill, decode, plan);
}

}  // namespace

Mesh mesh_of(const RunSpec& spec) {
  const ParallelSpec& p = spec.parallel;
  return {.pp = static_cast<int32_t>(p.pp),
          .dp_replicate = static_cast<int32_t>(p.dp_replicate),
          .dp_shard = static_cast<int32_t>(p.dp_shard),
          .cp = static_cast<int32_t>(p.cp),
          .tp = static_cast<int32_t>(p.tp),
          .ep = static_cast<int32_t>(p.ep),
          .etp = p.tp > 1 ? static_cast<int32_t>(p.etp) : 1};
}

Compiled compile(const RunSpec& spec, const CompileOptions& requested) {
  CompileOptions options = requested;
  if (options.generation_context == 0) options.generation_context = spec.model.context;
  Compiled out;
  out.program.name = spec.run.name;
  out.program.threads = options.threads;
  if (options.purpose == Purpose::training) {
    out.program.mesh = mesh_of(spec);
    out.program.rank = options.rank;
  }
  CHECK(options.rank >= 0 && options.rank < out.program.mesh.ranks(), "rank {} of {}", options.rank,
        out.program.mesh.ranks());
  ModelInputs inputs;
  if (options.purpose == Purpose::generation) {
    // No chunk of a prompt is longer than the caches.
    const int64_t chunk = std::min(options.prefill_tokens, options.generation_context);
    inputs = {.batch = 1, .seq_len = chunk, .positions = true, .head = HeadResult::logits};
  } else {
    const bool documents = spec.data.packing == Packing::document;
    inputs = {.batch = spec.batch.micro,
              .seq_len = spec.data.seq_len,
              .positions = documents || loses_positions(spec, out.program.mesh),
              .doc_start = documents};
  }
  out.model = build_model(spec.model, inputs);
  add_params(out.program, out.model);
  if (options.purpose == Purpose::generation)
    compile_generation(out, spec, options, inputs);
  else
    compile_training(out, spec, options, inputs);
  place(out.program);
  check_program(out.program);
  if (options.dump) options.dump("program", to_text(out.program));
  return out;
}

std::vector<int64_t> prove_pipeline(const RunSpec& spec, const CompileOptions& requested,
                                    const Program& mine) {
  if (mine.mesh.pp == 1) return {mine.memory.arena_bytes};
  CompileOptions options = requested;
  options.dump = nullptr;
  std::vector<Program> programs;
  std::vector<int64_t> arenas;
  for (int32_t stage_rank = 0; stage_rank < mine.mesh.pp; ++stage_rank) {
    options.rank = stage_rank * mine.mesh.ranks_per_stage() + mine.rank % mine.mesh.ranks_per_stage();
    programs.push_back(options.rank == mine.rank ? mine : compile(spec, options).program);
    arenas.push_back(programs.back().memory.arena_bytes);
  }
  const std::string fault = find_rank_fault(programs);
  CHECK(fault.empty(), "{}", fault);
  return arenas;
}

}  // namespace trireme
