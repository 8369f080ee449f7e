// Two dicts are joined: state_dict_metadata says what the tensors are and how they are cut, storage_data
// where each cut lies, under the tensor's name and the cut's offset.
#include "exchange/torch_dcp_metadata.h"

#include <algorithm>
#include <optional>
#include <set>
#include <string_view>
#include <utility>

#include "base/error.h"
#include "exchange/pickle.h"
#include "exchange/pickle_fields.h"
#include "exchange/torch_save.h"

namespace trireme {
namespace {

constexpr std::string_view kMetadata = "torch.distributed.checkpoint.metadata.Metadata";
constexpr std::string_view kTensor = "torch.distributed.checkpoint.metadata.TensorStorageMetadata";
constexpr std::string_view kBytes = "torch.distributed.checkpoint.metadata.BytesStorageMetadata";
constexpr std::string_view kChunk = "torch.distributed.checkpoint.metadata.ChunkStorageMetadata";
constexpr std::string_view kProperties = "torch.distributed.checkpoint.metadata.TensorProperties";
constexpr std::string_view kIndex = "torch.distributed.checkpoint.metadata.MetadataIndex";
constexpr std::string_view kStorageInfo = "torch.distributed.checkpoint.filesystem._StorageInfo";

// All that a .metadata of torch 2.15 names, and what its source names for older ones. Enums were written with
// getattr by Python 3.11; like the rest it is a name here, and never called.
constexpr std::string_view kClasses[] = {kMetadata,
                                         kTensor,
                                         kBytes,
                                         kChunk,
                                         kProperties,
                                         kIndex,
                                         kStorageInfo,
                                         "torch.distributed.checkpoint.metadata.StorageMeta",
                                         "torch.distributed.checkpoint.metadata._MEM_FORMAT_ENCODING",
                                         "torch.distributed.checkpoint.filesystem._StoragePrefix",
                                         "torch.serialization._get_layout",
                                         "torch.Size",
                                         "builtins.getattr",
                                         "collections.OrderedDict",
                                         "pathlib.PosixPath",
                                         "pathlib.WindowsPath",
                                         "pathlib._local.PosixPath",
                                         "pathlib._local.WindowsPath",
                                         "torch.float32",
                                         "torch.bfloat16",
                                         "torch.float16",
                                         "torch.float64",
                                         "torch.bool",
                                         "torch.uint8",
                                         "torch.uint16",
                                         "torch.uint32",
                                         "torch.uint64",
                                         "torch.int8",
                                         "torch.int16",
                                         "torch.int32",
                                         "torch.int64",
                                         "torch.complex32",
                                         "torch.complex64",
                                         "torch.complex128",
                                         "torch.float8_e4m3fn",
                                         "torch.float8_e4m3fnuz",
                                         "torch.float8_e5m2",
                                         "torch.float8_e5m2fnuz",
                                         "torch.float8_e8m0fnu"};

std::optional<ForeignDType> dtype_named(std::string_view name) {
  if (name == "torch.float32") return ForeignDType::f32;
  if (name == "torch.bfloat16") return ForeignDType::bf16;
  if (name == "torch.float16") return ForeignDType::f16;
  if (name == "torch.float64") return ForeignDType::f64;
  return std::nullopt;
}

class MetadataReader {
 public:
  MetadataReader(const PickleReading& in, size_t bytes) : in_(in), steps_left_(bytes) {}

  DcpMetadata run() {
    const PickleId fields = state_of(in_, in_.pickle.root, kMetadata);
    index_storage(field(in_, fields, "storage_data"));
    const auto& entries = dict_items(field(in_, fields, "state_dict_metadata"));
    for (size_t i = 0; i < entries.size(); i += 2) {
      const std::string name(name_of(in_, entries[i], "a tensor's name"));
      if (!names_.emplace(name).second) fail_env("{}: {} stands twice", in_.file, name);
      add_entry(name, entries[i + 1]);
    }
    check_bytes_apart();
    return std::move(metadata_);
  }

 private:
  using Place = std::pair<std::string_view, Shape>;  // name and offset

  const std::vector<PickleId>& dict_items(PickleId id) {
    return items_of(in_, id, PickleKind::dict, "a dict by name");
  }

  // One long list may be meant by many tensors: no more is walked than the file could say by itself.
  void count_step() {
    if (steps_left_-- == 0) fail_env("{}: its lists are longer than the file: it is damaged", in_.file);
  }

  void index_storage(PickleId dict) {
    const auto& entries = dict_items(dict);
    for (size_t i = 0; i < entries.size(); i += 2) {
      const PickleId fields = state_of(in_, entries[i], kIndex);
      const std::string_view name = name_of(in_, field(in_, fields, "fqn"), "a tensor's name");
      const PickleId offset = find_field(in_, fields, "offset");
      if (!offset.valid() || in_.at(offset).kind == PickleKind::none) continue;  // no tensor
      const bool added =
          storage_.emplace(Place(name, sizes_of(in_, offset, "an offset")), entries[i + 1]).second;
      if (!added) fail_env("{}: tensor {}: a chunk is stored twice", in_.file, name);
    }
  }

  void add_entry(const std::string& name, PickleId entry) {
    if (is_object(in_, entry, kBytes)) {
      metadata_.left_out[DcpLeftOut::no_tensor].push_back(name);
      return;
    }
    const PickleId fields = state_of(in_, entry, kTensor);
    if (is_of_optimizer(name)) {
      metadata_.left_out[DcpLeftOut::of_optimizer].push_back(name);
      return;
    }
    const PickleId properties = state_of(in_, field(in_, fields, "properties"), kProperties);
    if (!properties.valid()) fail_env("{}: tensor {} has no properties", in_.file, name);
    const auto& values = items_of(in_, properties, PickleKind::tuple, "a tensor's properties");
    if (values.empty() || in_.at(values[0]).kind != PickleKind::class_name)
      fail_env("{}: tensor {} has no dtype: the file is damaged or of another version", in_.file, name);
    if (const auto dtype = dtype_named(in_.at(values[0]).text)) {
      add_tensor(name, *dtype, fields);
    } else {
      metadata_.left_out[DcpLeftOut::other_dtype].push_back(name);
    }
  }

  void add_tensor(const std::string& name, ForeignDType dtype, PickleId fields) {
    DcpTensor tensor{.dtype = dtype, .shape = sizes_of(in_, field(in_, fields, "size"), "a tensor's size")};
    if (checked_count(tensor.shape) < 0)
      fail_env("{}: tensor {}: the size [{}] overflows", in_.file, name, to_string(tensor.shape));
    for (const PickleId chunk :
         items_of(in_, field(in_, fields, "chunks"), PickleKind::list, "a list of chunks")) {
      count_step();
      const PickleId chunk_fields = state_of(in_, chunk, kChunk);
      Box box{.offset = sizes_of(in_, field(in_, chunk_fields, "offsets"), "a chunk's offsets"),
              .shape = sizes_of(in_, field(in_, chunk_fields, "sizes"), "a chunk's sizes")};
      if (std::find(box.shape.begin(), box.shape.end(), 0) != box.shape.end()) continue;
      tensor.chunks.push_back(find_chunk(name, box.offset));
      tensor.boxes.push_back(std::move(box));
    }
    if (const auto fault = cover_fault(tensor.shape, tensor.boxes))
      fail_env("{}: tensor {} [{}]: {}", in_.file, name, to_string(tensor.shape), *fault);
    metadata_.tensors.emplace(name, std::move(tensor));
  }

  DcpChunk find_chunk(const std::string& name, const Shape& offset) {
    const auto stored = storage_.find(Place(name, offset));
    if (stored == storage_.end())
      fail_env("{}: tensor {}: nothing is stored for its chunk at [{}]", in_.file, name, to_string(offset));
    const PickleId fields = state_of(in_, stored->second, kStorageInfo);
    const PickleId transforms = find_field(in_, fields, "transform_descriptors");
    if (transforms.valid() && in_.at(transforms).kind != PickleKind::none)
      fail_env("{}: tensor {}: its bytes are transformed (compressed, say); save without extensions",
               in_.file, name);
    DcpChunk chunk{
        .file = file_index(name, name_of(in_, field(in_, fields, "relative_path"), "a file's name")),
        .begin = size_of(in_, field(in_, fields, "offset"), "an offset"),
        .bytes = size_of(in_, field(in_, fields, "length"), "a length")};
    int64_t end = 0;
    if (__builtin_add_overflow(chunk.begin, chunk.bytes, &end))
      fail_env("{}: tensor {}: {} bytes from {} overflow", in_.file, name, chunk.bytes, chunk.begin);
    return chunk;
  }

  size_t file_index(const std::string& tensor, std::string_view name) {
    if (name == "." || name == ".." || name.find_first_of("/\\") != std::string_view::npos)
      fail_env("{}: tensor {}: the path {} leads out of the folder; only plain file names are read", in_.file,
               tensor, name);
    const auto [it, added] = files_.emplace(name, metadata_.files.size());
    if (added) metadata_.files.emplace_back(name);
    return it->second;
  }

  void check_bytes_apart() const {
    struct Range {
      DcpChunk chunk;
      const std::string* tensor;
    };
    std::vector<Range> ranges;
    for (const auto& [name, tensor] : metadata_.tensors) {
      for (const DcpChunk& chunk : tensor.chunks) ranges.push_back({chunk, &name});
    }
    std::sort(ranges.begin(), ranges.end(), [](const Range& a, const Range& b) {
      return std::pair(a.chunk.file, a.chunk.begin) < std::pair(b.chunk.file, b.chunk.begin);
    });
    for (size_t i = 1; i < ranges.size(); ++i) {
      const DcpChunk& a = ranges[i - 1].chunk;
      const DcpChunk& b = ranges[i].chunk;
      if (a.file == b.file && a.begin + a.bytes > b.begin)
        fail_env("{}: tensors {} and {} share bytes of {}", in_.file, *ranges[i - 1].tensor,
                 *ranges[i].tensor, metadata_.files[a.file]);
    }
  }

  const PickleReading& in_;
  size_t steps_left_;
  std::map<Place, PickleId> storage_;
  std::map<std::string_view, size_t> files_;
  std::set<std::string> names_;
  DcpMetadata metadata_;
};

}  // namespace

bool is_of_optimizer(std::string_view name) {
  for (int part = 0; part < 2; ++part) {
    const size_t dot = name.find('.');
    const std::string_view word = name.substr(0, dot);
    if (word == "optimizer" || word == "optimizers" || word == "optim") return true;
    if (dot == std::string_view::npos) return false;
    name.remove_prefix(dot + 1);
  }
  return false;
}

DcpMetadata parse_dcp_metadata(std::span<const std::byte> bytes, const std::string& file) {
  const Pickle pickle = parse_pickle(bytes, {.classes = kClasses}, file);
  return MetadataReader({pickle, file}, bytes.size()).run();
}

}  // namespace trireme
