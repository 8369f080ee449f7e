// The simulator against published training speeds: docs/published.md's claim on the rows that no constant was
// fitted to, and the page's numbers.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <sstream>

#include "rows.h"

namespace trireme {
namespace {

// Of the tables that the claim is about.
struct Claimed {
  std::vector<PublishedRow> rows;
  std::vector<PublishedSpeed> speeds;
};

Claimed claimed() {
  Claimed c;
  for (const PublishedRow& row : published_rows())
    if (row.table == "megatron" || row.table == "torchtitan") {
      c.rows.push_back(row);
      c.speeds.push_back(predict(row));
    }
  return c;
}

TEST(Published, RowsThatWereHeldOutAreNear) {
  const Claimed c = claimed();
  const auto held_out = std::ranges::count(c.rows, RowUse::held_out, &PublishedRow::use);
  EXPECT_GE(2 * held_out, static_cast<int64_t>(c.rows.size()));
  const HeldOutErrors errors = held_out_errors(c.rows, c.speeds);
  EXPECT_LE(errors.median, 0.10);
  EXPECT_LE(errors.worst, 0.20);
}

TEST(Published, RowsFitTheirMachines) {
  const Claimed c = claimed();
  const int64_t kMegatronBytes = int64_t{76} << 30;
  for (size_t i = 0; i < c.rows.size(); ++i) {
    if (c.rows[i].table != "megatron") continue;
    EXPECT_LT(c.speeds[i].arena_bytes, kMegatronBytes) << c.rows[i].name;
  }
}

// "| 70B | 768 | `h100-sxm` | 419.7 | 435.8 |": what stands in the fifth field of the row's line.
double predicted_on(const std::string& page, const PublishedRow& row, int64_t ranks) {
  const std::string begin =
      fmt::format("| {} | {} | `{}` | {} | ", row.name, ranks, row.hardware, row.published);
  const size_t at = page.find(begin);
  return at == std::string::npos ? 0 : std::strtod(page.c_str() + at + begin.size(), nullptr);
}

TEST(Published, ThePageHasWhatTheModelSays) {
  std::ifstream file(TRIREME_SOURCE_DIR "/docs/published.md");
  std::ostringstream page;
  page << file.rdbuf();
  const Claimed c = claimed();
  for (size_t i = 0; i < c.rows.size(); ++i)
    EXPECT_NEAR(predicted_on(page.str(), c.rows[i], c.speeds[i].ranks), c.speeds[i].predicted,
                0.01 * c.speeds[i].predicted)
        << c.rows[i].name << ": run bench_published and put its tables into docs/published.md";
}

}  // namespace
}  // namespace trireme
