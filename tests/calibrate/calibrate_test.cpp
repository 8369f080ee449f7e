// A calibration of two cores, every op once: its file reads back, and it prices a step.
#include "calibrate/calibrate.h"

#include <gtest/gtest.h>

#include <string>

#include "calibrate/op_curves.h"
#include "hardware/read.h"
#include "sim/simulate.h"

namespace trireme {
namespace {

TEST(Calibrate, WritesAFileThatPricesASimulatedStep) {
  CalibrateOptions options{.name = "two-cores", .date = "2026-11-30", .threads = 2, .extent = Extent::quick};
  options.per_op_s = 0;
  options.passes = 1;
  const Hardware hardware = calibrate(options);
  EXPECT_EQ(to_toml(parse_hardware(to_toml(hardware), "two-cores.toml")), to_toml(hardware));
  EXPECT_EQ(hardware.kind, DeviceClass::cpu);
  EXPECT_EQ(hardware.devices_per_node, 2);
  EXPECT_EQ(hardware.sources[1].title, "measured by trireme calibrate on 2026-11-30 on " + hardware.device);
  EXPECT_FALSE(hardware.ops.empty());
  for (const OpCurve& curve : hardware.ops) {
    EXPECT_TRUE(curve.threads == 1 || curve.threads == 2) << curve.op;
    for (const auto& [size, seconds] : curve.points) {
      EXPECT_GT(seconds, 0) << curve.op;
      EXPECT_LT(seconds, 30) << curve.op;
    }
  }
  EXPECT_EQ(hardware.comms.size(), 5u);

  const RunSpec spec = load_config(std::string(TRIREME_SOURCE_DIR) + "/configs/tiny.toml");
  const Cluster cluster = cluster_of(hardware, 1, 1);
  const auto programs = pipeline_programs(spec, compile_options(spec, cluster));
  const double step_s = simulate_step({.programs = programs, .cluster = cluster}).step_s;
  EXPECT_GT(step_s, 1e-4);
  EXPECT_LT(step_s, 60);
}

TEST(Calibrate, RefusesAnEarlierOneOfAnotherMachine) {
  CalibrateOptions options{.threads = 2};
  options.earlier = Hardware{.name = "other", .device = "abacus", .devices_per_node = 2};
  try {
    calibrate(options);
    FAIL();
  } catch (const UserError& error) {
    EXPECT_NE(std::string(error.what()).find("other is of 2 cores of abacus, this is 2 of "),
              std::string::npos)
        << error.what();
  }
}

TEST(Calibrate, MeasuredAgainTheFasterCounts) {
  std::vector<OpCurve> curves = {{"add", "f32", 1, {{{10}, 1.0}, {{20}, 2.0}}}};
  keep_fastest(curves, {{"add", "f32", 1, {{{10}, 0.5}, {{20}, 3.0}}}, {"add", "f32", 2, {{{10}, 0.1}}}});
  ASSERT_EQ(curves.size(), 2u);
  EXPECT_DOUBLE_EQ(curves[0].points[0].second, 0.5);
  EXPECT_DOUBLE_EQ(curves[0].points[1].second, 2.0);
  EXPECT_EQ(curves[1].threads, 2);
}

}  // namespace
}  // namespace trireme
