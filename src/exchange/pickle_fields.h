// Reading a pickle's values as what they must be. Each refusal is an EnvError that names the file and what
// was being read. Used by the readers of PyTorch's files.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>

#include "base/shape.h"
#include "exchange/pickle.h"

namespace trireme {

// A pickle and what to call it in messages.
struct PickleReading {
  const Pickle& pickle;
  const std::string& file;

  const PickleValue& at(PickleId id) const { return pickle.at(id); }
};

// The items of a tuple, list or dict.
const std::vector<PickleId>& items_of(const PickleReading& in, PickleId id, PickleKind kind,
                                      const char* what);
// At most 4096 bytes without control characters.
std::string_view name_of(const PickleReading& in, PickleId id, const char* what);
int64_t size_of(const PickleReading& in, PickleId id, const char* what);  // an integer >= 0
// A tuple of at most 64 integers >= 0, or torch.Size of one.
Shape sizes_of(const PickleReading& in, PickleId id, const char* what);

// An object of this class: its arguments.
const std::vector<PickleId>& arguments_of(const PickleReading& in, PickleId id, std::string_view class_name);
// An object of this class that was made without arguments: its state, not valid() when it has none.
PickleId state_of(const PickleReading& in, PickleId id, std::string_view class_name);
bool is_object(const PickleReading& in, PickleId id, std::string_view class_name);

// The value under a name in a dict of at most 64 entries, all of whose keys are texts and differ; not valid()
// when there is none.
PickleId find_field(const PickleReading& in, PickleId dict, std::string_view name);
PickleId field(const PickleReading& in, PickleId dict, std::string_view name);  // refuses when there is none

}  // namespace trireme
