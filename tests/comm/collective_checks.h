// Every collective against a naive loop over what all ranks bring. Used by threads (tests/comm) and by MPI
// processes (tests/comm_mpi), so equal bits here mean equal bits between backends.
#pragma once
#include <string>
#include <vector>

#include "comm/communicator.h"

namespace trireme {

// What a rank brings: `count` elements as bytes, of magnitudes so different that the order of a sum shows.
std::vector<std::byte> contribution(DType dtype, int rank, int64_t count);

// The tree over ranks, written by hand, level by level; `values` of one element, by rank.
template <class T>
T tree_by_hand(std::vector<T> values) {
  while (values.size() > 1) {
    std::vector<T> level;
    for (size_t i = 0; i + 1 < values.size(); i += 2) level.push_back(values[i] + values[i + 1]);
    if (values.size() % 2 == 1) level.push_back(values.back());
    values = level;
  }
  return values[0];
}

// The sum over ranks 0 .. ranks-1 of their contributions, by hand.
std::vector<std::byte> expected_sum(DType dtype, int ranks, int64_t count);

// Each returns "" or what is wrong. All members call them in the same order.
std::string check_all_reduce(Communicator& comm, DType dtype, int64_t count);
std::string check_reduce_scatter(Communicator& comm, DType dtype, int64_t count);
std::string check_all_gather(Communicator& comm, int64_t bytes);
std::string check_all_to_all(Communicator& comm, int64_t bytes);
std::string check_uneven_all_to_all(Communicator& comm, int64_t most_bytes);
std::string check_broadcast(Communicator& comm, int64_t bytes);
std::string check_messages(Communicator& comm, int64_t bytes);

// All of the above for sizes 0, 1, odd and `large` bytes.
std::string check_everything(Communicator& comm, int64_t large);

}  // namespace trireme
