// What the first rank that has something to say says: how ranks agree on a failure that only some have met.
#pragma once
#include <string>
#include <string_view>

#include "comm/communicator.h"

namespace trireme {

// On every rank the text of the first that has any, "" where none has. All ranks call it.
std::string first_text(Communicator& ranks, const std::string& mine, std::string_view what);

}  // namespace trireme
