// The start of a run, step by step.
#include "train/run_setup.h"

#include <fmt/ranges.h>

#include <algorithm>

#include "base/error.h"
#include "compile/memory_report.h"
#include "io/checkpoint/place.h"
#include "io/checkpoint/retention.h"
#include "io/store/directory_store.h"
#include "model/flops.h"
#include "obs/append_file.h"
#include "train/data_options.h"

namespace trireme {
namespace {

enum class Decayed : uint8_t { yes, no };

// "layers.3.attn.qkv.weight" -> "layers.*.attn.qkv.weight": equal blocks have equal parameters.
std::string without_layer(const std::string& name) {
  if (!name.starts_with("layers.")) return name;
  return "layers.*" + name.substr(name.find('.', std::string("layers.").size()));
}

std::string parameter_names(const Model& model, Decayed decayed) {
  std::vector<std::string> names;
  for (const ParamSpec& param : model.params) {
    const std::string name = without_layer(param.name);
    if (param.decay == (decayed == Decayed::yes) &&
        std::find(names.begin(), names.end(), name) == names.end())
      names.push_back(name);
  }
  return names.empty() ? "nothing" : fmt::format("{}", fmt::join(names, " "));
}

}  // namespace

RunSetup::RunSetup(const RunSpec& run_spec, const S3Options& s3_options, const RanksHere& ranks_here,
                   const LogOptions& log_options)
    : spec(run_spec),
      s3(s3_options),
      here(ranks_here),
      folder(run_folder(spec)),
      threads(thread_count(spec)),
      log(log_options),
      mesh(mesh_of(spec)),
      checkpoints(open_directory_store(folder.checkpoints())),
      traces(folder.traces(), here) {
  if (spec.checkpoint.notice)
    notice.emplace(
        NoticeOptions{.place = *spec.checkpoint.notice, .every_s = spec.checkpoint.notice_every_s});
  open_data();
  compile_program();
}

RunSetup::RunSetup(const RunSpec& run_spec, const ResumeChoice& resume, const S3Options& s3_options,
                   const RanksHere& ranks_here)
    : RunSetup(run_spec, s3_options, ranks_here, LogOptions{}) {
  enter_folder(resume);
  peak = peak_flops(spec, threads);
  if (checkpoint) start = checkpoint->reader.meta();
  open_mirror();
  open_initial_weights();
  replace_file(folder.config(), [&](AppendFile& file) { file.append(to_toml(spec)); });
  if (tokenizer) save_tokenizer(*tokenizer, folder.tokenizer());
  describe();
  if (!is_done()) return;
  clear_leftovers();
  log.info("{} is already at step {} of {}: nothing to do; raise run.steps to train on", folder.path,
           start.step, spec.run.steps);
}

// The process that saved the last checkpoint may have been killed before it had removed older ones.
void RunSetup::clear_leftovers() {
  try {
    for (const std::string& name : remove_leftovers(*checkpoints)) log.info("removed {}", name);
    for (const std::string& name : superseded(list_checkpoints(*checkpoints), start.step, retention(), {})) {
      checkpoints->remove(name);
      log.info("removed {}", name);
    }
  } catch (const EnvError& error) {
    log.warn("{}", error.what());
  }
}

RunSetup::RunSetup(const RunSpec& run_spec, const std::string& from, const S3Options& s3_options,
                   const RanksHere& ranks_here)
    : RunSetup(run_spec, s3_options, ranks_here, LogOptions{.terminal = nullptr}) {
  if (!from.empty()) take(from);
  open_initial_weights();
}

// The last process may have ended before all was copied.
void RunSetup::open_mirror() {
  if (!spec.checkpoint.mirror) return;
  mirror.emplace(MirrorOptions{.source = folder.checkpoints(), .target = *spec.checkpoint.mirror, .s3 = s3});
  for (const CheckpointName& own : committed_checkpoints(*checkpoints)) mirror->submit(own.name);
}

// A run that goes on has its own weights.
void RunSetup::open_initial_weights() {
  if (!spec.model.init_from) return;
  if (checkpoint) {
    log.info("model.init_from = {} is passed over: the run goes on with the weights of {}",
             *spec.model.init_from, checkpoint->reader.location());
    return;
  }
  try {
    initial.emplace(*spec.model.init_from, spec.model,
                    [&](const std::string& note) { log.info("{}", note); });
  } catch (const UserError& error) {
    fail_user("model.init_from = {}: {}", *spec.model.init_from, error.what());
  }
  log.info("the first weights are those of {}", *spec.model.init_from);
}

void RunSetup::take(const std::string& location) {
  checkpoint = open_checkpoint(location, s3, reader_threads(), log, Trust::index);
  start = checkpoint->reader.meta();
}

void RunSetup::take_older(const std::string& why) {
  if (only_this_checkpoint_) fail_env("{}", why);
  log.warn("{}", why);
  checkpoint = older_checkpoint(std::move(*checkpoint), reader_threads(), log);
  check_same_run(spec, checkpoint->reader.meta(), log);
  start = checkpoint->reader.meta();
}

void RunSetup::open_data() {
  if (spec.data.tokenizer) tokenizer = load_tokenizer(*spec.data.tokenizer);
  if (tokenizer && vocab_size(*tokenizer) > spec.model.vocab)
    fail_user("data.tokenizer = {} has {} ids, but model.vocab = {}: raise model.vocab to at least that",
              *spec.data.tokenizer, vocab_size(*tokenizer), spec.model.vocab);
  const std::optional<uint32_t> eot = tokenizer ? end_of_text(*tokenizer) : std::nullopt;
  data.emplace(training_options(spec, eot));
  if (!spec.data.val.empty() && spec.eval.every_steps > 0)
    eval_set.emplace(spec, eot, tokenizer ? &*tokenizer : nullptr);
}

Retention RunSetup::retention() const {
  return {.newest = spec.checkpoint.keep, .every_steps = spec.checkpoint.keep_every_steps};
}

CompileOptions RunSetup::compile_options(int rank) const {
  CompileOptions options;
  options.rank = rank;
  options.threads = std::max(1, threads / here.count);
  options.eval_micro_batches = eval_set ? eval_set->micro_batches() : 0;
  return options;
}

void RunSetup::compile_program() {
  compiled = compile(spec, compile_options(here.first));
  const std::vector<int64_t> arenas = prove_pipeline(spec, compile_options(here.first), compiled.program);
  for (int rank = here.first; rank < here.first + here.count; ++rank)
    arena_bytes += arenas[static_cast<size_t>(mesh.stage_rank(rank))];
  if (here.count > 1) check_memory();
  flops_per_token = trireme::flops_per_token(spec.model, compiled.model, spec.data.seq_len);
}

// One arena is held against the machine when it is allocated; together they are here.
void RunSetup::check_memory() const {
  const int64_t machine = machine_bytes();
  if (spec.run.device == DeviceKind::null || machine == 0 || arena_bytes <= machine) return;
  fail_env(
      "the plan needs {:.2f} GB for {} ranks, this machine has {:.2f} GB of memory: raise parallel.zero, "
      "lower batch.micro, data.seq_len or the model's size, or use fewer ranks",
      static_cast<double>(arena_bytes) / 1e9, here.count, static_cast<double>(machine) / 1e9);
}

// A checkpoint from elsewhere is held against the config before anything is written; the run's own newest one
// is only known under the lock.
void RunSetup::enter_folder(const ResumeChoice& resume) {
  const bool from = resume.kind == ResumeChoice::Kind::from;
  only_this_checkpoint_ = from && names_one_checkpoint(resume.path);
  if (from) checkpoint = open_checkpoint(resume.path, s3, reader_threads(), log, Trust::index);
  if (from) check_same_run(spec, checkpoint->reader.meta(), log);
  lock.emplace(folder);
  log = Log(LogOptions{.file = folder.log()});
  if (from) {
    check_nothing_superseded(folder, *checkpoint);
    return;
  }
  checkpoint = own_checkpoint(folder, resume, reader_threads(), log, Trust::index);
  // Nobody would read the one of a run that is done.
  if (checkpoint && checkpoint->reader.meta().step >= spec.run.steps)
    checkpoint = own_checkpoint(folder, resume, threads, log, Trust::every_byte);
  if (!checkpoint && spec.checkpoint.mirror)
    checkpoint = mirrored_checkpoint(*spec.checkpoint.mirror, s3, resume, reader_threads(), log);
  if (checkpoint) check_same_run(spec, checkpoint->reader.meta(), log);
}

void RunSetup::note_start() {
  const auto windows = start.counts.find(kEpochWindows);
  if (windows != start.counts.end() && windows->second != data->samples_per_epoch())
    log.warn("data.train had {} windows and now has {}: from here on the order of samples is another",
             windows->second, data->samples_per_epoch());
  log.info("resumed from {}: step {}, {} tokens seen", checkpoint->reader.location(), start.step,
           start.tokens_seen);
}

void RunSetup::describe() {
  const int64_t left = (spec.run.steps - start.step) * spec.batch.sequences;
  for (const std::string& line : data->describe(std::max<int64_t>(left, 0))) log.info("{}", line);
  if (eval_set)
    for (const std::string& line : eval_set->data().describe(0)) log.debug("{}", line);
  log.info("model: {} parameters, {}", parameter_count(compiled.model),
           spec.model.tie_embeddings ? "tied" : "untied");
  log.info("weight decay {} on {}", spec.optimizer.weight_decay,
           parameter_names(compiled.model, Decayed::yes));
  log.info("no weight decay on {}", parameter_names(compiled.model, Decayed::no));
  log.info("{}", memory_summary(compiled.program));
  log.info("step: {} sequences of {} tokens in {} micro-batches per rank; {} threads on {}",
           spec.batch.sequences, spec.data.seq_len, micro_batches_per_step(spec), threads,
           spec.run.device == DeviceKind::null ? "null" : "cpu");
  if (mesh.ranks() > 1)
    log.info(
        "{} ranks: pp {} x dp_replicate {} x dp_shard {} x cp {} x tp {}, zero {}; {} of {} lanes per "
        "data-parallel rank; "
        "the memory is rank 0's, of {:.1f} MB for all {} ranks here",
        mesh.ranks(), mesh.pp, mesh.dp_replicate, mesh.dp_shard, mesh.cp, mesh.tp, spec.parallel.zero,
        spec.batch.lanes / mesh.data_parallel(), spec.batch.lanes, static_cast<double>(arena_bytes) / 1e6,
        here.count);
  if (peak.flops_per_s > 0)
    log.info("MFU = {} FLOPs per token (6 N_matmul + 12 L H D T = {}) x tokens/s / {:.4g} FLOP/s ({})",
             static_cast<int64_t>(flops_per_token),
             flops_formula(spec.model, compiled.model, spec.data.seq_len), peak.flops_per_s,
             peak.measured ? "measured now by a matrix product" : "run.peak_flops");
}

}  // namespace trireme
