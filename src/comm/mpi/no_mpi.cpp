// Stands in for MpiWorld where the build found no MPI.
#include "comm/mpi/mpi_world.h"

#include <cstdlib>

namespace trireme {

struct MpiWorld::State {};

MpiWorld::MpiWorld(const MpiOptions& options) : ranks_per_process_(options.ranks_per_process) {
  fail_env("this trireme was built without MPI: install libopenmpi-dev and build again, or use rank threads");
}

MpiWorld::~MpiWorld() = default;
int MpiWorld::process() const { return 0; }
int MpiWorld::processes() const { return 1; }
std::unique_ptr<Communicator> MpiWorld::communicator(std::span<const int>, int, int) { return nullptr; }
void MpiWorld::fail(int, const Ending&) {}
std::vector<int> MpiWorld::numbers_of_all(int, std::string_view) const { return {}; }
std::string MpiWorld::from_first(const std::string&, std::string_view) const { return ""; }
void MpiWorld::finish() {}
void MpiWorld::abort(int exit_code) { std::_Exit(exit_code); }

}  // namespace trireme
