// The cure for a name that is not known: the one that was probably meant, or all that there are.
#pragma once
#include <string>
#include <vector>

namespace trireme {

// "did you mean train?", or where none is near (nearest() in base/error.h): "LEAD data, eval, train".
std::string did_you_mean(const std::string& word, const std::vector<std::string>& names,
                         const std::string& lead);

}  // namespace trireme
