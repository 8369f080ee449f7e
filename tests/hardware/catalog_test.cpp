// The machines that are built in are whole, sourced and read back; others are found by path.
#include "hardware/catalog.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <set>

#include "hardware/quantity.h"
#include "hardware_text.h"

namespace trireme::test {
namespace {

using testing::EndsWith;
using testing::HasSubstr;
using testing::StartsWith;

TEST(Catalog, EveryFileIsBuiltInAndReadsBack) {
  std::set<std::string> names;
  for (const BuiltInHardware& known : built_in_hardware()) {
    const Hardware h = load_hardware(std::string(known.name));
    EXPECT_EQ(h.name, known.name);
    EXPECT_EQ(parse_hardware(to_toml(h), "again"), h);
    names.insert(h.name);
    for (const NumberSource& source : h.sources)
      EXPECT_TRUE(std::any_of(h.source_of.begin(), h.source_of.end(),
                              [&](const auto& entry) { return entry.second == source.key; }))
          << h.name << ": no number is from " << source.key;
  }
  std::set<std::string> files;
  for (const auto& entry : std::filesystem::directory_iterator(TRIREME_SOURCE_DIR "/hardware"))
    files.insert(entry.path().stem());
  EXPECT_EQ(names, files);
}

// docs/hardware.md's line of a machine.
std::string table_line(const Hardware& h) {
  const auto rate = [](double bytes_per_s) { return quantity_text(Measure::bytes_per_s, bytes_per_s); };
  const std::string bf16 = fmt::format("{:g} TFLOP/s", h.peak_of(PeakType::bf16) / 1e12);
  return fmt::format("| `{}` | {} | {} | {} | {} | {} | {} | {} |\n", h.name, h.device, bf16,
                     quantity_text(Measure::bytes, static_cast<double>(h.memory_bytes)),
                     rate(h.memory_bytes_per_s), h.devices_per_node, rate(h.inside.bytes_per_s),
                     rate(h.between.bytes_per_s));
}

TEST(Catalog, ThePageHasEveryMachineAsItsFileDoes) {
  std::ifstream file(TRIREME_SOURCE_DIR "/docs/hardware.md");
  const std::string page((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
  std::string table;
  for (const BuiltInHardware& known : built_in_hardware())
    table += table_line(load_hardware(std::string(known.name)));
  EXPECT_THAT(page, HasSubstr(table)) << table;
}

TEST(Catalog, APathIsRead) {
  const std::string path = testing::TempDir() + "box.toml";
  std::ofstream(path) << kMachine;
  EXPECT_EQ(load_hardware(path).name, "box");
  std::ofstream(path) << changed("0.9", "9");
  try {
    load_hardware(path);
    FAIL();
  } catch (const UserError& error) {
    EXPECT_THAT(error.what(), HasSubstr(path + ":16: kernels.product.is = 9 is out of range"));
  }
}

TEST(Catalog, RefusesWhatItDoesNotKnow) {
  const auto error_for = [](const std::string& name) -> std::string {
    try {
      load_hardware(name);
    } catch (const UserError& error) {
      return error.what();
    }
    return "no error";
  };
  EXPECT_EQ(
      error_for("h100-sxn"),
      "unknown hardware h100-sxn: neither a file nor a machine that Trireme knows; did you mean h100-sxm?");
  EXPECT_THAT(error_for("quantum-annealer-9000"), HasSubstr("those are "));
  EXPECT_THAT(error_for("h100"),
              EndsWith("did you mean h100-500w-eager or h100-500w or h100-pcie or h100-sxm?"));
  EXPECT_THAT(error_for("H100-SXM"), EndsWith("did you mean h100-sxm?"));
  EXPECT_THAT(error_for("nowhere/h100-sxm.toml"), EndsWith("did you mean h100-sxm?"));
  EXPECT_THAT(error_for(""), StartsWith("unknown hardware \"\": "));
  EXPECT_THAT(error_for(testing::TempDir()), HasSubstr("is a folder, not a file"));
  const std::string empty = testing::TempDir() + "empty.toml";
  std::ofstream(empty).close();
  EXPECT_THAT(error_for(empty), HasSubstr("name is missing"));
  EXPECT_THAT(error_for("/dev/zero"), HasSubstr("has more than"));  // does not read on for ever
}

}  // namespace
}  // namespace trireme::test
