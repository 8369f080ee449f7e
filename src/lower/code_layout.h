// Places a Code's own values: locals and kernel scratch in a workspace per section, saved and held values in
// their buffers, batch values at their fields. Done once per Code; equal blocks share it.
#pragma once
#include <vector>

#include "ir/program.h"

namespace trireme {

// threads: what kernels' scratch is planned for. Every batch value of the code must be among `fields`. form:
// how its backward will run.
CodeLayout lay_out(const Code& code, const std::vector<BatchField>& fields, int threads, BackwardForm form);

}  // namespace trireme
