// Proves that programs of several ranks come to their end together.
#pragma once
#include <span>
#include <string>

#include "ir/program.h"

namespace trireme {

// Why the ranks would wait for each other for ever, or what one sends that another does not take; "" when
// every timeline ends. Each send meets its receive, each collective all its members, queues keep their order,
// and nobody buffers anything. Members of a group that are not among the programs are taken to come.
std::string find_rank_fault(std::span<const Program> programs);

}  // namespace trireme
