// data.pkl calls torch._utils._rebuild_tensor_v2(storage, first element, sizes, strides, ...), where storage
// is a persistent id ("storage", class, key, device, elements). None of it is called; the arguments are read.
#include "exchange/torch_save.h"

#include <algorithm>
#include <array>

#include "base/error.h"
#include "exchange/pickle.h"
#include "exchange/pickle_fields.h"
#include "exchange/stored_zip.h"

namespace trireme {
namespace {

constexpr std::string_view kTensor = "torch._utils._rebuild_tensor_v2";
constexpr std::string_view kParameter = "torch._utils._rebuild_parameter";
constexpr size_t kMaxHeadBytes = 1 << 20;  // data.pkl of one tensor has a few hundred

struct StorageClass {
  std::string_view name;
  ForeignDType dtype;
  std::string_view dtype_name;
  int64_t element_bytes;
};
constexpr std::array kStorages = {StorageClass{"torch.FloatStorage", ForeignDType::f32, "F32", 4},
                                  StorageClass{"torch.BFloat16Storage", ForeignDType::bf16, "BF16", 2},
                                  StorageClass{"torch.HalfStorage", ForeignDType::f16, "F16", 2},
                                  StorageClass{"torch.DoubleStorage", ForeignDType::f64, "F64", 8}};

constexpr std::array<std::string_view, 7> kClasses = {
    kTensor,           kParameter,        "collections.OrderedDict", kStorages[0].name,
    kStorages[1].name, kStorages[2].name, kStorages[3].name};

const StorageClass& storage_of(ForeignDType dtype) {
  return *std::find_if(kStorages.begin(), kStorages.end(),
                       [&](const StorageClass& s) { return s.dtype == dtype; });
}

// Strides of dims of extent 1 (and all of an empty tensor) say nothing.
bool is_contiguous(const Shape& shape, const Shape& strides) {
  int64_t expected = 1;
  for (size_t d = shape.size(); d-- > 0;) {
    if (shape[d] != 1 && strides[d] != expected) return false;
    if (__builtin_mul_overflow(expected, shape[d], &expected)) return false;
  }
  return true;
}

// The member data.pkl and the folder it is in, "archive/".
const ZipMember& find_head(const StoredZip& zip, const std::string& what, std::string& folder) {
  const ZipMember* found = nullptr;
  for (const ZipMember& member : zip.members) {
    const size_t slash = member.name.find('/');
    if (slash == std::string::npos || member.name.substr(slash + 1) != "data.pkl") continue;
    if (found) fail_env("{}: {} and {} are both in it", what, found->name, member.name);
    found = &member;
    folder = member.name.substr(0, slash + 1);
  }
  if (!found) fail_env("{}: a zip without data.pkl, not one of torch.save", what);
  return *found;
}

std::span<const std::byte> checked_bytes(const StoredZip& zip, const ZipMember& member,
                                         std::span<const std::byte> bytes, const std::string& what) {
  check_member(zip, member, bytes, what);
  return bytes.subspan(static_cast<size_t>(member.begin), static_cast<size_t>(member.bytes));
}

void check_byte_order(const StoredZip& zip, const std::string& folder, std::span<const std::byte> bytes,
                      const std::string& what) {
  const ZipMember* member = zip.find(folder + "byteorder");
  if (!member) return;  // before torch 2.1, whose files are the writer's own order, which was little-endian
  const auto text = checked_bytes(zip, *member, bytes, what);
  const std::string_view order(reinterpret_cast<const char*>(text.data()), text.size());
  if (order != "little") fail_env("{}: byteorder is {}; only little-endian files are read", what, order);
}

void read_storage(const PickleReading& in, PickleId id, SavedTensorHead& head) {
  const auto& id_items = items_of(in, id, PickleKind::persistent, "a tensor's storage");
  const auto& items = items_of(in, id_items[0], PickleKind::tuple, "a storage's id");
  if (items.size() != 5 || name_of(in, items[0], "the word storage") != "storage")
    fail_env("{}: a storage's id of {} parts; the file is of another version", in.file, items.size());
  const PickleValue& type = in.at(items[1]);
  const auto known = std::find_if(kStorages.begin(), kStorages.end(), [&](const StorageClass& s) {
    return type.kind == PickleKind::class_name && type.text == s.name;
  });
  if (known == kStorages.end()) fail_env("{}: {} is no storage", in.file, describe(in.pickle, items[1]));
  head.dtype = known->dtype;
  head.storage = name_of(in, items[2], "a storage's name");
  head.storage_elements = size_of(in, items[4], "a storage's number of elements");
}

}  // namespace

std::string_view name_of(ForeignDType dtype) { return storage_of(dtype).dtype_name; }

int64_t checked_count(const Shape& shape) {
  int64_t elements = 1;
  bool overflow = false;
  for (const int64_t extent : shape) overflow |= __builtin_mul_overflow(elements, extent, &elements);
  return overflow ? -1 : elements;
}

SavedTensorHead parse_saved_tensor(std::span<const std::byte> data_pkl, const std::string& what) {
  if (data_pkl.size() > kMaxHeadBytes)
    fail_env("{}: data.pkl has {} bytes, and more than {} make no sense for a tensor", what, data_pkl.size(),
             kMaxHeadBytes);
  const std::string file = what + ", data.pkl";
  const Pickle pickle = parse_pickle(data_pkl, {.classes = kClasses, .persistent_ids = true}, file);
  const PickleReading in{pickle, file};
  PickleId tensor = pickle.root;
  if (is_object(in, tensor, kParameter)) {
    const auto& args = arguments_of(in, tensor, kParameter);
    if (args.empty()) fail_env("{}: a parameter without a tensor", file);
    tensor = args[0];
  }
  const auto& args = arguments_of(in, tensor, kTensor);
  if (args.size() < 4)
    fail_env("{}: a tensor of {} arguments; the file is of another version", file, args.size());
  SavedTensorHead head;
  read_storage(in, args[0], head);
  head.first_element = size_of(in, args[1], "a tensor's first element");
  head.shape = sizes_of(in, args[2], "a tensor's sizes");
  const Shape strides = sizes_of(in, args[3], "a tensor's strides");
  const int64_t elements = checked_count(head.shape);
  if (strides.size() != head.shape.size() || elements < 0)
    fail_env("{}: the sizes [{}] and strides [{}] make no tensor", file, to_string(head.shape),
             to_string(strides));
  if (elements > 0 && !is_contiguous(head.shape, strides))
    fail_env("{}: the tensor [{}] has the strides [{}]; save it with .contiguous()", file,
             to_string(head.shape), to_string(strides));
  if (elements > head.storage_elements || head.first_element > head.storage_elements - elements)
    fail_env("{}: {} elements from {} do not fit a storage of {}", file, elements, head.first_element,
             head.storage_elements);
  return head;
}

SavedTensor read_saved_tensor(std::span<const std::byte> bytes, ElementCheck check, const std::string& what) {
  const StoredZip zip = read_stored_zip(bytes, what);
  std::string folder;
  const ZipMember& pickle = find_head(zip, what, folder);
  check_byte_order(zip, folder, bytes, what);
  const SavedTensorHead head = parse_saved_tensor(checked_bytes(zip, pickle, bytes, what), what);
  const ZipMember* data = zip.find(folder + "data/" + head.storage);
  if (!data)
    fail_env("{}: {}data/{}, which has the tensor's elements, is not in it", what, folder, head.storage);
  const int64_t size = storage_of(head.dtype).element_bytes;
  if (data->bytes % size != 0 || data->bytes / size != head.storage_elements)
    fail_env("{}: {} has {} bytes, and a storage of {} elements of {} needs another number", what, data->name,
             data->bytes, head.storage_elements, name_of(head.dtype));
  if (check == ElementCheck::verify) check_member(zip, *data, bytes, what);
  return {.dtype = head.dtype,
          .shape = head.shape,
          .begin = data->begin + head.first_element * size,
          .has_checksum = zip.has_checksums};
}

}  // namespace trireme
