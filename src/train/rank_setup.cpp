// The program of the first rank is compiled already, with the run's setup.
#include "train/rank_setup.h"

#include "train/machine.h"
#include "train/weights.h"

namespace trireme {

RankSetup::RankSetup(const RunSetup& run, RankLink& link)
    : threads(link.threads()),
      compiled(link.rank() == run.here.first ? run.compiled
                                             : compile(run.spec, run.compile_options(link.rank()))),
      device(open_device(run.spec, threads)),
      engine(compiled.program, *device, link.connect(compiled.program)) {
  if (run.checkpoint)
    restore_state(engine, run.checkpoint->reader);
  else
    initialize_weights(engine, compiled.model, static_cast<uint64_t>(run.spec.run.seed), threads);
}

}  // namespace trireme
