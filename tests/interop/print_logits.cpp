// The logits of a run's newest checkpoint after each of some tokens, f32 [tokens, vocab] on standard output:
// what check_transformers.py holds against transformers.
//   interop_logits RUN ID...
#include <cstdio>
#include <cstdlib>
#include <vector>

#include "train/generator.h"
#include "train/machine.h"
#include "train/open_run.h"

int main(int argc, char** argv) {
  using namespace trireme;
  if (argc < 3) return 2;
  try {
    Log log(LogOptions{.terminal_level = LogLevel::warn});
    const OpenRun run = open_run(argv[1], {"precision.compute=fp32"}, log);
    Generator generator(run.spec, run.checkpoint.reader, thread_count(run.spec));
    for (int i = 2; i < argc; ++i) {
      const auto id = static_cast<uint32_t>(std::atoll(argv[i]));
      const std::span<const float> logits = generator.feed(std::span(&id, 1));
      std::fwrite(logits.data(), sizeof(float), logits.size(), stdout);
    }
  } catch (const std::exception& failure) {
    std::fprintf(stderr, "%s\n", failure.what());
    return 1;
  }
  return 0;
}
