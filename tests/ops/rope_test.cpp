// Rotary positions against Hugging Face's values (tests/golden/rope), which come in f32: an angle of up to
// 100 rad has an error of 100 * 2^-23, and the frequencies behind it one of a few units of the last place.
#include <gtest/gtest.h>

#include <fstream>
#include <sstream>

#include "device/cpu/kernel.h"
#include "ops/rope/rope.h"

namespace trireme {
namespace {

struct Rotated {
  int32_t position;
  std::vector<float> y;
};

struct Golden {
  RopeAttrs attrs;
  double amplitude;
  std::vector<double> frequencies;
  std::vector<Rotated> rotated;
};

template <class T>
std::vector<T> numbers(std::istream& line) {
  std::vector<T> out;
  for (T x; line >> x;) out.push_back(x);
  return out;
}

std::vector<Golden> goldens() {
  std::ifstream file(TRIREME_SOURCE_DIR "/tests/golden/rope/rope.txt");
  std::vector<Golden> out;
  for (std::string text; std::getline(file, text);) {
    std::istringstream line(text);
    std::string word;
    line >> word;
    if (word == "case") {
      Golden& g = out.emplace_back();
      g.attrs.heads = g.attrs.kv_heads = 1;
      line >> g.attrs.layout >> g.attrs.scaling >> g.attrs.theta >> g.attrs.head_dim >> g.attrs.factor >>
          g.attrs.low_freq_factor >> g.attrs.high_freq_factor >> g.attrs.original_context >>
          g.attrs.beta_fast >> g.attrs.beta_slow >> g.amplitude;
    } else if (word == "frequencies") {
      out.back().frequencies = numbers<double>(line);
    } else {
      Rotated rotated{};
      line >> rotated.position;
      rotated.y = numbers<float>(line);
      out.back().rotated.push_back(rotated);
    }
  }
  return out;
}

// y of one token with q = k = v = x, at `position`.
std::vector<float> rotate(const RopeAttrs& attrs, const std::vector<float>& x, int32_t position, CpuIsa isa) {
  const TensorType type{DType::f32, {1, 1, 3 * attrs.head_dim}};
  OpSig sig{"rope", pack_attrs(attrs), {type, {DType::i32, {1, 1}}}, {type}};
  std::vector<float> y(x.size()), scratch(static_cast<size_t>(op_def("rope").scratch_bytes(sig, 1)) / 4);
  void* inputs[] = {const_cast<float*>(x.data()), &position};
  void* outputs[] = {y.data()};
  find_cpu_kernel("rope")(
      sig, {.threads = 1, .isa = isa})({inputs, outputs, reinterpret_cast<std::byte*>(scratch.data())});
  return y;
}

std::vector<float> three_heads(int64_t dim) {
  std::vector<float> x;
  for (int64_t i = 0; i < 3 * dim; ++i)
    x.push_back(static_cast<float>((37 * (i % dim) + 11) % 64 - 32) / 32.0f);
  return x;
}

TEST(Rope, FrequenciesAreHuggingFaces) {
  ASSERT_EQ(goldens().size(), 8u);
  for (const Golden& g : goldens()) {
    SCOPED_TRACE(g.attrs.scaling + " theta " + std::to_string(g.attrs.theta));
    const std::vector<double> frequencies = rope_frequencies(g.attrs);
    ASSERT_EQ(frequencies.size(), g.frequencies.size());
    for (size_t i = 0; i < frequencies.size(); ++i)
      EXPECT_NEAR(frequencies[i] / g.frequencies[i], 1, 1e-6) << "pair " << i;
    EXPECT_NEAR(rope_amplitude(g.attrs), g.amplitude, 1e-7);
  }
}

TEST(Rope, RotatesAsHuggingFaceDoes) {
  for (const Golden& g : goldens()) {
    const std::vector<float> x = three_heads(g.attrs.head_dim);
    const auto dim = static_cast<size_t>(g.attrs.head_dim);
    ASSERT_EQ(g.rotated.size(), 5u);
    for (const Rotated& want : g.rotated)
      for (const CpuIsa isa : {CpuIsa::baseline, detect_isa()}) {
        SCOPED_TRACE(g.attrs.layout + " " + g.attrs.scaling + " at " + std::to_string(want.position));
        const std::vector<float> y = rotate(g.attrs, x, want.position, isa);
        const double tolerance = 1e-6 + 4e-7 * want.position;
        for (size_t d = 0; d < dim; ++d) {
          ASSERT_NEAR(y[d], want.y[d], tolerance) << "q " << d;
          ASSERT_EQ(y[d], y[dim + d]) << "k " << d;
          ASSERT_EQ(y[2 * dim + d], x[d]) << "v " << d;
        }
      }
  }
}

TEST(Rope, InverseUndoesTheRotation) {
  for (const char* layout : {"half", "interleaved"}) {
    RopeAttrs attrs;
    attrs.heads = attrs.kv_heads = 1;
    attrs.head_dim = 22;
    attrs.layout = layout;
    const std::vector<float> x = three_heads(attrs.head_dim);
    const std::vector<float> y = rotate(attrs, x, 12345, detect_isa());
    attrs.inverse = 1;
    const std::vector<float> back = rotate(attrs, y, 12345, detect_isa());
    for (size_t i = 0; i < x.size(); ++i) ASSERT_NEAR(back[i], x[i], 4e-7) << layout << " " << i;
  }
}

TEST(Rope, RefusesWhatDoesNotFit) {
  RopeAttrs attrs;
  attrs.heads = 2;
  attrs.kv_heads = 1;
  attrs.head_dim = 8;
  const auto infer = [](const RopeAttrs& a, int64_t width) {
    return op_def("rope").infer(pack_attrs(a),
                                std::vector<TensorType>{{DType::f32, {1, 2, width}}, absent_type()});
  };
  EXPECT_NO_THROW(infer(attrs, 32));
  EXPECT_THROW(infer(attrs, 31), std::invalid_argument);
  attrs.scaling = "banana";
  EXPECT_THROW(infer(attrs, 32), std::invalid_argument);
  attrs.scaling = "none";
  attrs.head_dim = 7;
  EXPECT_THROW(infer(attrs, 28), std::invalid_argument);
}

}  // namespace
}  // namespace trireme
