// Published training speeds beside what the simulator predicts, as the tables of docs/published.md.
//   bench_published                  every table
//   bench_published --config NAME    a row's config, by table and name as the tables have them: "megatron
//   70B"
#include <fmt/format.h>

#include <cstdio>
#include <cstring>

#include "base/error.h"
#include "rows.h"

namespace trireme {
namespace {

std::string use_text(const PublishedRow& row) {
  if (row.use == RowUse::fitted) return "fitted: " + row.fits;
  return row.use == RowUse::held_out ? "held out" : "";
}

void print_tables() {
  const std::vector<PublishedRow> rows = published_rows();
  std::vector<PublishedSpeed> speeds;
  for (const PublishedRow& row : rows) speeds.push_back(predict(row));
  for (const PublishedTable& table : published_tables()) {
    fmt::print("## {}\n\nSource: {}.\n\n{}.\n\n", table.title, table.source, table.assumed);
    fmt::print(
        "| row | devices | hardware | published | predicted | error | |\n|---|---|---|---|---|---|---|\n");
    for (size_t i = 0; i < rows.size(); ++i)
      if (rows[i].table == table.key)
        fmt::print("| {} | {} | `{}` | {} | {:.{}f} | {:+.1f} % | {} |\n", rows[i].name, speeds[i].ranks,
                   rows[i].hardware, rows[i].published, speeds[i].predicted,
                   rows[i].speed == Speed::tokens ? 0 : 1, 100 * speeds[i].error(rows[i]), use_text(rows[i]));
    fmt::print("\n");
  }
  const HeldOutErrors errors = held_out_errors(rows, speeds);
  fmt::print("Of the rows that are held out, the median error is {:.1f} %, the worst {:.1f} %.\n",
             100 * errors.median, 100 * errors.worst);
}

int print_config(const std::string& name) {
  for (const PublishedRow& row : published_rows())
    if (row.table + " " + row.name == name) {
      fmt::print("{}", config_of(row, row.again));
      return 0;
    }
  fmt::print(stderr, "no row {}; write table and name, like \"megatron 70B\"\n", name);
  return 2;
}

}  // namespace
}  // namespace trireme

int main(int argc, char** argv) {
  if (argc == 3 && std::strcmp(argv[1], "--config") == 0) return trireme::print_config(argv[2]);
  trireme::print_tables();
  return 0;
}
