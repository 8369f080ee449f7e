// Look-up in the flat list; lists have a handful of entries.
#include "ir/attrs.h"

namespace trireme {

const AttrValue* Attrs::find(std::string_view name) const {
  for (const auto& [key, value] : entries)
    if (key == name) return &value;
  return nullptr;
}

}  // namespace trireme
