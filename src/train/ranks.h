// The ranks of a run that are threads of this process: starts them, ties them together, brings all down when
// one fails.
#pragma once
#include <functional>
#include <memory>
#include <string_view>
#include <vector>

#include "comm/local/local_world.h"
#include "engine/engine.h"

namespace trireme {

struct TeamOptions {
  Mesh mesh;
  double timeout_s = 300;  // run.timeout_s
  int threads = 1;         // cores of all ranks together
};

class RankTeam;

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
  int64_t from_leader(int64_t value, std::string_view what);

  // Runs `work` on the leader while the others stand still; it sees every rank's engine, by rank.
  void leader_does(const Engine& mine, const std::function<void(std::span<const Engine* const>)>& work,
                   std::string_view what);

  // Returns work(). When it throws, tells the other ranks before anything of this one is taken down.
  int guarded(const std::function<int()>& work);

 private:
  RankTeam& team_;
  int rank_;
  std::unique_ptr<Communicator> control_;              // over all ranks
  std::vector<std::unique_ptr<Communicator>> groups_;  // by CommId
  std::vector<Communicator*> communicators_;
};

// Runs body once per rank, each on a thread of its own (one rank: on this one), and returns the leader's
// result. Where the run takes all cores and ranks share them evenly, each rank keeps to its own. When ranks
// throw, the exception of the one that failed first is rethrown here, after all have ended.
int run_ranks(const TeamOptions& options, const std::function<int(RankLink&)>& body);

}  // namespace trireme
