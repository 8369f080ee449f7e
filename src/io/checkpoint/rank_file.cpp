// Parts to safetensors entries, hashed as they are written.
#include "io/checkpoint/rank_file.h"

#include <algorithm>
#include <map>

#include "base/error.h"
#include "io/checkpoint/safetensors.h"

namespace trireme {
namespace {

std::vector<TensorPiece> entries_of(std::span<const TensorPart> parts) {
  std::vector<TensorPiece> entries;
  for (const TensorPart& part : parts) {
    const bool whole_box = part.part.elements() == count(part.part.shape);
    const Shape shape = whole_box ? part.part.shape : Shape{part.part.elements()};
    entries.push_back({entry_name(part), part.dtype, shape, part.bytes});
  }
  return entries;
}

// Checksums of the blocks of one part.
std::vector<Checksum> write_hashed(ByteSink& sink, std::span<const std::byte> bytes, int64_t block_bytes) {
  std::vector<Checksum> checksums;
  while (!bytes.empty()) {
    const auto block = bytes.first(std::min(bytes.size(), static_cast<size_t>(block_bytes)));
    checksums.push_back(checksum_of(block));
    sink.write(block);
    bytes = bytes.subspan(block.size());
  }
  return checksums;
}

int64_t elements_of(const IndexTensor& tensor) {
  int64_t elements = 0;
  for (const IndexPiece& piece : tensor.pieces) elements += piece.part.elements();
  return elements;
}

}  // namespace

std::string entry_name(const TensorPart& part) {
  const BoxPart& box = part.part;
  const bool whole_box = box.elements() == count(box.shape);
  if (whole_box && box.shape == part.shape) return part.tensor;
  std::string name = part.tensor + "[";
  for (size_t d = 0; d < box.shape.size(); ++d)
    name += fmt::format("{}{}:{}", d == 0 ? "" : ",", box.offset[d], box.offset[d] + box.shape[d]);
  name += "]";
  if (!whole_box) name += fmt::format("{{{}:{}}}", box.first, box.last);
  return name;
}

std::string rank_file_name(int rank) { return fmt::format("rank-{:05}.safetensors", rank); }

CheckpointIndex write_rank_file(ByteStore& store, const RankFilePlace& place,
                                std::span<const TensorPart> parts) {
  const std::vector<TensorPiece> entries = entries_of(parts);
  const SafetensorsLayout layout = lay_out_safetensors(entries, {{"format", "trireme"}});
  CheckpointIndex index{.checksum_block_bytes = place.block_bytes};
  index.files.push_back({.name = rank_file_name(place.rank),
                         .bytes = layout.file_bytes,
                         .header_bytes = static_cast<int64_t>(layout.head.size()),
                         .header_checksum = checksum_of(layout.head)});
  const auto sink = store.create(place.folder + "/" + index.files[0].name);
  sink->write(std::as_bytes(std::span(layout.head)));
  std::map<std::string, IndexTensor> tensors;
  for (const size_t i : layout.order) {
    const TensorPart& part = parts[i];
    IndexTensor& tensor = tensors[part.tensor];
    tensor = {part.tensor, part.dtype, part.shape, std::move(tensor.pieces)};
    tensor.pieces.push_back({.name = entries[i].name,
                             .part = part.part,
                             .begin = layout.begins[i],
                             .end = layout.begins[i] + static_cast<int64_t>(part.bytes.size()),
                             .checksums = write_hashed(*sink, part.bytes, place.block_bytes)});
  }
  sink->finish();
  for (auto& [name, tensor] : tensors) index.tensors.push_back(std::move(tensor));
  return index;
}

CheckpointIndex joined(const CheckpointMeta& meta, std::span<const CheckpointIndex> files) {
  CheckpointIndex all{.meta = meta};
  std::map<std::string, IndexTensor> tensors;
  for (const CheckpointIndex& one : files) {
    CHECK(&one == files.data() || one.checksum_block_bytes == all.checksum_block_bytes,
          "ranks disagree on blocks");
    all.checksum_block_bytes = one.checksum_block_bytes;
    CHECK(one.files.size() == 1, "{} files of a rank", one.files.size());
    const auto number = static_cast<int64_t>(all.files.size());
    all.files.push_back(one.files[0]);
    for (const IndexTensor& part : one.tensors) {
      IndexTensor& tensor = tensors[part.name];
      CHECK(tensor.pieces.empty() || (tensor.shape == part.shape && tensor.dtype == part.dtype),
            "ranks disagree on tensor {}", part.name);
      tensor = {part.name, part.dtype, part.shape, std::move(tensor.pieces)};
      for (IndexPiece piece : part.pieces) {
        piece.file = number;
        tensor.pieces.push_back(std::move(piece));
      }
    }
  }
  for (auto& [name, tensor] : tensors) {
    CHECK(elements_of(tensor) == count(tensor.shape), "{} elements of tensor {} [{}] were written",
          elements_of(tensor), name, to_string(tensor.shape));
    all.tensors.push_back(std::move(tensor));
  }
  return all;
}

}  // namespace trireme
