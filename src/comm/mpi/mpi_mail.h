// Small messages between processes, apart from the data: who failed, and what a member of a new communicator
// has to tell its peers. Any thread may post and poll.
#pragma once
#include <mpi.h>

#include <cstdint>
#include <list>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "comm/failure.h"

namespace trireme {

// A member's part of making a communicator.
struct MpiHello {
  int64_t first_tag = 0;      // message from member i to it: tag first_tag + i
  int64_t window_offset = 0;  // of its area in its process's segment; -1: it has none
};

// Members and channel as one list of numbers.
using MpiGroupKey = std::vector<int64_t>;

class MpiMail {
 public:
  MpiMail(MPI_Comm comm, Failure& failure) : comm_(comm), failure_(failure) {}

  void post_failure(const FailureReport& report);  // to all other processes
  void post_hello(int process, const MpiGroupKey& key, int member, const MpiHello& hello);  // or to itself
  std::optional<MpiHello> hello_of(const MpiGroupKey& key, int member);                     // once it came
  // Takes in what has come; another thread may be at it already.
  void poll();

 private:
  struct Outgoing {
    std::string text;
    MPI_Request request = MPI_REQUEST_NULL;
  };
  void post(int process, int tag, const void* data, int64_t bytes);
  void take(int tag, const std::string& bytes);

  MPI_Comm comm_;
  Failure& failure_;
  std::mutex mutex_;
  std::list<Outgoing> outgoing_;  // of which MPI holds the addresses
  std::map<std::pair<MpiGroupKey, int>, MpiHello> hellos_;
};

}  // namespace trireme
