// Throughput of a step of one second.
#include "sim/rates.h"

#include <gtest/gtest.h>

#include "model/flops.h"
#include "sim/small_run.h"

namespace trireme {
namespace {

TEST(StepRates, OfAllDevicesPeak) {
  const RunSpec spec = small_run("dp_shard = 4");
  const Hardware hardware = round_hardware();
  Cluster cluster = cluster_on(hardware, 4, 1);
  EXPECT_EQ(peak_flops_of(spec, cluster), 4e12);
  const StepRates rates = rates_of(spec, cluster, 0.5);
  EXPECT_EQ(rates.tokens_per_s, 4 * 128 / 0.5);
  const Model model = build_model(spec.model, {.batch = 1, .seq_len = 128});
  EXPECT_DOUBLE_EQ(rates.mfu, flops_per_token(spec.model, model, 128) * rates.tokens_per_s / 4e12);
  cluster.share.threads = 3;  // cores of a rank
  EXPECT_EQ(peak_flops_of(spec, cluster), 12e12);
  cluster.share.threads = 1;
  cluster.share.slowdown = 2;  // two ranks on a core
  EXPECT_EQ(peak_flops_of(spec, cluster), 2e12);
}

TEST(StepRates, WithoutAPeakThereIsNoMfu) {
  const RunSpec spec = small_run("");
  Hardware hardware = round_hardware();
  hardware.peak = {};
  EXPECT_EQ(rates_of(spec, cluster_on(hardware, 1, 1), 1).mfu, 0);
}

}  // namespace
}  // namespace trireme
