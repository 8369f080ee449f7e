// The cpu and null devices: arena, kernel cache, running an op.
#include "device/device.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <vector>

#include "base/error.h"
#include "device/cpu/cpu_device.h"
#include "device/null/null_device.h"

namespace trireme {
namespace {

OpSig add_of(int64_t n) {
  const TensorType type{DType::f32, {n}};
  return {"add", {}, {type, type}, {type}};
}

TEST(CpuDevice, ArenaIsAlignedAndZero) {
  for (const int64_t bytes : {int64_t{1}, int64_t{4096}, (int64_t{2} << 20) + 1}) {
    const auto device = make_cpu_device({.threads = 2});
    const std::byte* arena = device->allocate_arena(bytes);
    EXPECT_EQ(reinterpret_cast<uintptr_t>(arena) % (size_t{2} << 20), 0u);
    EXPECT_TRUE(std::all_of(arena, arena + bytes, [](std::byte b) { return b == std::byte{0}; }));
  }
}

TEST(CpuDevice, AnArenaThatDoesNotFitIsRefusedWithItsSize) {
  const auto device = make_cpu_device({.threads = 1});
  try {
    device->allocate_arena(int64_t{1} << 50);
    FAIL() << "a petabyte was given";
  } catch (const EnvError& error) {
    EXPECT_NE(std::string(error.what()).find("1125899.91 GB"), std::string::npos) << error.what();
  }
}

TEST(CpuDevice, EqualSignaturesShareAKernel) {
  const auto device = make_cpu_device({.threads = 1});
  const KernelId first = device->prepare(add_of(8)), second = device->prepare(add_of(9));
  EXPECT_NE(first, second);
  EXPECT_EQ(device->prepare(add_of(8)), first);
}

TEST(CpuDevice, RunsAKernelOverItsArena) {
  const auto device = make_cpu_device({.threads = 2});
  std::byte* arena = device->allocate_arena(3 * 64);
  const std::vector<float> a = {1, 2, 3}, b = {10, 20, 30};
  device->write(arena, a.data(), 12);
  device->write(arena + 64, b.data(), 12);
  const std::vector<void*> inputs = {arena, arena + 64}, outputs = {arena + 128};
  device->run(device->prepare(add_of(3)), {inputs, outputs});
  device->synchronize();
  std::vector<float> y(3);
  device->read(y.data(), arena + 128, 12);
  EXPECT_EQ(y, (std::vector<float>{11, 22, 33}));
}

TEST(NullDevice, HasAddressesButNoMemory) {
  const auto device = make_null_device();
  EXPECT_EQ(device->name(), "null");
  std::byte* arena = device->allocate_arena(int64_t{1} << 40);  // more than the machine has
  EXPECT_NE(arena, nullptr);
  const std::vector<void*> inputs = {arena, arena}, outputs = {arena};
  device->run(device->prepare(add_of(3)), {inputs, outputs});
  float y = 5;
  device->read(&y, arena, sizeof y);
  EXPECT_EQ(y, 0);
}

}  // namespace
}  // namespace trireme
