// Sections of Code and names of values.
#include "ir/code.h"

#include <array>
#include <unordered_set>

namespace trireme {

std::string_view name_of(Section section) {
  constexpr std::array<std::string_view, kSections> kNames = {"prepare", "forward", "backward",
                                                              "backward_input", "backward_weight"};
  return kNames[static_cast<size_t>(section)];
}

std::vector<const Op*> ops_of(const Code& code, Section section) {
  std::vector<const Op*> ops;
  if (section == Section::prepare || section == Section::forward) {
    for (const Op& op : section == Section::prepare ? code.prepare : code.forward) ops.push_back(&op);
    return ops;
  }
  for (size_t i = 0; i < code.backward.size(); ++i) {
    const bool weight = code.parts[i] == Part::weight;
    if (section == Section::backward || weight == (section == Section::backward_weight))
      ops.push_back(&code.backward[i]);
  }
  return ops;
}

void make_names_unique(std::vector<Value>& values) {
  std::unordered_set<std::string> taken;
  for (Value& value : values) {
    const std::string base = value.name;
    for (int n = 2; !taken.insert(value.name).second; ++n) value.name = base + "." + std::to_string(n);
  }
}

}  // namespace trireme
