// The vector library against double precision, on every instruction set that this machine has.
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <limits>
#include <vector>

#include "device/cpu/isa.h"
#include "device/simd_probe.h"

namespace trireme {
namespace {

std::vector<SimdProbe> probes() {
  std::vector<SimdProbe> all = {simd_probe_baseline()};
  if (detect_isa() >= CpuIsa::avx2) all.push_back(simd_probe_avx2());
  if (detect_isa() >= CpuIsa::avx512) all.push_back(simd_probe_avx512());
  if (detect_isa() >= CpuIsa::avx512_bf16) all.push_back(simd_probe_avx512_bf16());
  return all;
}

// |got - want| in units of the last place of want, as f32 holds it (denormals included).
double ulps(float got, double want) {
  const double rounded = std::abs(static_cast<float>(want));
  const double ulp = std::max(std::nextafter(static_cast<float>(rounded), HUGE_VALF) - rounded,
                              static_cast<double>(std::numeric_limits<float>::denorm_min()));
  return std::abs(got - want) / ulp;
}

// The largest error over [low, high] in steps of `step`.
double worst(void (*f)(const float*, float*), double (*exact)(double), double low, double high, double step) {
  double most = 0;
  float x[16], y[16];
  for (double begin = low; begin < high; begin += 16 * step) {
    for (int i = 0; i < 16; ++i) x[i] = static_cast<float>(begin + i * step);
    f(x, y);
    for (int i = 0; i < 16; ++i) most = std::max(most, ulps(y[i], exact(x[i])));
  }
  return most;
}

TEST(Simd, FunctionsKeepTheirStatedError) {
  for (const SimdProbe& p : probes()) {
    EXPECT_LE(worst(
                  p.exp, [](double x) { return std::exp(x); }, -87, 88.7, 1e-3),
              2.0);
    EXPECT_LE(worst(
                  p.exp, [](double x) { return std::exp(x); }, -103, -87, 1e-3),
              2.0);
    EXPECT_LE(worst(
                  p.tanh, [](double x) { return std::tanh(x); }, -10, 10, 1e-4),
              3.0);
    EXPECT_LE(worst(
                  p.tanh, [](double x) { return std::tanh(x); }, -1e-6, 1e-6, 1e-10),
              3.0);
    EXPECT_LE(worst(
                  p.erf, [](double x) { return std::erf(x); }, -5, 5, 1e-4),
              3.0);
    EXPECT_LE(worst(
                  p.erf, [](double x) { return std::erf(x); }, -1e-6, 1e-6, 1e-10),
              3.0);
    EXPECT_LE(worst(
                  p.sigmoid, [](double x) { return 1 / (1 + std::exp(-x)); }, -80, 80, 1e-3),
              3.0);
    EXPECT_LE(worst(
                  p.rough_sigmoid, [](double x) { return 1 / (1 + std::exp(-x)); }, -80, 80, 1e-3),
              0x1p-13 * 0x1p23);  // 2^-13 of the value, in units of at most 2^-23 of it
    EXPECT_LE(worst(
                  p.rough_rest, [](double x) { return 1 / (1 + std::exp(x)); }, -80, 80, 1e-3),
              0x1p-13 * 0x1p23);
  }
}

TEST(Simd, EndsOfTheRange) {
  const float inf = std::numeric_limits<float>::infinity(), nan = std::numeric_limits<float>::quiet_NaN();
  const float x[16] = {-inf, inf, nan, 0.0f, -0.0f, 1000.0f, -1000.0f, 89.0f, -110.0f};
  float y[16];
  for (const SimdProbe& p : probes()) {
    p.exp(x, y);
    EXPECT_EQ(y[0], 0);
    EXPECT_EQ(y[1], inf);
    EXPECT_TRUE(std::isnan(y[2]));
    EXPECT_EQ(y[3], 1);
    EXPECT_EQ(y[5], inf);
    EXPECT_EQ(y[6], 0);
    EXPECT_EQ(y[7], inf);
    EXPECT_EQ(y[8], 0);
    for (auto* f : {p.tanh, p.erf}) {
      f(x, y);
      EXPECT_EQ(y[0], -1);
      EXPECT_EQ(y[1], 1);
      EXPECT_TRUE(std::isnan(y[2]));
      EXPECT_TRUE(std::signbit(y[4]));
    }
    for (auto* f : {p.sigmoid, p.rough_sigmoid}) {
      f(x, y);
      EXPECT_EQ(y[0], 0);
      EXPECT_EQ(y[1], 1);
      EXPECT_TRUE(std::isnan(y[2]));
      EXPECT_EQ(y[5], 1);
      EXPECT_EQ(y[6], 0);
    }
  }
}

TEST(Simd, Bf16RoundsAsTheScalarFunction) {
  for (const SimdProbe& p : probes()) {
    const bool flushes = p.to_bf16 == simd_probe_avx512_bf16().to_bf16;  // denormals become zeros
    // Every upper half with lower halves at and around the tie.
    for (uint32_t upper = 0; upper < 0x10000; upper += 1) {
      float x[16], back[16];
      bf16 y[16];
      for (uint32_t i = 0; i < 16; ++i) {
        const uint32_t lower[] = {0, 1, 0x7fff, 0x8000, 0x8001, 0xffff, 0x4000, 0xc000};
        x[i] = std::bit_cast<float>(upper << 16 | lower[i % 8]);
      }
      p.to_bf16(x, y);
      p.from_bf16(y, back);
      for (int i = 0; i < 16; ++i) {
        const bool zero = flushes && std::fpclassify(x[i]) == FP_SUBNORMAL;
        ASSERT_EQ(y[i].bits, to_bf16(zero ? std::copysign(0.0f, x[i]) : x[i]).bits)
            << "of bits " << std::bit_cast<uint32_t>(x[i]);
        ASSERT_EQ(std::bit_cast<uint32_t>(back[i]), uint32_t{y[i].bits} << 16);
      }
    }
  }
}

TEST(Simd, TailsTouchNothingBehindThem) {
  for (const SimdProbe& p : probes()) {
    for (int64_t n = 0; n <= 16; ++n) {
      std::vector<float> x(static_cast<size_t>(n), 3.0f),
          y(17, -1.0f);  // a read behind x trips the sanitizer
      p.copy_first(x.data(), y.data(), n);
      for (int64_t i = 0; i < 17; ++i) EXPECT_EQ(y[static_cast<size_t>(i)], i < n ? 3.0f : -1.0f);
    }
  }
}

TEST(Simd, SumsHaveTheSameBitsOnEveryInstructionSet) {
  float x[16];
  for (int i = 0; i < 16; ++i) x[i] = std::ldexp(1.0f + static_cast<float>(i) * 0.37f, i % 5 * 4);
  float tree[16];
  std::memcpy(tree, x, sizeof x);
  for (int half = 8; half > 0; half /= 2)
    for (int i = 0; i < half; ++i) tree[i] += tree[i + half];
  for (const SimdProbe& p : probes()) {
    EXPECT_EQ(p.sum(x), tree[0]);
    EXPECT_EQ(p.max(x), *std::max_element(x, x + 16));
  }
}

}  // namespace
}  // namespace trireme
