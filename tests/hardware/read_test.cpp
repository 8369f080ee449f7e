// Hardware files are read to the bit, written back, and refused with place, key, value and cure.
#include "hardware/read.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "hardware/quantity.h"
#include "hardware_text.h"

namespace trireme::test {
namespace {

using testing::HasSubstr;

const std::string kCurves = R"([op.linear.bf16.threads-2]
from = "sheet"
points = ["512x256x256: 0.4 ms", "64x256x256: 51.25 us"]
[collective.all_reduce.ranks-2]
from = "sheet"
points = ["4096 B: 21.5 us", "64 KiB: 30 us"]
)";

TEST(ReadHardware, ReadsEveryNumber) {
  const Hardware h = parse_hardware(kMachine + kCurves, "box.toml");
  EXPECT_EQ(h.name, "box");
  EXPECT_EQ(h.kind, DeviceClass::cpu);
  EXPECT_EQ(h.collectives, CollectiveWay::direct);
  EXPECT_EQ(h.peak_of(PeakType::fp32), 198e9);
  EXPECT_EQ(h.peak_of(PeakType::bf16), 0);
  EXPECT_EQ(h.memory_bytes, int64_t{24} << 30);
  EXPECT_EQ(h.overhead_bytes, 200'000'000);
  EXPECT_EQ(h.kernels.launch_s, 2e-6);
  EXPECT_EQ(h.kernels.units, 1);
  EXPECT_EQ(h.kernels.unfused, 1);
  EXPECT_EQ(h.kernels.tile_fill, 0);
  EXPECT_EQ(h.devices_per_node, 2);
  EXPECT_EQ(h.inside.bytes_per_s, 8e9);
  EXPECT_EQ(h.between.bytes_per_s, 0);
  ASSERT_EQ(h.ops.size(), 1u);
  EXPECT_EQ(h.ops[0].threads, 2);
  const std::vector<std::pair<std::vector<int64_t>, double>> points = {{{64, 256, 256}, 51.25e-6},
                                                                       {{512, 256, 256}, 0.4e-3}};
  EXPECT_EQ(h.ops[0].points, points);
  ASSERT_EQ(h.comms.size(), 1u);
  EXPECT_EQ(h.comms[0].points[1], (std::pair<int64_t, double>{65536, 30e-6}));
  EXPECT_EQ(parse_hardware(changed("200 MB", "1.2 GiB"), "box.toml").overhead_bytes, 1288490189);
  EXPECT_EQ(h.source_of.front(), (std::pair<std::string, std::string>{"peak.fp32", "sheet"}));
}

TEST(ReadHardware, WritesWhatReadsBackToTheSame) {
  Hardware h = parse_hardware(kMachine + kCurves, "box.toml");
  h.ops[0].points[0].second = 0.1 + 0.2e-7;
  h.memory_bytes_per_s = 1e9 / 3;
  h.kernels.product = 1.0 / 3;
  const std::string text = to_toml(h);
  EXPECT_EQ(parse_hardware(text, "again.toml"), h) << text;
  EXPECT_THAT(text, HasSubstr("size = { is = \"24 GiB\", from = \"sheet\" }"));
  EXPECT_THAT(text, HasSubstr("\"4096 B: 21.5 us\","));
}

TEST(ReadHardware, QuantitiesKeepTheirBits) {
  EXPECT_EQ(parse_quantity(Measure::bytes_per_s, "400 Gb/s"), 50e9);
  EXPECT_EQ(parse_quantity(Measure::seconds, "3 us"), 3e-6);
  for (const char* bad : {"400", "400Gb/s", "Gb/s", "4 GB", "x Gb/s", "1e999 Gb/s", "nan GB/s", "4  GB/s"})
    EXPECT_FALSE(parse_quantity(Measure::bytes_per_s, bad)) << bad;
  for (const double value : {1e-7 / 3, 0.1, 3.5e-6, 989.4e12, 1.0 / 7})
    for (const Measure m : {Measure::flops_per_s, Measure::bytes, Measure::bytes_per_s, Measure::seconds})
      EXPECT_EQ(parse_quantity(m, quantity_text(m, value)), value) << quantity_text(m, value);
}

TEST(ReadHardware, RefusesNumbersWithoutUnitSourceOrSense) {
  EXPECT_EQ(error_of(changed("\"198 GFLOP/s\"", "198")),
            "box.toml:9: peak.fp32.is = 198 is not a number with one of the units FLOP/s, GFLOP/s, TFLOP/s, "
            "PFLOP/s; write it like \"989.4 TFLOP/s\"");
  EXPECT_THAT(
      error_of(changed("35 GB/s", "35 GiB/s")),
      HasSubstr("memory.bandwidth.is = \"35 GiB/s\" is not a number with one of the units B/s, MB/s,"));
  EXPECT_EQ(
      error_of(changed("{ is = \"198 GFLOP/s\", from = \"sheet\" }", "\"198 GFLOP/s\"")),
      "box.toml:9: peak.fp32 = \"198 GFLOP/s\" has no source; write peak.fp32 = { is = \"198 GFLOP/s\", "
      "from = \"KEY\" } with a [sources.KEY] of a title and a date");
  EXPECT_THAT(error_of(changed("\"198 GFLOP/s\", from = \"sheet\"", "\"198 GFLOP/s\"")),
              HasSubstr("peak.fp32 has no source; write peak.fp32 = {"));
  EXPECT_THAT(error_of(changed("is = \"198 GFLOP/s\", ", "")),
              HasSubstr("peak.fp32 has a source but no value; write"));
  EXPECT_EQ(error_of(changed("0.9", "1.1")),
            "box.toml:16: kernels.product.is = 1.1 is out of range; it is at least 0.0001 and at most 1");
  EXPECT_THAT(error_of(changed("0.9", "0")), HasSubstr("kernels.product.is = 0 is out of range"));
  // Times that such a machine takes would not be finite.
  EXPECT_THAT(error_of(changed("0.9", "1e-300")), HasSubstr("it is at least 0.0001 and at most 1"));
  EXPECT_THAT(error_of(changed("0.9", "\"a lot\"")), HasSubstr("is not a number; write it like 0.75"));
  EXPECT_THAT(error_of(changed("0.9", "nan")), HasSubstr("is out of range"));
  EXPECT_THAT(error_of(changed("[node]", "unfused = { is = 0.5, from = \"sheet\" }\n[node]")),
              HasSubstr("kernels.unfused.is = 0.5 is out of range; it is at least 1 and at most 100"));
  EXPECT_THAT(error_of(changed("is = 2,", "is = 2.5,")),
              HasSubstr("node.devices.is = 2.5 is not a whole number"));
  EXPECT_THAT(
      error_of(changed("200 MB", "30 GB")),
      HasSubstr("memory.overhead = 30 GB leaves nothing of memory.size = 24 GiB; overhead must be less"));
}

TEST(ReadHardware, RefusesUnknownAndMissingSources) {
  EXPECT_EQ(error_of(changed("date = \"2024-05\"\n", "")),
            "box.toml:6: sources.sheet.date is missing; write date = \"2023-03\"");
  EXPECT_THAT(error_of(changed("\"2024-05\"", "\"last May\"")),
              HasSubstr("sources.sheet.date = \"last May\" is not a date; write \"2023\","));
  EXPECT_THAT(error_of(changed("\"2024-05\"", "\"2024-13\"")), HasSubstr("is not a date"));
  EXPECT_THAT(error_of(changed("\"2024-05\"", "\"2023-02-31\"")), HasSubstr("is not a date"));
  EXPECT_THAT(error_of(changed("\"2024-05\"", "2024-05-01")), HasSubstr("put it in quotes"));
  EXPECT_THAT(error_of(changed("title = \"the sheet\"\n", "")), HasSubstr("sources.sheet.title is missing"));
  EXPECT_THAT(error_of(changed("from = \"sheet\"", "from = \"shet\"")),
              HasSubstr("peak.fp32.from = \"shet\" is not a source of this file; did you mean sheet?"));
  EXPECT_THAT(error_of(changed("from = \"sheet\"", "from = \"measurement\"")),
              HasSubstr("add [sources.measurement] with a title and a date"));
  EXPECT_THAT(error_of(changed("title = ", "url = \"x\"\ntitle = ")),
              HasSubstr("unknown key sources.sheet.url; a source has title and date"));
  EXPECT_THAT(error_of("sources = 3\n"), HasSubstr("unknown key sources"));
  EXPECT_THAT(error_of("sources.x = 3\n" + kMachine), HasSubstr("sources.x is a table; write [sources.KEY]"));
}

TEST(ReadHardware, RefusesUnknownAndMissingKeys) {
  EXPECT_EQ(error_of(changed("product", "produkt")),
            "box.toml:16: unknown key kernels.produkt; did you mean kernels.product?");
  EXPECT_THAT(error_of(changed("[node]", "[weather]")),
              HasSubstr("unknown key weather.devices; a hardware file has"));
  EXPECT_EQ(
      error_of(changed("[host]\nbandwidth = { is = \"8 GB/s\", from = \"sheet\" }\n", "")),
      "box.toml: host.bandwidth is missing; write host.bandwidth = { is = \"450 GB/s\", from = \"KEY\" }");
  EXPECT_THAT(error_of(changed("fp32", "bf16")), HasSubstr("peak.fp32 is missing"));
  EXPECT_THAT(error_of(changed("name = \"box\"\n", "")), HasSubstr("name is missing; write name = "));
  EXPECT_THAT(error_of(changed("\"cpu\"", "\"tpu\"")), HasSubstr("kind = \"tpu\" is not one of cpu, gpu"));
  EXPECT_THAT(error_of(changed("\"direct\"", "3")), HasSubstr("collectives = 3 is not a string"));
  EXPECT_THAT(error_of(changed("\"box\"", "\"\"")), HasSubstr("name = \"\" is not a text"));
  EXPECT_THAT(error_of("name = \n"), HasSubstr("not TOML"));
}

TEST(ReadHardware, RefusesBrokenCurves) {
  const auto curve = [](const std::string& text) { return error_of(kMachine + text); };
  EXPECT_THAT(
      curve("[op.linear.bf16]\nfrom = \"sheet\"\npoints = [\"1: 1 s\"]\n"),
      HasSubstr(
          "op.linear.bf16 is not an op, a dtype and threads; write it like [op.linear.bf16.threads-1]"));
  EXPECT_THAT(curve("[op.linear.b16.threads-1]\nfrom = \"sheet\"\npoints = [\"1: 1 s\"]\n"),
              HasSubstr("is not an op, a dtype"));
  EXPECT_THAT(curve("[op.linear.bf16.threads-1]\npoints = [\"1: 1 s\"]\n"),
              HasSubstr("has no source; write from"));
  EXPECT_THAT(curve("[op.linear.bf16.threads-1]\nfrom = \"sheet\"\n"), HasSubstr("has no points"));
  EXPECT_THAT(curve("[op.linear.bf16.threads-1]\nfrom = \"x\"\npoints = [\"1: 1 s\"]\n"),
              HasSubstr("is not a source of this file"));
  for (const char* point : {"\"1: 1\"", "\"1x: 1 s\"", "\"0: 1 s\"", "\"1: -1 s\"", "3", "\"\""})
    EXPECT_THAT(
        curve(std::string("[op.linear.bf16.threads-1]\nfrom = \"sheet\"\npoints = [") + point + "]\n"),
        HasSubstr("is not a size and a time; write it like \"512x256x256: 394 us\""));
  EXPECT_THAT(curve("[op.linear.bf16.threads-1]\nfrom = \"sheet\"\npoints = [\"1x2: 1 s\", \"1: 1 s\"]\n"),
              HasSubstr("is not a size and a time"));
  EXPECT_THAT(curve("[op.linear.bf16.threads-1]\nfrom = \"sheet\"\npoints = [\"1: 1 s\", \"1: 2 s\"]\n"),
              HasSubstr("has a size twice, at 1 s and 2 s; keep one"));
  EXPECT_THAT(curve("[op.linear.bf16.threads-1]\nfrom = \"sheet\"\npoints = 3\n"),
              HasSubstr("is not a list of points"));
  EXPECT_THAT(curve("[op.linear.bf16.threads-1]\nunit = \"s\"\n"), HasSubstr("a curve has points and from"));
  EXPECT_THAT(curve("[collective.all_redouce.ranks-2]\nfrom = \"sheet\"\npoints = [\"1 B: 1 s\"]\n"),
              HasSubstr("unknown collective all_redouce; did you mean all_reduce?"));
  EXPECT_THAT(curve("[collective.all_reduce.ranks-1]\nfrom = \"sheet\"\npoints = [\"1 B: 1 s\"]\n"),
              HasSubstr("is not a collective and 2 or more ranks"));
  EXPECT_THAT(curve("[collective.all_reduce.ranks-2]\nfrom = \"sheet\"\npoints = [\"1.5 B: 1 s\"]\n"),
              HasSubstr("is not a size and a time; write it like \"4096 B: 21.5 us\""));
}

}  // namespace
}  // namespace trireme::test
