// Reads Graph and Code from a LineReader; parse_program.cpp reads the rest around them.
#pragma once
#include "ir/code.h"
#include "ir/line_reader.h"

namespace trireme {

// The reader stands on the "code NAME" line; it is left on the "end" line.
Code read_code(LineReader& reader);

}  // namespace trireme
