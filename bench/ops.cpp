// Speed of every CPU kernel on the `bench` cases of its op: GFLOP/s and GB/s of the work that the op's cost
// states. A copy of 64 MB runs beside them, so that kernels bound by memory can be read against it (a copy
// moves each byte twice: read and written, as the costs count).
//
//   bench_ops --benchmark_filter=layernorm      OP/CASE/DTYPE/THREADS
#include <benchmark/benchmark.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <memory>

#include "base/random.h"
#include "device/cpu/cpu_device.h"
#include "device/cpu/kernel.h"
#include "device/cpu/parallel.h"
#include "ops/op.h"

namespace trireme {
namespace {

// Operands of one call in one arena, as in a run.
struct Call {
  OpSig sig;
  std::unique_ptr<Device> device;
  std::vector<void*> inputs, outputs;
  std::byte* scratch = nullptr;
};

int64_t padded(int64_t bytes) { return (bytes + 63) / 64 * 64; }

void fill(const InputFill& how, const TensorType& type, uint64_t seed, std::byte* to) {
  const RandomStream random(seed, "bench");
  const int64_t n = count(type.shape), block = std::min<int64_t>(n, 4099);
  for (int64_t i = 0; i < n; ++i) {
    if (i >= block) {  // repeat, since drawing is slow
      const int64_t size = size_of(type.dtype);
      std::memcpy(to + i * size, to + (i - block) * size, static_cast<size_t>(size));
      continue;
    }
    const auto k = static_cast<uint64_t>(i);
    const float normal = random.normal(k) * how.scale;
    const float value = how.kind == InputFill::Kind::positive ? std::abs(normal) + 0.05f * how.scale : normal;
    if (type.dtype == DType::f32) reinterpret_cast<float*>(to)[i] = value;
    if (type.dtype == DType::bf16) reinterpret_cast<bf16*>(to)[i] = to_bf16(value);
    if (type.dtype == DType::f64) reinterpret_cast<double*>(to)[i] = value;
    if (type.dtype == DType::i32) {
      const bool ids = how.kind == InputFill::Kind::ids && how.limit > 0;  // others: 0 is always allowed
      reinterpret_cast<int32_t*>(to)[i] =
          ids ? static_cast<int32_t>(random.bits(k) % static_cast<uint64_t>(how.limit)) : 0;
    }
  }
}

OpSig signature_of(const OpEntry& op, const OpCase& c, DType dtype) {
  OpSig sig{c.kind, c.attrs, c.inputs, {}};
  sig.inputs.resize(op.def.inputs.size(), absent_type());
  for (size_t i = 0; i < sig.inputs.size(); ++i) {
    const std::string_view name = op.def.inputs[i].name;
    const bool statistic = name == "mean" || name == "rstd" || name == "lse" || name == "state" ||
                           name == "weights" || name == "scores" || name == "counts" || name == "dweights" ||
                           name == "dscores";
    if (sig.inputs[i].dtype == DType::f32 && present(sig.inputs[i]) && !statistic)
      sig.inputs[i].dtype = dtype;
  }
  sig.outputs = op.def.infer(sig.attrs, sig.inputs);
  return sig;
}

Call make_call(const OpEntry& op, const OpCase& c, DType dtype, int threads) {
  Call call{signature_of(op, c, dtype), make_cpu_device({.threads = threads}), {}, {}};
  const int64_t scratch = op.def.scratch_bytes != nullptr ? op.def.scratch_bytes(call.sig, threads) : 0;
  int64_t bytes = padded(scratch);
  for (const auto* types : {&call.sig.inputs, &call.sig.outputs})
    for (const TensorType& type : *types) bytes += padded(bytes_of(type));
  std::byte* next = call.device->allocate_arena(bytes);
  std::vector<InputFill> fills = c.fills;
  fills.resize(call.sig.inputs.size() + call.sig.outputs.size());
  size_t operand = 0;
  for (auto [types, pointers] :
       {std::pair(&call.sig.inputs, &call.inputs), std::pair(&call.sig.outputs, &call.outputs)})
    for (const TensorType& type : *types) {
      pointers->push_back(present(type) ? next : nullptr);
      if (present(type)) fill(fills[operand], type, operand, next);
      next += padded(bytes_of(type));
      ++operand;
    }
  if (scratch > 0) call.scratch = next;
  return call;
}

void run_case(benchmark::State& state, const OpEntry& op, const OpCase& c, DType dtype, int threads) {
  Call call = make_call(op, c, dtype, threads);
  const KernelId kernel = call.device->prepare(call.sig);
  const Operands operands{call.inputs, call.outputs, call.scratch};
  for (auto _ : state) {
    call.device->run(kernel, operands);
    benchmark::ClobberMemory();
  }
  const Cost cost = op.def.cost(call.sig);
  using benchmark::Counter;
  const auto rate = [](int64_t n) {
    return Counter(static_cast<double>(n), Counter::kIsIterationInvariantRate);
  };
  state.counters["FLOP/s"] = rate(cost.flops);
  state.counters["B/s"] = rate(cost.bytes_read + cost.bytes_written);
}

void run_copy(benchmark::State& state, int threads) {
  constexpr int64_t kBytes = 64 << 20;
  const auto device = make_cpu_device({.threads = threads});
  std::byte* memory = device->allocate_arena(2 * kBytes);
  std::memset(memory, 1, 2 * kBytes);
  for (auto _ : state) {
    parallel_for(threads, kBytes, 1 << 16, [&](int64_t begin, int64_t end) {
      std::memcpy(memory + kBytes + begin, memory + begin, static_cast<size_t>(end - begin));
    });
    benchmark::ClobberMemory();
  }
  state.counters["B/s"] = benchmark::Counter(2.0 * kBytes, benchmark::Counter::kIsIterationInvariantRate);
}

void register_all() {
  for (const int threads : {1, 2}) {
    const std::string suffix = "/" + std::to_string(threads);
    benchmark::RegisterBenchmark(("copy/64 MB" + suffix).c_str(), [threads](benchmark::State& s) {
      run_copy(s, threads);
    })->UseRealTime();
    for (const OpEntry& op : op_table())
      for (const OpCase& c : op.cases())
        for (const DType dtype : {DType::f32, DType::bf16}) {
          if (!c.bench || (dtype == DType::bf16 && !c.bf16) || find_cpu_kernel(op.def.name) == nullptr)
            continue;
          const std::string name =
              std::string(op.def.name) + "/" + c.name + "/" + std::string(name_of(dtype)) + suffix;
          benchmark::RegisterBenchmark(
              name.c_str(),
              [&op, c, dtype, threads](benchmark::State& s) { run_case(s, op, c, dtype, threads); })
              ->UseRealTime()
              ->Unit(benchmark::kMicrosecond);
        }
  }
}

}  // namespace
}  // namespace trireme

int main(int argc, char** argv) {
  trireme::register_all();
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 2;
  benchmark::RunSpecifiedBenchmarks();
  benchmark::Shutdown();
  return 0;
}
