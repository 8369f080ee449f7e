// Every walk over items is bounded, since a file may refer to one long list from many places.
#include "exchange/pickle_fields.h"

#include <algorithm>

#include "base/error.h"

namespace trireme {
namespace {

constexpr size_t kMaxName = 4096;
constexpr size_t kMaxDims = 64;    // torch's own limit
constexpr size_t kMaxFields = 64;  // of a record; torch's have six at most

[[noreturn]] void refuse(const PickleReading& in, PickleId id, const std::string& what) {
  fail_env("{}: {} where {} must stand: the file is damaged or of another version", in.file,
           describe(in.pickle, id), what);
}

}  // namespace

const std::vector<PickleId>& items_of(const PickleReading& in, PickleId id, PickleKind kind,
                                      const char* what) {
  if (in.at(id).kind != kind) refuse(in, id, what);
  return in.at(id).items;
}

std::string_view name_of(const PickleReading& in, PickleId id, const char* what) {
  const PickleValue& value = in.at(id);
  const bool good = value.kind == PickleKind::text && !value.text.empty() && value.text.size() <= kMaxName &&
                    std::none_of(value.text.begin(), value.text.end(),
                                 [](char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7f; });
  if (!good) refuse(in, id, what);
  return value.text;
}

int64_t size_of(const PickleReading& in, PickleId id, const char* what) {
  const PickleValue& value = in.at(id);
  if (value.kind != PickleKind::integer || value.integer < 0) refuse(in, id, what);
  return value.integer;
}

Shape sizes_of(const PickleReading& in, PickleId id, const char* what) {
  if (is_object(in, id, "torch.Size")) {
    const auto& args = arguments_of(in, id, "torch.Size");
    if (args.size() != 1) refuse(in, id, what);
    id = args[0];
  }
  const auto& items = items_of(in, id, PickleKind::tuple, what);
  if (items.size() > kMaxDims) refuse(in, id, what);
  Shape sizes;
  for (const PickleId item : items) sizes.push_back(size_of(in, item, what));
  return sizes;
}

bool is_object(const PickleReading& in, PickleId id, std::string_view class_name) {
  const PickleValue& value = in.at(id);
  return value.kind == PickleKind::object && in.at(value.items[0]).text == class_name;
}

const std::vector<PickleId>& arguments_of(const PickleReading& in, PickleId id, std::string_view class_name) {
  if (!is_object(in, id, class_name)) refuse(in, id, std::string(class_name));
  return in.at(in.at(id).items[1]).items;
}

PickleId state_of(const PickleReading& in, PickleId id, std::string_view class_name) {
  if (!arguments_of(in, id, class_name).empty())
    refuse(in, id, std::string(class_name) + " without arguments");
  const auto& items = in.at(id).items;
  return items.size() == 3 ? items[2] : PickleId();
}

PickleId find_field(const PickleReading& in, PickleId dict, std::string_view name) {
  if (!dict.valid() || in.at(dict).kind != PickleKind::dict)
    fail_env("{}: a record without fields where {} must stand: the file is damaged or of another version",
             in.file, name);
  const auto& items = in.at(dict).items;
  if (items.size() > 2 * kMaxFields) refuse(in, dict, fmt::format("a record with the field {}", name));
  PickleId found;
  for (size_t i = 0; i < items.size(); i += 2) {
    if (name_of(in, items[i], "a field's name") != name) continue;
    if (found.valid()) fail_env("{}: the field {} stands twice: the file is damaged", in.file, name);
    found = items[i + 1];
  }
  return found;
}

PickleId field(const PickleReading& in, PickleId dict, std::string_view name) {
  const PickleId found = find_field(in, dict, name);
  if (!found.valid())
    fail_env("{}: a record has no field {}: the file is damaged or of another version", in.file, name);
  return found;
}

}  // namespace trireme
