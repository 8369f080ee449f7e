// A message's last half.
#include "base/suggestion.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/error.h"

namespace trireme {

std::string did_you_mean(const std::string& word, const std::vector<std::string>& names,
                         const std::string& lead) {
  const std::string near = nearest(word, names);
  return near.empty() ? fmt::format("{} {}", lead, fmt::join(names, ", "))
                      : fmt::format("did you mean {}?", near);
}

}  // namespace trireme
