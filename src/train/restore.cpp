// All ranks read, as long as it takes; then they know whether what any of them read was whole.
#include "train/restore.h"

#include "train/together.h"
#include "train/weights.h"

namespace trireme {
namespace {

constexpr std::string_view kRestoring = "reading a checkpoint";

// One that all ranks have heard of: the leader says it, the others learn of it from there.
[[noreturn]] void end_with(const WorkFailure& failure, RankLink& link) {
  if (!link.leads()) link.meet(kRestoring);
  rethrow(failure);
}

// Ends the run where it fails on any rank.
void do_together(RankLink& link, const std::function<void()>& work) {
  const WorkFailure failure = together(link.control(), work, kRestoring);
  if (failure) end_with(failure, link);
}

// The first rank of each process changes what its ranks share, while they wait.
void fall_back(RunSetup& run, RankLink& link, const std::string& why) {
  const auto choose = [&] { run.take_older(why); };
  do_together(link, link.leads() ? std::function<void()>(choose) : nullptr);
  const std::string location =
      link.first_text(link.leads() ? run.checkpoint->reader.location() : "", kRestoring);
  const auto follow = [&] { run.take(location); };
  const bool opens = !link.leads() && link.rank() == run.here.first;
  do_together(link, opens ? std::function<void()>(follow) : nullptr);
}

}  // namespace

void give_weights(RunSetup& run, RankLink& link, Engine& engine, const Model& model) {
  if (run.initial) return do_together(link, [&] { initialize_weights(engine, *run.initial); });
  if (!run.checkpoint) {
    initialize_weights(engine, model, static_cast<uint64_t>(run.spec.run.seed), link.threads());
    return;
  }
  while (true) {
    const CheckpointReader& checkpoint = run.checkpoint->reader;
    const WorkFailure failure = together(
        link.control(), [&] { restore_state(engine, checkpoint); }, kRestoring);
    if (!failure) break;
    if (failure.kind != WorkFailure::Kind::damaged) end_with(failure, link);
    fall_back(run, link, failure.text);
  }
  if (link.leads()) run.note_start();
}

}  // namespace trireme
