// An op's attributes: in the IR a flat list of named values that prints and parses; in the op's own code
// a struct with one field list, converted by pack_attrs and unpack_attrs.
//
//   struct LinearAttrs {
//     int64_t in = 0, out = 0;
//     template <class F> void fields(F&& f) { f("in", in); f("out", out); }
//   };
#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "base/error.h"

namespace trireme {

using AttrValue = std::variant<int64_t, double, std::string>;

struct Attrs {
  std::vector<std::pair<std::string, AttrValue>> entries;  // in the order of the op's field list

  const AttrValue* find(std::string_view name) const;
  bool operator==(const Attrs&) const = default;
};

template <class T>
Attrs pack_attrs(T typed) {
  Attrs attrs;
  typed.fields([&](const char* name, auto& field) { attrs.entries.emplace_back(name, AttrValue(field)); });
  return attrs;
}

// Every field must be there with its type: the verifier has seen to that, so a miss is a bug.
template <class T>
T unpack_attrs(const Attrs& attrs) {
  T typed;
  typed.fields([&](const char* name, auto& field) {
    const AttrValue* value = attrs.find(name);
    CHECK(value != nullptr, "attribute {} is missing", name);
    using Held = std::remove_reference_t<decltype(field)>;
    const Held* held = std::get_if<Held>(value);
    CHECK(held != nullptr, "attribute {} has another type", name);
    field = *held;
  });
  return typed;
}

}  // namespace trireme
