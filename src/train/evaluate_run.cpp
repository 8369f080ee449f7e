// The pieces of evaluation in their order.
#include "train/evaluate_run.h"

#include "compile/compile.h"
#include "train/machine.h"
#include "train/open_run.h"
#include "train/weights.h"

namespace trireme {

RunEvaluation evaluate_run(const std::string& path, const std::vector<std::string>& overrides,
                           const S3Options& s3, Log& log) {
  const OpenRun run = open_run(path, overrides, s3, log);
  const Tokenizer* tokenizer = run.tokenizer ? &*run.tokenizer : nullptr;
  const EvalSet set(run.spec, tokenizer != nullptr ? end_of_text(*tokenizer) : std::nullopt, tokenizer);
  const int threads = thread_count(run.spec);
  CompileOptions options;
  options.purpose = Purpose::evaluation;
  options.threads = threads;
  options.eval_micro_batches = set.micro_batches();
  const Compiled compiled = compile(run.spec, options);
  const std::unique_ptr<Device> device = open_device(run.spec, threads);
  Engine engine(compiled.program, *device);
  restore_state(engine, run.checkpoint.reader);
  return {run.checkpoint.reader.location(), set.sequences(), run.spec.data.seq_len, set.run(engine)};
}

}  // namespace trireme
