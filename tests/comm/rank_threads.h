// Runs a function as each rank of a LocalWorld, on a thread each, as the launcher of rank threads does: a
// rank that ends by an exception fails the world.
#pragma once
#include <exception>
#include <functional>
#include <string>
#include <thread>
#include <vector>

#include "comm/local/local_world.h"

namespace trireme {

// What each rank's exception said; "" where there was none.
inline std::vector<std::string> run_ranks(LocalWorld& world, int ranks,
                                          const std::function<void(int rank)>& body) {
  std::vector<std::string> errors(static_cast<size_t>(ranks));
  std::vector<std::thread> threads;
  for (int rank = 0; rank < ranks; ++rank)
    threads.emplace_back([&, rank] {
      try {
        body(rank);
      } catch (const std::exception& error) {
        errors[static_cast<size_t>(rank)] = error.what();
        world.fail(rank, {kEnvironment, error.what()});
      }
    });
  for (std::thread& thread : threads) thread.join();
  return errors;
}

inline std::vector<int> all_ranks(int ranks) {
  std::vector<int> out;
  for (int rank = 0; rank < ranks; ++rank) out.push_back(rank);
  return out;
}

}  // namespace trireme
