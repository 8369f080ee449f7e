// Training speeds that others have published, each as a config and a machine of hardware/, for
// bench_published and the test that holds the simulator to them.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "config/run_spec.h"

namespace trireme {

// What a source counts.
enum class Speed : uint8_t {
  model_tflops,  // model FLOPs a device, src/model/flops.h: 6 N + 12 L C T, attention over the whole square
  tokens,        // tokens/s a device
  executed_tflops,  // 96 L C^2 (1 + T/6C + V/16LC) per token: recomputation counted (Narayanan et al. 2021)
};

// What backward computes again. every_other: each second product besides what is cheap (torchtitan's
// selective checkpointing by op); its step is taken as the mean of the steps with `selective` and with
// `full`.
enum class Again : uint8_t { none, every_other, full };

enum class RowUse : uint8_t {
  fitted,    // constants of a hardware file come from it
  held_out,  // of the tables that the error is stated for
  further,   // other sources, for how far the model reaches
};

struct PublishedRow {
  std::string table, name;
  std::string hardware;
  std::vector<std::string> assumptions = {};  // of the software: as parse_hardware takes them
  std::string config;                         // but for parallel.recompute
  Again again = Again::none;
  Speed speed = Speed::model_tflops;
  double published = 0;
  RowUse use = RowUse::held_out;
  std::string fits;  // the constants, of a fitted row
};

struct PublishedTable {
  std::string key, title, source;
  std::string assumed;  // what the source does not say
};

// The whole config, parallel.recompute as `again` says; every_other is `selective` there.
std::string config_of(const PublishedRow& row, Again again);

std::vector<PublishedTable> published_tables();
std::vector<PublishedRow> published_rows();  // table by table

struct PublishedSpeed {
  double predicted = 0;  // as the row counts
  double step_s = 0;
  int64_t ranks = 0;
  int64_t arena_bytes = 0;  // of the fullest rank
  double error(const PublishedRow& row) const { return predicted / row.published - 1; }
};
PublishedSpeed predict(const PublishedRow& row);

// Of the absolute errors of the rows that are held out.
struct HeldOutErrors {
  double median = 0, worst = 0;
};
HeldOutErrors held_out_errors(const std::vector<PublishedRow>& rows,
                              const std::vector<PublishedSpeed>& speeds);

}  // namespace trireme
