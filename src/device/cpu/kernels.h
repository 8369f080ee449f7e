// Every op's CPU entry, defined in ops/NAME/cpu.cpp.
#pragma once
#include "device/cpu/kernel.h"

namespace trireme {}  // namespace trireme
