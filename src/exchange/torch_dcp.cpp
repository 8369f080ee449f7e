// .metadata says where each chunk's zip lies; each zip is opened, held against what .metadata says of it, and
// becomes a piece.
#include "exchange/torch_dcp.h"

#include <algorithm>
#include <filesystem>
#include <system_error>
#include <utility>
#include <vector>

#include "base/error.h"
#include "exchange/torch_dcp_metadata.h"
#include "io/files/mapped_file.h"

namespace trireme {
namespace {

namespace fs = std::filesystem;

std::vector<std::string> list_names(const std::string& dir) {
  std::error_code error;
  std::vector<std::string> names;
  for (fs::directory_iterator it(dir, error), end; !error && it != end; it.increment(error))
    names.push_back(it->path().filename().string());
  std::sort(names.begin(), names.end());
  return names;
}

bool has_suffix(const std::vector<std::string>& names, std::string_view suffix) {
  return std::any_of(names.begin(), names.end(),
                     [&](const std::string& name) { return name.ends_with(suffix); });
}

bool has(const std::vector<std::string>& names, std::string_view name) {
  return std::binary_search(names.begin(), names.end(), name);
}

// Without .metadata: says what is there instead.
[[noreturn]] void refuse_folder(const std::string& dir, const std::vector<std::string>& names) {
  if (has_suffix(names, ".metadata"))
    fail_env("{} has a .metadata per rank; only checkpoints with one for all ranks are read", dir);
  if (has_suffix(names, ".distcp"))
    fail_env("{} has no .metadata, which is written last: its save was never finished; take another step",
             dir);
  std::error_code ignored;
  if (!fs::is_directory(dir, ignored))
    fail_user("{} is no folder; name the one that has .metadata in it", dir);
  fail_user(
      "{} is no torch-dcp folder: it has neither .metadata nor .safetensors files; name the one of a step",
      dir);
}

void note_left_out(const DcpMetadata& metadata, const TorchDcpOptions& options) {
  if (!options.on_note) return;
  for (const auto& [why, names] : metadata.left_out) {
    const char* what = why == DcpLeftOut::no_tensor      ? "are no tensors"
                       : why == DcpLeftOut::of_optimizer ? "are an optimizer's"
                                                         : "have other dtypes than F32, BF16, F16 and F64";
    options.on_note(
        fmt::format("left out: {} entries that {}, the first is {}", names.size(), what, names[0]));
  }
}

class FolderReader {
 public:
  FolderReader(const std::string& dir, const TorchDcpOptions& options) : dir_(dir), options_(options) {}

  ForeignTensors run() {
    const std::string name = dir_ + "/.metadata";
    const DcpMetadata metadata = parse_dcp_metadata(MappedFile(name).bytes(), name);
    note_left_out(metadata, options_);
    ForeignTensors out{.from = dir_};
    for (const std::string& file : metadata.files) {
      out.files.push_back(dir_ + "/" + file);
      files_.emplace_back(out.files.back());
    }
    for (const auto& [tensor_name, tensor] : metadata.tensors) out.tensors[tensor_name] = frame(tensor);
    for (const Work& work : in_file_order(metadata))
      out.tensors[*work.name].pieces[work.index] = read_piece(work, out);
    if (without_checksum_ > 0 && options_.on_note && options_.check == ElementCheck::verify)
      options_.on_note(
          fmt::format("{} of {} chunks have no checksums (torch.serialization.set_crc32_options): their "
                      "bytes cannot be verified",
                      without_checksum_, chunks_));
    return out;
  }

 private:
  struct Work {
    const std::string* name;
    const DcpTensor* tensor;
    size_t index;  // of the chunk
    const DcpChunk& chunk() const { return tensor->chunks[index]; }
  };

  static ForeignTensor frame(const DcpTensor& tensor) {
    return {.dtype = tensor.dtype,
            .shape = tensor.shape,
            .pieces = std::vector<ForeignPiece>(tensor.boxes.size())};
  }

  // So that files are read front to back.
  static std::vector<Work> in_file_order(const DcpMetadata& metadata) {
    std::vector<Work> works;
    for (const auto& [name, tensor] : metadata.tensors) {
      for (size_t i = 0; i < tensor.chunks.size(); ++i) works.push_back({&name, &tensor, i});
    }
    std::sort(works.begin(), works.end(), [](const Work& a, const Work& b) {
      return std::pair(a.chunk().file, a.chunk().begin) < std::pair(b.chunk().file, b.chunk().begin);
    });
    return works;
  }

  ForeignPiece read_piece(const Work& work, const ForeignTensors& out) {
    const DcpChunk& chunk = work.chunk();
    const Box& box = work.tensor->boxes[work.index];
    const std::string what = fmt::format("{}, tensor {}, bytes {} to {}", out.files[chunk.file], *work.name,
                                         chunk.begin, chunk.begin + chunk.bytes);
    const auto file = files_[chunk.file].bytes();
    if (chunk.begin + chunk.bytes > static_cast<int64_t>(file.size()))
      fail_env("{}: the file has only {} bytes: cut short or of another save", what, file.size());
    const SavedTensor saved =
        read_saved_tensor(file.subspan(static_cast<size_t>(chunk.begin), static_cast<size_t>(chunk.bytes)),
                          options_.check, what);
    if (saved.dtype != work.tensor->dtype || saved.shape != box.shape)
      fail_env("{}: it holds {} [{}], and .metadata says {} [{}]", what, name_of(saved.dtype),
               to_string(saved.shape), name_of(work.tensor->dtype), to_string(box.shape));
    ++chunks_;
    without_checksum_ += saved.has_checksum ? 0 : 1;
    return {.file = chunk.file, .begin = chunk.begin + saved.begin, .offset = box.offset, .shape = box.shape};
  }

  const std::string& dir_;
  const TorchDcpOptions& options_;
  std::vector<MappedFile> files_;
  int64_t chunks_ = 0;
  int64_t without_checksum_ = 0;
};

}  // namespace

bool is_torch_dcp(const std::string& dir) {
  const auto names = list_names(dir);
  return has_suffix(names, ".metadata") || has_suffix(names, ".distcp") ||
         std::any_of(names.begin(), names.end(), [](const std::string& name) {
           return name.starts_with("shard-") && name.ends_with(".safetensors");
         });
}

ForeignTensors read_torch_dcp(const std::string& dir, const TorchDcpOptions& options) {
  const auto names = list_names(dir);
  if (has(names, ".metadata")) return FolderReader(dir, options).run();
  if (has_suffix(names, ".safetensors")) return read_dcp_safetensors(dir, options);
  refuse_folder(dir, names);
}

}  // namespace trireme
