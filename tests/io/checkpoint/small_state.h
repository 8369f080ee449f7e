// What the checkpoint tests share: a small state whose bytes follow from its step.
#pragma once
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <iterator>
#include <string>
#include <vector>

#include "io/checkpoint/checkpoint.h"
#include "scratch_folder.h"

namespace trireme::testing_checkpoint {

struct SmallState {
  explicit SmallState(int64_t step, size_t width = 32) : weights(width * 2), bias(5), moments(width * 2) {
    meta.step = step;
    meta.data_position = step * 8;
    meta.tokens_seen = step * 512;
    meta.skipped_steps = 1;
    meta.counts = {{"nan_streak", 2}};
    meta.config_toml = "[run]\nname = \"a\"\n";
    for (size_t i = 0; i < weights.size(); ++i)
      weights[i] = static_cast<float>(step) + static_cast<float>(i) / 64;
    for (size_t i = 0; i < bias.size(); ++i)
      bias[i] = static_cast<uint16_t>(step * 10 + static_cast<int64_t>(i));
    for (size_t i = 0; i < moments.size(); ++i)
      moments[i] = static_cast<double>(step * 1000) - static_cast<double>(i);
  }

  std::vector<TensorPiece> pieces() const {
    const auto half = static_cast<int64_t>(weights.size() / 2);
    return {{"params/w", DType::f32, {2, half}, std::as_bytes(std::span(weights))},
            {"params/b", DType::bf16, {5}, std::as_bytes(std::span(bias))},
            {"m/w", DType::f64, {half * 2}, std::as_bytes(std::span(moments))}};
  }

  CheckpointMeta meta;
  std::vector<float> weights;
  std::vector<uint16_t> bias;
  std::vector<double> moments;
};

// "" when the checkpoint holds exactly SmallState(its step, width).
inline std::string difference(const CheckpointReader& reader, size_t width = 32) {
  const SmallState expected(reader.meta().step, width);
  const std::vector<std::string> names{"params/w", "params/b", "m/w"};
  reader.require_exactly(names);
  for (const TensorPiece& piece : expected.pieces()) {
    std::vector<std::byte> bytes(piece.bytes.size());
    reader.read(piece.name, piece.dtype, piece.shape, bytes);
    if (std::memcmp(bytes.data(), piece.bytes.data(), bytes.size()) != 0) return piece.name + " differs";
  }
  const CheckpointMeta& meta = reader.meta();
  const bool same = meta.data_position == expected.meta.data_position &&
                    meta.counts == expected.meta.counts && meta.tokens_seen == expected.meta.tokens_seen &&
                    meta.skipped_steps == 1 && meta.config_toml == expected.meta.config_toml;
  return same ? "" : "the meta data differ";
}

}  // namespace trireme::testing_checkpoint
