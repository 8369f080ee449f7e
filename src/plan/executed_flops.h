// FLOPs that are computed, recomputation and all, by the ops' own costs. For HFU.
#pragma once
#include "ir/program.h"

namespace trireme {

// Of this rank in one run of the timeline. One FMA = 2 FLOPs; attention counts what the mask lets through.
double executed_flops(const Program& program, const Timeline& timeline);

}  // namespace trireme
