// The ranks of a run that are threads of this process, all of them or, under MPI, its part: starts them, ties
// them together, brings all down when one fails.
#pragma once
#include <functional>
#include <memory>
#include <string_view>
#include <vector>

#include "comm/world.h"
#include "engine/engine.h"

namespace trireme {

// Ranks [first, first + count) of the run.
struct RanksHere {
  int first = 0;
  int count = 1;
};

struct TeamOptions {
  Mesh mesh;
  double timeout_s = 300;  // run.timeout_s
  int threads = 1;         // cores of all ranks of this process together
};

struct RankTeam;

// One rank's ties to the others. With one rank all of it is trivial.
class RankLink {
 public:
  RankLink(RankTeam& team, int rank);

  int rank() const { return rank_; }
  bool leads() const { return rank_ == 0; }  // writes metrics, log and checkpoints
  int threads() const;                       // of this rank, at least 1

  // Communicators of the rank's program, in the order of its comms: as long as the link lives or until the
  // next call. Every rank calls this for programs of one run.
  Communicators connect(const Program& program);

  // Every rank calls these in the same order. The sum over ranks; exact for integers up to 2^53.
  double sum(double value, std::string_view what);
  void sum(std::span<double> values, std::string_view what);  // each of them
  // The text of the first rank that has any: "" where none has.
  std::string first_text(const std::string& mine, std::string_view what);
  void meet(std::string_view what);

  // Over all ranks, for what else they have to tell each other; null with one rank.
  Communicator* control() { return control_.get(); }
  // A further one over all ranks, for what goes on beside the loop; null with one rank.
  std::unique_ptr<Communicator> another();

  // Returns work(). When it throws, tells the other ranks before anything of this one is taken down.
  int guarded(const std::function<int()>& work);

 private:
  RankTeam& team_;
  int rank_;
  std::unique_ptr<Communicator> control_;
  std::vector<std::unique_ptr<Communicator>> groups_;  // by CommId
  std::vector<Communicator*> communicators_;
};

// Runs body once per rank, each on a thread of its own (one rank: on this one), and returns the first's
// result. Where the run takes all cores and ranks share them evenly, each rank keeps to its own. When ranks
// throw, the exception of the one that failed first is rethrown here, after all have ended. One that does not
// end within the timeout ends the process: the message on stderr, the exit code that of the failure.
int run_ranks(const TeamOptions& options, const std::function<int(RankLink&)>& body);

// The ranks of this process, of a world that has others too. Which cores are whose is the launcher's
// business.
int run_ranks(const TeamOptions& options, World& world, const RanksHere& here,
              const std::function<int(RankLink&)>& body);

}  // namespace trireme
