// Names and shapes first, then ranges of elements.
#include "exchange/mapped_weights.h"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "base/error.h"

namespace trireme {
namespace {

constexpr size_t kChunk = 1 << 20;
constexpr int64_t kTile = 64;

}  // namespace

bool is_buffer(const std::string& name) {
  for (const char* end :
       {".attn.bias", ".attn.masked_bias", ".rotary_emb.inv_freq", "rope.freqs", "freqs_cis"})
    if (name.ends_with(end)) return true;
  return false;
}

MappedWeights::MappedWeights(NameMap map, ForeignTensors tensors)
    : map_(std::move(map)), values_(std::move(tensors)), ranges_(map_.params.size()) {
  for (size_t i = 0; i < map_.pieces.size(); ++i) {
    auto& [begin, end] = ranges_[map_.pieces[i].ours];
    if (end == 0) begin = i;
    end = i + 1;
  }
  for (size_t i = 0; i < map_.params.size(); ++i) place_[map_.params[i].name] = i;
  check_names();
  check_copies();
}

const ForeignTensor& MappedWeights::tensor(const MapPiece& piece) const {
  return values_.tensors().tensors.at(map_.foreign[piece.foreign].name);
}

void MappedWeights::check_names() const {
  const ForeignTensors& found = values_.tensors();
  std::map<std::string, const ForeignParam*> known;
  for (const ForeignParam& param : map_.foreign) {
    known[param.name] = &param;
    const auto it = found.tensors.find(param.name);
    if (it != found.tensors.end()) {
      if (it->second.shape != param.shape)
        fail_user("{}: {} is [{}], but the model needs [{}]: name the config that these weights belong to",
                  found.from, param.name, to_string(it->second.shape), to_string(param.shape));
      continue;
    }
    if (param.use != ForeignUse::part) continue;
    std::vector<std::string> names;
    for (const auto& [name, tensor] : found.tensors) names.push_back(name);
    const std::string near = nearest(param.name, names);
    fail_user("{} has no tensor {} [{}], which the model needs{}", found.from, param.name,
              to_string(param.shape), near.empty() ? "" : "; the nearest is " + near);
  }
  for (const auto& [name, tensor] : found.tensors)
    if (known.count(name) == 0 && !is_buffer(name))
      fail_user(
          "{} has a tensor {} [{}] that the model has no place for: name the config that these weights "
          "belong to",
          found.from, name, to_string(tensor.shape));
}

// What repeats another tensor says the same.
void MappedWeights::check_copies() const {
  std::vector<float> ours, theirs;
  for (const MapPiece& piece : map_.pieces) {
    const ForeignParam& foreign = map_.foreign[piece.foreign];
    if (foreign.use == ForeignUse::part || values_.tensors().tensors.count(foreign.name) == 0) continue;
    const int64_t n = piece.rows * piece.cols;
    for (int64_t at = 0; at < n; at += static_cast<int64_t>(kChunk)) {
      const auto size = static_cast<size_t>(std::min<int64_t>(n - at, kChunk));
      ours.resize(size);
      theirs.resize(size);
      read(map_.params[piece.ours].name, at, ours);
      values_.read(tensor(piece), at, 1, theirs);
      if (std::memcmp(ours.data(), theirs.data(), size * sizeof(float)) != 0)
        fail_user(
            "{}: {} differs from the tensor of which the model makes it a copy; set "
            "model.tie_embeddings = false (tie_word_embeddings in config.json) if it is one of its own",
            values_.tensors().from, foreign.name);
    }
  }
}

// Trained on, one of them spoils all others within a step.
void MappedWeights::check_finite(size_t param, int64_t first, std::span<const float> values) const {
  const auto bad = std::ranges::find_if_not(values, [](float x) { return std::isfinite(x); });
  if (bad == values.end()) return;
  const int64_t element = first + (bad - values.begin());
  for (size_t i = ranges_[param].first; i < ranges_[param].second; ++i) {
    const MapPiece& piece = map_.pieces[i];
    if (map_.foreign[piece.foreign].use != ForeignUse::part) continue;
    const int64_t inside = element - piece.begin;
    if (inside < 0 || inside / piece.stride >= piece.rows || inside % piece.stride >= piece.cols) continue;
    fail_env("{}: {} has the element {}: these weights are damaged, or their training had diverged",
             values_.tensors().from, map_.foreign[piece.foreign].name, *bad);
  }
}

void MappedWeights::read(const std::string& param, int64_t first, std::span<float> values) const {
  const auto place = place_.find(param);
  CHECK(place != place_.end(), "no parameter {}", param);
  const auto it = map_.params.begin() + static_cast<std::ptrdiff_t>(place->second);
  CHECK(first >= 0 && first + static_cast<int64_t>(values.size()) <= count(it->shape), "{}: {} + {} of [{}]",
        param, first, values.size(), to_string(it->shape));
  if (it->use.role == ParamRole::router_state) std::ranges::fill(values, 0.0f);
  const auto param_index = static_cast<size_t>(it - map_.params.begin());
  const auto& [begin, end] = ranges_[param_index];
  for (size_t i = begin; i < end; ++i)
    if (map_.foreign[map_.pieces[i].foreign].use == ForeignUse::part)
      read_piece(map_.pieces[i], first, values);
  check_finite(param_index, first, values);
}

void MappedWeights::read_piece(const MapPiece& piece, int64_t first, std::span<float> values) const {
  const ForeignTensor& from = tensor(piece);
  const auto n = static_cast<int64_t>(values.size());
  const int64_t base = piece.begin - first;  // of element (0, 0), counted in `values`
  const auto row_clamped = [&](int64_t row) { return std::clamp<int64_t>(row, 0, piece.rows); };
  const auto down = [&](int64_t x) {
    return x >= 0 ? x / piece.stride : -((-x + piece.stride - 1) / piece.stride);
  };
  const int64_t last = row_clamped(down(n - 1 - base) + 1);
  std::vector<float> tile;
  for (int64_t row = row_clamped(down(-base)); row < last;) {
    const int64_t at = base + row * piece.stride;
    // Of [in, out], several of our rows at once stand side by side.
    const int64_t together = std::min(kTile, last - row);
    if (piece.foreign_row_step == 1 && piece.foreign_col_step != 1 && at >= 0 && together > 1 &&
        at + (together - 1) * piece.stride + piece.cols <= n) {
      tile.resize(static_cast<size_t>(together));
      for (int64_t c = 0; c < piece.cols; ++c) {
        values_.read(from, piece.foreign_begin + row + c * piece.foreign_col_step, 1, tile);
        for (int64_t r = 0; r < together; ++r)
          values[static_cast<size_t>(at + r * piece.stride + c)] = tile[static_cast<size_t>(r)];
      }
      row += together;
      continue;
    }
    const int64_t c0 = std::max<int64_t>(0, -at), c1 = std::min(piece.cols, n - at);
    if (c0 < c1)
      values_.read(from,
                   piece.foreign_begin + foreign_row(piece.order, row) * piece.foreign_row_step +
                       c0 * piece.foreign_col_step,
                   piece.foreign_col_step,
                   values.subspan(static_cast<size_t>(at + c0), static_cast<size_t>(c1 - c0)));
    ++row;
  }
}

}  // namespace trireme
