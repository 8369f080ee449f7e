// All ranks read, as long as it takes; then they know whether what any of them read was whole.
#include "train/restore.h"

#include "base/error.h"
#include "train/together.h"
#include "train/weights.h"

namespace trireme {
namespace {

constexpr std::string_view kRestoring = "reading a checkpoint";

// The first rank of each process changes what its ranks share, while they wait.
void fall_back(RunSetup& run, RankLink& link, const std::string& why) {
  std::string location;
  if (link.leads()) {
    run.take_older(why);
    location = run.checkpoint->reader.location();
  }
  location = link.first_text(location, kRestoring);
  if (!link.leads() && link.rank() == run.here.first) run.take(location);
  link.meet(kRestoring);
}

}  // namespace

void give_weights(RunSetup& run, RankLink& link, Engine& engine, const Model& model) {
  if (run.initial) {
    const std::string fault = together(
        link.control(), [&] { initialize_weights(engine, *run.initial); }, "reading first weights");
    if (!fault.empty()) fail_env("{}", fault);
    return;
  }
  if (!run.checkpoint) {
    initialize_weights(engine, model, static_cast<uint64_t>(run.spec.run.seed), link.threads());
    return;
  }
  while (true) {
    const CheckpointReader& checkpoint = run.checkpoint->reader;
    check_restorable(engine.program(), checkpoint);
    const std::string fault = together(
        link.control(), [&] { restore_state(engine, checkpoint); }, kRestoring);
    if (fault.empty()) break;
    fall_back(run, link, fault);
  }
  if (link.leads()) run.note_start();
}

}  // namespace trireme
