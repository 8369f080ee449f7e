// The numbers of a hardware file, in one list that drives reading and writing.
#pragma once
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "hardware/hardware.h"
#include "hardware/quantity.h"

namespace trireme {

struct NumberField {
  std::string_view key;            // "memory.size"
  std::optional<Measure> measure;  // none: a plain number
  double min = 0, max = 1;
  bool required = true;
  std::string_view example;  // as the file writes it
};

// Least values: slower than any machine, and such that sums of times stay finite.
constexpr double kLeastFlops_per_s = 1e3, kLeastBytes_per_s = 1e3, kLeastFraction = 1e-4, kLeastMemory = 1e3;

inline NumberField rate_field(std::string_view key) {
  return {key, Measure::flops_per_s, kLeastFlops_per_s, 1e21, false, "\"989.4 TFLOP/s\""};
}
inline NumberField bandwidth_field(std::string_view key) {
  return {key, Measure::bytes_per_s, kLeastBytes_per_s, 1e18, true, "\"450 GB/s\""};
}
inline NumberField fraction_field(std::string_view key) {
  return {key, std::nullopt, kLeastFraction, 1, true, "0.75"};
}
inline NumberField time_field(std::string_view key) {
  return {key, Measure::seconds, 0, 1, true, "\"3 us\""};
}
inline NumberField count_field(std::string_view key, std::string_view example) {
  return {key, std::nullopt, 1, 1 << 20, true, example};
}
inline NumberField bytes_field(std::string_view key) {
  return {key, Measure::bytes, 0, 1e18, true, "\"80 GB\""};
}
inline NumberField optional_field(NumberField field) {
  field.required = false;
  return field;
}

// visit(field, number): every number, in the order in which files have them. H: Hardware or const Hardware.
template <class H, class Visit>
void visit_numbers(H& h, Visit&& visit) {
  constexpr std::string_view kPeakKeys[] = {"peak.fp32", "peak.tf32", "peak.bf16",
                                            "peak.fp16", "peak.fp8",  "peak.fp4"};
  for (size_t i = 0; i < kPeakTypes; ++i) visit(rate_field(kPeakKeys[i]), h.peak[i]);
  NumberField size = bytes_field("memory.size");
  size.min = kLeastMemory;
  visit(size, h.memory_bytes);
  visit(bandwidth_field("memory.bandwidth"), h.memory_bytes_per_s);
  visit(bytes_field("memory.overhead"), h.overhead_bytes);
  visit(time_field("kernels.launch"), h.kernels.launch_s);
  visit(fraction_field("kernels.product"), h.kernels.product);
  visit(fraction_field("kernels.attention"), h.kernels.attention);
  visit(fraction_field("kernels.attention_grad"), h.kernels.attention_grad);
  visit(fraction_field("kernels.memory"), h.kernels.memory);
  visit(optional_field(count_field("kernels.units", "132")), h.kernels.units);
  visit(optional_field(count_field("kernels.tile_rows", "128")), h.kernels.tile_rows);
  visit(optional_field(count_field("kernels.tile_columns", "256")), h.kernels.tile_columns);
  NumberField fill = count_field("kernels.tile_fill", "192");
  fill.min = 0;
  visit(optional_field(fill), h.kernels.tile_fill);
  visit(NumberField{"kernels.unfused", std::nullopt, 1, 100, false, "2.5"}, h.kernels.unfused);
  NumberField share = fraction_field("kernels.communication");
  share.min = 0;
  visit(optional_field(share), h.kernels.communication);
  visit(count_field("node.devices", "8"), h.devices_per_node);
  visit(bandwidth_field("inside.bandwidth"), h.inside.bytes_per_s);
  visit(fraction_field("inside.efficiency"), h.inside.efficiency);
  visit(time_field("inside.latency"), h.inside.latency_s);
  visit(optional_field(bandwidth_field("between.bandwidth")), h.between.bytes_per_s);
  visit(optional_field(fraction_field("between.efficiency")), h.between.efficiency);
  visit(optional_field(time_field("between.latency")), h.between.latency_s);
  visit(bandwidth_field("host.bandwidth"), h.host_bytes_per_s);
  visit(bandwidth_field("store.bandwidth"), h.store_bytes_per_s);
}

std::vector<std::string> number_keys();  // in that order

}  // namespace trireme
