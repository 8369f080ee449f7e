// Reads Python's pickle (protocols 2 to 5) as data: nothing is ever called. A class is a name of the caller's
// allow-list, and what pickle would have made of it is a record of its arguments and state. For the readers
// of PyTorch's files; knows none of their classes. The opcodes: CPython's Lib/pickletools.py.
//
// Values refer to each other by index, so a pickle of n bytes makes at most n values, shared and even
// circular ones included; nothing here or in the destructors recurses. A reader must not walk the same value
// once per reference without a bound of its own: sharing makes trees that are larger than any memory.
#pragma once
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/ids.h"

namespace trireme {

using PickleId = Id<struct PickleTag>;

enum class PickleKind : uint8_t {
  none,
  boolean,
  integer,
  real,
  text,
  bytes,
  list,
  tuple,
  dict,
  class_name,
  object,
  persistent
};

struct PickleValue {
  PickleKind kind = PickleKind::none;
  int64_t integer = 0;      // boolean, integer
  double real = 0;          // real
  std::string_view text{};  // text, bytes: in the pickle's own bytes; class_name: "module.name"
  // list, tuple: the items. dict: key, value, key, value, ... as written. persistent: its id. object:
  // class_name and arguments (a tuple), then, when it was given one, its state.
  std::vector<PickleId> items{};
};

struct Pickle {
  std::vector<PickleValue> values;
  PickleId root;

  const PickleValue& at(PickleId id) const { return values[static_cast<size_t>(id.index)]; }
};

struct PickleRules {
  std::span<const std::string_view> classes;  // "module.name"; classes and functions alike
  bool persistent_ids = false;                // whether the persistent ids of torch.save may stand in it
};

// `bytes` is the whole pickle and must outlive what is returned; `file` is its name for messages. EnvError,
// with the byte and the opcode, for anything else than a pickle of these opcodes and classes.
Pickle parse_pickle(std::span<const std::byte> bytes, const PickleRules& rules, const std::string& file);

// What a value is, for messages: "a tuple of 3", "torch.Size(...)".
std::string describe(const Pickle& pickle, PickleId id);

}  // namespace trireme
