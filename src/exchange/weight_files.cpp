// Each of our parameters once, its pieces to where they belong.
#include "exchange/weight_files.h"

#include <unistd.h>

#include <cstring>

#include "base/error.h"
#include "io/store/posix_file.h"

namespace trireme {
namespace {

void write_at(const FileDescriptor& file, const std::string& path, int64_t offset,
              std::span<const std::byte> bytes) {
  if (::lseek(file.get(), offset, SEEK_SET) != offset) fail_env("{}", with_errno("cannot write " + path));
  write_all(file.get(), bytes, path);
}

FileDescriptor begin_file(const WeightFile& file) {
  FileDescriptor made = create_to_write(file.path);
  write_all(made.get(), file.head, file.path);
  if (::ftruncate(made.get(), file.bytes) != 0) fail_env("{}", with_errno("cannot write " + file.path));
  return made;
}

template <class T>
void place(const MapPiece& piece, std::span<const float> ours, int64_t row, T* out) {
  const float* from = ours.data() + piece.begin + row * piece.stride;
  for (int64_t c = 0; c < piece.cols; ++c) out[c * piece.foreign_col_step] = from_float<T>(from[c]);
}

// The piece's elements from its first to its last one in the other tensor, when nothing else lies between.
template <class T>
std::vector<std::byte> block_of(const MapPiece& piece, std::span<const float> ours) {
  std::vector<std::byte> bytes(static_cast<size_t>(piece.rows * piece.cols) * sizeof(T));
  T* out = reinterpret_cast<T*>(bytes.data());
  for (int64_t r = 0; r < piece.rows; ++r)
    place(piece, ours, r, out + foreign_row(piece.order, r) * piece.foreign_row_step);
  return bytes;
}

bool is_block(const MapPiece& piece) {
  if (piece.rows == 1) return piece.foreign_col_step == 1;
  return piece.foreign_col_step == 1 ? piece.foreign_row_step == piece.cols
                                     : piece.foreign_row_step == 1 && piece.foreign_col_step == piece.rows;
}

template <class T>
void write_piece(const MapPiece& piece, std::span<const float> ours, const TensorPlace& to,
                 const FileDescriptor& file, const std::string& path) {
  const int64_t begin = to.begin + piece.foreign_begin * static_cast<int64_t>(sizeof(T));
  if (is_block(piece)) return write_at(file, path, begin, block_of<T>(piece, ours));
  CHECK(piece.foreign_col_step == 1, "rows of a matrix that is neither ours nor its transpose");
  std::vector<T> row(static_cast<size_t>(piece.cols));
  for (int64_t r = 0; r < piece.rows; ++r) {
    place(piece, ours, r, row.data());
    const int64_t at = foreign_row(piece.order, r) * piece.foreign_row_step;
    write_at(file, path, begin + at * static_cast<int64_t>(sizeof(T)), std::as_bytes(std::span(row)));
  }
}

}  // namespace

void write_weight_files(const CheckpointReader& checkpoint, const NameMap& map,
                        std::span<const TensorPlace> places, std::span<const WeightFile> files) {
  std::vector<FileDescriptor> open;
  for (const WeightFile& file : files) open.push_back(begin_file(file));
  std::vector<float> ours;
  for (size_t i = 0; i < map.pieces.size(); ++i) {
    const MapPiece& piece = map.pieces[i];
    if (i == 0 || map.pieces[i - 1].ours != piece.ours) {
      const ParamSpec& param = map.params[piece.ours];
      ours.resize(static_cast<size_t>(count(param.shape)));
      checkpoint.read("params/" + param.name, DType::f32, param.shape,
                      std::as_writable_bytes(std::span(ours)));
    }
    if (map.foreign[piece.foreign].use == ForeignUse::accepted) continue;
    const TensorPlace& to = places[piece.foreign];
    if (to.dtype == DType::bf16)
      write_piece<bf16>(piece, ours, to, open[to.file], files[to.file].path);
    else
      write_piece<float>(piece, ours, to, open[to.file], files[to.file].path);
  }
  for (size_t i = 0; i < files.size(); ++i) sync_file(open[i].get(), files[i].path);
}

}  // namespace trireme
