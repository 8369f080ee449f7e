// Measures the machine at hand: its kernels, copies and collectives, as a Hardware that the simulator takes.
// Everything that runs on the cores meanwhile is measured along.
#pragma once
#include <functional>
#include <string>

#include "calibrate/op_list.h"
#include "hardware/hardware.h"

namespace trireme {

struct CalibrateOptions {
  std::string name = "this-machine";
  std::string date;  // "2026-11-30"
  int threads = 1;   // cores to measure
  Extent extent = Extent::full;
  double per_op_s = 0.004;  // what is spent on a size of an op in a pass, roughly
  int passes = 3;           // over everything; of each size the fastest counts
  // What is being measured, and how far it is.
  std::function<void(const std::string& what, double part)> progress;
};

// Of ops with one rank on all cores, and with one per core. EnvError when memory is short.
Hardware calibrate(const CalibrateOptions& options);

// "Intel(R) Xeon(R) Processor": by /proc/cpuinfo; "cpu" where it does not say.
std::string cpu_name();

}  // namespace trireme
