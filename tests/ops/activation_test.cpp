// Activations against PyTorch's values in f64 (tests/golden/activation), tails included.
#include <gtest/gtest.h>

#include <cmath>
#include <fstream>
#include <limits>

#include "device/cpu/kernel.h"
#include "ops/activation/activation.h"

namespace trireme {
namespace {

struct Curve {
  std::vector<float> x;
  std::vector<double> value, slope;
};

Curve golden(const std::string& kind) {
  std::ifstream file(TRIREME_SOURCE_DIR "/tests/golden/activation/activation.txt");
  Curve curve;
  std::string name;
  for (double x, value, slope; file >> name >> x >> value >> slope;)
    if (name == kind) {
      curve.x.push_back(static_cast<float>(x));
      curve.value.push_back(value);
      curve.slope.push_back(slope);
    }
  return curve;
}

template <class T>
std::vector<T> run(const std::string& op, const std::string& kind, std::vector<T> x, CpuIsa isa) {
  const DType dtype = sizeof(T) == 2 ? DType::bf16 : DType::f32;
  const TensorType type{dtype, {static_cast<int64_t>(x.size())}};
  std::vector<T> dy(x.size(), from_float<T>(1.0f)), y(x.size());
  OpSig sig{op, pack_attrs(ActivationAttrs{kind}), {type}, {type}};
  if (op == "activation_grad") sig.inputs.push_back(type);
  void* inputs[] = {x.data(), dy.data()};
  void* outputs[] = {y.data()};
  find_cpu_kernel(op)(
      sig, {.threads = 1, .isa = isa})({std::span<void* const>(inputs, sig.inputs.size()), outputs, nullptr});
  return y;
}

class ActivationKind : public testing::TestWithParam<const char*> {};

TEST_P(ActivationKind, AgreesWithPyTorch) {
  const Curve curve = golden(GetParam());
  ASSERT_EQ(curve.x.size(), 65u);
  for (int isa = 0; isa <= static_cast<int>(detect_isa()); ++isa) {
    const auto value = run("activation", GetParam(), curve.x, static_cast<CpuIsa>(isa));
    const auto slope = run("activation_grad", GetParam(), curve.x, static_cast<CpuIsa>(isa));
    for (size_t i = 0; i < curve.x.size(); ++i) {
      // A handful of roundings, of the value or of x times a number near 1.
      const double tolerance = 8 * 0x1p-24 * (1 + std::abs(curve.x[i]));
      EXPECT_NEAR(value[i], curve.value[i], tolerance + 4 * 0x1p-24 * curve.value[i]) << curve.x[i];
      EXPECT_NEAR(slope[i], curve.slope[i], tolerance) << curve.x[i];
    }
  }
}

TEST_P(ActivationKind, ExtremesStayFinite) {
  const std::vector<float> x = {-3e38f, -1e5f, -0.0f, 0.0f, 1e5f};
  const auto slope = run("activation_grad", GetParam(), x, detect_isa());
  const auto value = run("activation", GetParam(), x, detect_isa());
  for (size_t i = 0; i < x.size(); ++i)
    EXPECT_TRUE(std::isfinite(slope[i]) && std::isfinite(value[i])) << x[i];
  for (size_t i = 0; i < 4; ++i)
    EXPECT_NEAR(value[i], 0, 1e-18) << x[i];  // nothing comes of large negative x
  EXPECT_NEAR(slope[0], 0, 1e-18);
  const auto nan =
      run<float>("activation", GetParam(), {std::numeric_limits<float>::quiet_NaN()}, detect_isa());
  EXPECT_TRUE(std::isnan(nan[0]));  // a NaN must reach the loss, where the step is skipped
}

// Every finite bf16 number up to 1e30. Rounding to bf16 costs 2^-9 to 2^-8 of the result, what is computed in
// between a 32nd of that; a slope is a sum of terms of size 1, which cancel at its root.
TEST(GeluTanh, Bf16IsRoundedFromANearlyExactValue) {
  std::vector<bf16> x;
  for (uint32_t bits = 0; bits < 0x10000; ++bits) {
    const bf16 candidate{static_cast<uint16_t>(bits)};
    if (std::abs(to_float(candidate)) < 1e30f) x.push_back(candidate);
  }
  for (int isa = 0; isa <= static_cast<int>(detect_isa()); ++isa) {
    SCOPED_TRACE(name_of(static_cast<CpuIsa>(isa)));
    const auto value = run("activation", "gelu_tanh", x, static_cast<CpuIsa>(isa));
    const auto slope = run("activation_grad", "gelu_tanh", x, static_cast<CpuIsa>(isa));
    for (size_t i = 0; i < x.size(); ++i) {
      const double at = to_float(x[i]), twice_u = 2 * std::sqrt(2 / M_PI) * at * (1 + 0.044715 * at * at);
      const double gate = 1 / (1 + std::exp(-twice_u)), rest = 1 / (1 + std::exp(twice_u));
      const double inner = 2 * std::sqrt(2 / M_PI) * (1 + 3 * 0.044715 * at * at);
      const double want = at * gate, want_slope = rest * gate == 0 ? gate : gate * (1 + at * inner * rest);
      const double tiny = at < -8 ? 1e-19 : 2e-38;  // where the gate is 1e-21; denormals
      ASSERT_NEAR(to_float(value[i]), want, (0x1p-8 + 0x1p-13) * std::abs(want) + tiny) << at;
      ASSERT_NEAR(to_float(slope[i]), want_slope, 0x1p-8 * std::abs(want_slope) + 0x1p-12) << at;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Kinds, ActivationKind, testing::Values("gelu_tanh", "gelu", "relu2"));

}  // namespace
}  // namespace trireme
