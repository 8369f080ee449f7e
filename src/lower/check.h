// Proves a finished Program sound before it runs: every value of every action has memory within a buffer that
// is alive then, no two buffers that are alive together overlap, what is read has been written before in the
// same timeline (or lives as long as the program), what a comm action is at is left alone until that was
// waited for, and every backward has its forward. A breach is a bug and aborts.
#pragma once
#include "ir/program.h"

namespace trireme {

void check_program(const Program& program);

}  // namespace trireme
