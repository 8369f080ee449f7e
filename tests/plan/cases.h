// A small model and a small machine, so that every layout of the one on the other is compiled within seconds.
#pragma once
#include <fmt/format.h>

#include <string>
#include <vector>

#include "config/run_spec.h"
#include "hardware/hardware.h"
#include "sim/machine.h"

namespace trireme::test {

inline RunSpec small_run(const std::vector<std::string>& overrides = {}) {
  return parse_config(
      "[model]\nfamily = \"llama\"\nlayers = 6\nwidth = 128\nheads = 4\nkv_heads = 4\nvocab = 512\ncontext = "
      "128\n[data]\ntrain = [\"unused.bin\"]\nseq_len = 128\n[batch]\nsequences = 32\nmicro = 1\n"
      "[optimizer]\nlr = 1e-3\n[run]\nname = \"small\"\nsteps = 100\n",
      "small", overrides);
}

// Four devices to a node, slow enough that work and talk are of a size with what small_run asks.
inline Hardware small_machine(int64_t memory_bytes) {
  Hardware h = round_hardware();
  h.name = "small";
  h.devices_per_node = 4;
  h.peak[static_cast<size_t>(PeakType::bf16)] = 1e12;
  h.memory_bytes = memory_bytes;
  h.inside.latency_s = 1e-6;
  h.between.latency_s = 5e-6;
  return h;
}

inline constexpr int64_t kMegabyte = 1'000'000;

// Room in which whole state does not fit one device.
inline Hardware tight_machine() { return small_machine(18 * kMegabyte); }

}  // namespace trireme::test
