// Questions to the operating system and the devices of this build.
#include "train/machine.h"

#include <sched.h>
#include <sys/sysinfo.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <sstream>
#include <string>

#include "base/error.h"
#include "device/cpu/cpu_device.h"
#include "device/cpu/peak.h"
#include "device/null/null_device.h"

namespace trireme {

int thread_count(const RunSpec& spec) {
  if (spec.run.threads) return static_cast<int>(*spec.run.threads);
  cpu_set_t allowed;
  if (sched_getaffinity(0, sizeof allowed, &allowed) != 0) return 1;
  return CPU_COUNT(&allowed);
}

void keep_to_share_of_cores(const CoreShare& share) {
  cpu_set_t allowed, mine;
  if (sched_getaffinity(0, sizeof allowed, &allowed) != 0) return;
  if (CPU_COUNT(&allowed) != share.threads || share.threads % share.ranks != 0) return;
  const int count = share.threads / share.ranks;
  CPU_ZERO(&mine);
  for (int cpu = 0, place = 0; cpu < CPU_SETSIZE; ++cpu) {
    if (!CPU_ISSET(cpu, &allowed)) continue;
    if (place / count == share.rank) CPU_SET(cpu, &mine);
    ++place;
  }
  (void)sched_setaffinity(0, sizeof mine, &mine);  // a wish
}

std::unique_ptr<Device> open_device(const RunSpec& spec, int threads) {
  switch (spec.run.device) {
    case DeviceKind::null:
      return make_null_device();
    default:
      return make_cpu_device({.threads = threads});
  }
}

Peak peak_flops(const RunSpec& spec, int threads) {
  if (spec.run.peak_flops) return {*spec.run.peak_flops, false};
  if (spec.run.device == DeviceKind::null) return {};
  return {measure_product_rate(spec.precision.compute == Compute::bf16 ? DType::bf16 : DType::f32, threads),
          true};
}

int64_t machine_bytes() {
  struct sysinfo info {};
  return sysinfo(&info) == 0 ? static_cast<int64_t>(info.totalram) * static_cast<int64_t>(info.mem_unit) : 0;
}

int64_t resident_bytes() {
  std::FILE* file = std::fopen("/proc/self/statm", "r");
  if (file == nullptr) return 0;
  long long pages = 0, resident = 0;
  const int fields = std::fscanf(file, "%lld %lld", &pages, &resident);
  std::fclose(file);
  return fields == 2 ? resident * sysconf(_SC_PAGESIZE) : 0;
}

double process_age_s() {
  std::ifstream file("/proc/self/stat");
  std::string text((std::istreambuf_iterator<char>(file)), {});
  // The name, in brackets, may have anything in it; the start is the 20th number behind it, in ticks since
  // the machine began.
  std::istringstream numbers(text.substr(std::min(text.size(), text.rfind(')') + 1)));
  std::string field;
  for (int i = 0; i < 20; ++i) numbers >> field;
  timespec now{};
  clock_gettime(CLOCK_BOOTTIME, &now);
  const double now_s = static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
  const double began_s = std::strtod(field.c_str(), nullptr) / static_cast<double>(sysconf(_SC_CLK_TCK));
  return std::max(0.0, now_s - began_s);
}

}  // namespace trireme
