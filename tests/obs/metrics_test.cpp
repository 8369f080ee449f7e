// Exact numbers, valid JSON, and each step once after any resume.
#include "obs/metrics.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>

#include "base/error.h"
#include "base/random.h"
#include "scratch_folder.h"

namespace trireme {
namespace {
using test::ScratchFolder;
using test::slurp;
using test::spill;

TEST(Metrics, LinesAreJsonThatReadsBack) {
  const std::vector<Metric> metrics{{"loss", 5.549f},
                                    {"lr", 1e-3},
                                    {"tokens", int64_t{1} << 53},
                                    {"skipped", true},
                                    {"run", "a\"\n"},
                                    {"nan", std::nan("")},
                                    {"inf", -INFINITY},
                                    {"zero", -0.0},
                                    {"tiny", 5e-324},
                                    {"huge", std::numeric_limits<double>::max()}};
  const std::string line = metrics_line(7, metrics);
  EXPECT_EQ(line.find('\n'), std::string::npos);
  EXPECT_TRUE(
      line.starts_with(R"({"step":7,"loss":5.549,"lr":0.001,"tokens":9007199254740992,"skipped":true,)"));
  const auto json = nlohmann::json::parse(line);
  EXPECT_EQ(json["run"], "a\"\n");
  EXPECT_EQ(json["nan"], "nan");
  EXPECT_EQ(json["inf"], "-inf");
  EXPECT_TRUE(std::signbit(json["zero"].get<double>()));
  EXPECT_EQ(json["tiny"].get<double>(), 5e-324);
  EXPECT_EQ(json["huge"].get<double>(), std::numeric_limits<double>::max());
}

TEST(Metrics, EveryBitOfANumberSurvives) {
  const RandomStream random(3, "metrics");
  for (uint64_t i = 0; i < 20000; ++i) {
    const auto wide = std::bit_cast<double>(random.bits(i));
    const auto narrow = std::bit_cast<float>(static_cast<uint32_t>(random.bits(i)));
    if (!std::isfinite(wide) || !std::isfinite(narrow)) continue;
    const auto json = nlohmann::json::parse(metrics_line(1, std::vector<Metric>{{"w", wide}, {"n", narrow}}));
    ASSERT_EQ(std::bit_cast<uint64_t>(json["w"].get<double>()), random.bits(i));
    // Read as a double and rounded, as a reader that knows no floats does.
    ASSERT_EQ(std::bit_cast<uint32_t>(static_cast<float>(json["n"].get<double>())),
              std::bit_cast<uint32_t>(narrow));
  }
}

void write_steps(const std::string& path, int64_t resumed, int64_t last, double loss) {
  MetricsWriter writer(path, resumed);
  for (int64_t step = resumed + 1; step <= last; ++step)
    writer.write(step, std::vector<Metric>{{"loss", loss}});
  writer.sync();
}

TEST(Metrics, ResumeSupersedesLaterLines) {
  const ScratchFolder folder;
  const std::string path = folder / "runs/a/metrics.jsonl";
  write_steps(path, 0, 12, 1);
  write_steps(path, 10, 11, 2);
  std::string expected;
  for (int step = 1; step <= 10; ++step) expected += "{\"step\":" + std::to_string(step) + ",\"loss\":1}\n";
  EXPECT_EQ(slurp(path), expected + "{\"step\":11,\"loss\":2}\n");
  EXPECT_EQ(MetricsWriter(path, 11).superseded(), 0);
  EXPECT_EQ(MetricsWriter(path, 0).superseded(), 11);
  EXPECT_EQ(slurp(path), "");
}

TEST(Metrics, TornDoubledAndForeignLinesGo) {
  const ScratchFolder folder;
  const std::string path = folder / "metrics.jsonl";
  const std::string good = "{\"step\":1,\"loss\":1}\n{\"step\":3}\n";
  const std::string torn = "{\"step\":4,\"loss\":2}";
  for (size_t cut = 0; cut <= torn.size(); ++cut) {
    spill(path, good + torn.substr(0, cut));
    EXPECT_EQ(MetricsWriter(path, 100).superseded(), cut == 0 ? 0 : 1);
    EXPECT_EQ(slurp(path), good);
  }
  spill(path, "{\"step\":1,\"loss\":1}\n{\"step\":1}\n\n[5]\n{\"loss\":1}\n{\"step\":\"2\"}\n" +
                  std::string(20, '\0') + "\n{\"step\":3}\n");
  EXPECT_EQ(MetricsWriter(path, 100).superseded(), 6);
  EXPECT_EQ(slurp(path), good);
}

TEST(Metrics, LinesAreInTheFileAtOnce) {
  const ScratchFolder folder;
  MetricsWriter writer(folder / "metrics.jsonl", 0);
  writer.write(1, {});
  EXPECT_EQ(slurp(folder / "metrics.jsonl"), "{\"step\":1}\n");
}

TEST(Metrics, AFullDiskIsSaid) {
  MetricsWriter writer("/dev/full", 0);
  try {
    writer.write(1, {});
    FAIL();
  } catch (const EnvError& error) {
    EXPECT_STREQ(error.what(), "cannot write /dev/full: No space left on device");
  }
}

}  // namespace
}  // namespace trireme
