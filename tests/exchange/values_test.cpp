// Elements of every dtype, of tensors in one piece and in many; and what the map says of DeepSeek's further
// token, of which transformers saves nothing.
#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstring>
#include <limits>

#include "exchange/export_hf.h"
#include "exchange/foreign_values.h"
#include "exchange/saved_model.h"
#include "io/checkpoint/safetensors.h"

namespace trireme {
namespace {

template <class T>
ForeignValues one_tensor(const std::string& path, ForeignDType dtype, const std::vector<T>& stored) {
  test::spill(path,
              "x" + std::string(reinterpret_cast<const char*>(stored.data()), stored.size() * sizeof(T)));
  ForeignTensors tensors{path, {path}, {}};
  const Shape shape{static_cast<int64_t>(stored.size())};
  tensors.tensors["a"] = {dtype, shape, {{0, 1, {0}, shape}}};  // at an odd byte
  return ForeignValues(std::move(tensors));
}

template <class T>
std::vector<float> widened(ForeignDType dtype, const std::vector<T>& stored) {
  const test::ScratchFolder folder;
  const ForeignValues values = one_tensor(folder / "a", dtype, stored);
  std::vector<float> read(stored.size());
  values.read(values.tensors().tensors.at("a"), 0, 1, read);
  return read;
}

TEST(ForeignValues, Bf16IsTheUpperHalf) {
  const std::vector<uint16_t> bits = {0, 0x8000, 0x3f80, 0xbf81, 0x0001, 0x7f80, 0xff80, 0x7f7f};
  const std::vector<float> read = widened(ForeignDType::bf16, bits);
  for (size_t i = 0; i < bits.size(); ++i)
    EXPECT_EQ(std::bit_cast<uint32_t>(read[i]), static_cast<uint32_t>(bits[i]) << 16);
}

TEST(ForeignValues, F16IsExact) {
  std::vector<uint16_t> bits(65536);
  for (size_t i = 0; i < bits.size(); ++i) bits[i] = static_cast<uint16_t>(i);
  const std::vector<float> read = widened(ForeignDType::f16, bits);
  for (uint32_t i = 0; i < 65536; ++i) {
    const int exponent = static_cast<int>(i >> 10 & 31), mantissa = static_cast<int>(i & 1023);
    const double sign = (i & 0x8000) != 0 ? -1 : 1;
    if (exponent == 31 && mantissa != 0) {
      EXPECT_TRUE(std::isnan(read[i]));
      continue;
    }
    const double expected = exponent == 31  ? sign * std::numeric_limits<double>::infinity()
                            : exponent == 0 ? sign * std::ldexp(mantissa, -24)
                                            : sign * std::ldexp(1024 + mantissa, exponent - 25);
    ASSERT_EQ(static_cast<double>(read[i]), expected) << i;
    ASSERT_EQ(std::signbit(read[i]), (i & 0x8000) != 0) << i;
  }
}

TEST(ForeignValues, F64IsRoundedOnce) {
  const std::vector<double> stored = {1.0 + 0x1p-24, 1.0 + 0x1.8p-23, 1.0 + 0x1p-24 + 0x1p-50, -0.1, 1e-300};
  const std::vector<float> expected = {1.0f, 1.0f + 0x1p-22f, 1.0f + 0x1p-23f, -0.1f, 0.0f};
  EXPECT_EQ(widened(ForeignDType::f64, stored), expected);
}

TEST(ForeignValues, PiecesOfATensor) {
  const test::ScratchFolder folder;
  // [4,6] as four boxes of [2,3] in two files, each element its own number.
  ForeignTensors tensors{"here", {folder / "a", folder / "b"}, {}};
  ForeignTensor& tensor = tensors.tensors["t"];
  tensor.dtype = ForeignDType::f32;
  tensor.shape = {4, 6};
  std::vector<std::vector<float>> files(2);
  for (int64_t row : {0, 2})
    for (int64_t col : {0, 3}) {
      const size_t file = row == 0 ? 0 : 1;
      tensor.pieces.push_back({file, static_cast<int64_t>(files[file].size()) * 4, {row, col}, {2, 3}});
      for (int64_t r = row; r < row + 2; ++r)
        for (int64_t c = col; c < col + 3; ++c) files[file].push_back(static_cast<float>(r * 6 + c));
    }
  for (size_t f = 0; f < 2; ++f)
    test::spill(tensors.files[f],
                std::string(reinterpret_cast<const char*>(files[f].data()), files[f].size() * 4));
  const ForeignTensor copy = tensor;
  const ForeignValues values(tensors);
  for (const int64_t step : {1, 2, 5, 6})
    for (int64_t first = 0; first < 24; ++first) {
      std::vector<float> read(static_cast<size_t>((24 - first + step - 1) / step));
      values.read(copy, first, step, read);
      for (size_t i = 0; i < read.size(); ++i)
        ASSERT_EQ(read[i], static_cast<float>(first + static_cast<int64_t>(i) * step))
            << first << " by " << step;
    }
  test::spill(folder / "b", std::string(40, '\0'));
  EXPECT_THROW(ForeignValues{tensors}, EnvError);
}

std::vector<float> floats(const SafetensorsFile& file, const std::string& name) {
  const auto bytes = file.bytes(file.entry(name));
  std::vector<float> values(bytes.size() / 4);
  std::memcpy(values.data(), bytes.data(), bytes.size());
  return values;
}

// As DeepSeek's own checkpoint has it: eh_proj takes [embedding, hidden].
TEST(DeepseekNames, TheFurtherToken) {
  const test::ScratchFolder folder;
  const RunSpec spec = spec_of(model_texts().at("deepseek_further"));
  save_drawn(folder / "run", spec);
  export_hf(open_saved_run(folder / "run"), folder / "out", {});
  const SafetensorsFile file(folder / "out/model.safetensors");
  const Tensors ours = drawn_tensors(spec.model);
  const std::string layer = "model.layers.3.";
  const std::vector<float> both = floats(file, layer + "eh_proj.weight");
  ASSERT_EQ(both.size(), 16u * 32u);
  for (size_t r = 0; r < 16; ++r)
    for (size_t c = 0; c < 16; ++c) {
      ASSERT_EQ(both[r * 32 + c], ours.at("mtp.embed_proj.weight")[r * 16 + c]);
      ASSERT_EQ(both[r * 32 + 16 + c], ours.at("mtp.hidden_proj.weight")[r * 16 + c]);
    }
  EXPECT_EQ(floats(file, layer + "enorm.weight"), ours.at("mtp.embed_norm.weight"));
  EXPECT_EQ(floats(file, layer + "hnorm.weight"), ours.at("mtp.hidden_norm.weight"));
  EXPECT_EQ(floats(file, layer + "embed_tokens.weight"), ours.at("embed.weight"));
  EXPECT_EQ(floats(file, layer + "shared_head.head.weight"), ours.at("head.weight"));
  EXPECT_EQ(floats(file, layer + "shared_head.norm.weight"), ours.at("mtp.final_norm.weight"));
  const std::vector<float>& balance = ours.at("mtp.moe.balance");
  EXPECT_EQ(floats(file, layer + "mlp.gate.e_score_correction_bias"),
            std::vector<float>(balance.begin(), balance.begin() + 4));
}

}  // namespace
}  // namespace trireme
