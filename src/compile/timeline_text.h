// A Program's timelines for people: one line per action, with its unit, micro-batch and what it waits for.
#pragma once
#include <string>

#include "ir/program.h"

namespace trireme {

std::string timelines_text(const Program& program);

}  // namespace trireme
