// The program of the first rank is compiled already, with the run's setup.
#include "train/rank_setup.h"

#include "train/machine.h"
#include "train/restore.h"

namespace trireme {

RankSetup::RankSetup(RunSetup& run, RankLink& link)
    : threads(link.threads()),
      compiled(link.rank() == run.here.first ? run.compiled
                                             : compile(run.spec, run.compile_options(link.rank()))),
      device(open_device(run.spec, threads)),
      engine(compiled.program, *device, link.connect(compiled.program)) {
  give_weights(run, link, engine, compiled.model);
}

}  // namespace trireme
