// Work that goes on at once and shares what it needs, as fluid: each job has seconds of work and goes at a
// rate that changes whenever a job begins or ends on one of its ranks. (The flow-level model of network
// simulators, as in Casanova et al. 2014, "Versatile, Scalable, and Accurate Simulation of Distributed
// Applications and Platforms".)
//
// A rank computes one thing at a time. Transfers take units from it, and links' capacity from each other.
#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <queue>
#include <vector>

namespace trireme {

// A rank's ways to the others: out to and in from those of its node, and those of other nodes.
enum class Way : uint8_t { inside_out, inside_in, between_out, between_in };
inline constexpr int kWays = 4;

enum class Reach : uint8_t { inside, between };  // of a node, of nodes

struct FlowEnd {
  size_t rank = 0;
  bool sends = true, receives = true;
};

class Flow {
 public:
  // `units_taken`: of a rank's compute units, by each transfer that is under way there.
  Flow(size_t ranks, double units_taken) : units_taken_(units_taken), ranks_(ranks) {}

  double now() const { return now_; }

  // Compute of `seconds` on a rank, of which the share `talk` waits for ranks inside or between nodes.
  int64_t compute(size_t rank, double seconds, double talk, Reach reach);
  int64_t transfer(const std::vector<FlowEnd>& ends, double seconds, Reach reach);

  // Goes on to the end of the next job and returns it; -1 when there is none.
  int64_t next();

 private:
  struct Job {
    std::vector<FlowEnd> ends;
    double left_s = 0;  // at `since`, at full speed
    double since = 0, rate = 0;
    double talk = 0;
    Reach reach = Reach::inside;
    bool computes = false, done = false;
    int64_t version = 0;
  };
  struct Rank {
    std::vector<int64_t> jobs;
    std::array<double, kWays> load{};
    int transfers = 0;
    bool computes = false;
  };
  struct Event {
    double at;
    int64_t job, version;
    bool operator>(const Event& other) const { return at != other.at ? at > other.at : job > other.job; }
  };

  int64_t start(Job job);
  void load(const Job& job, double sign);
  void refresh(const Job& changed);
  double rate_of(const Job& job) const;

  double units_taken_;
  double now_ = 0;
  std::vector<Rank> ranks_;
  std::vector<Job> jobs_;
  std::priority_queue<Event, std::vector<Event>, std::greater<>> events_;
};

}  // namespace trireme
