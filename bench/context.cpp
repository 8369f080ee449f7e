// Attention over the context axis against plain attention: T = 8192 in bf16 on one rank with all cores, and
// on one rank per core in the three ways. Wall time, and the CPU time of all threads together, which knows
// nothing of who else uses the cores; ratios within a round, since the machine's speed drifts.
//   bench_context [rounds = 5] [ranks = cores]
#include <time.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "base/clock.h"
#include "comm/axis_comm.h"
#include "comm/local/local_world.h"
#include "device/cpu/kernel.h"
#include "ops/attention/context.h"

namespace trireme {
namespace {

struct Free {
  void operator()(void* p) const { std::free(p); }
};

// An op with operands of its own.
class Call {
 public:
  Call(OpSig sig, int threads) : sig_(std::move(sig)) {
    for (const TensorType& type : sig_.inputs) in_.push_back(present(type) ? buffer(type) : nullptr);
    for (const TensorType& type : sig_.outputs) out_.push_back(buffer(type));
    scratch_ = buffer({DType::u8, {op_def(sig_.kind).scratch_bytes(sig_, threads)}});
    kernel_ = find_cpu_kernel(sig_.kind)(sig_, {.threads = threads, .isa = detect_isa()});
  }
  void run(const AxisComm* comm) const { kernel_({in_, out_, static_cast<std::byte*>(scratch_), comm}); }

 private:
  void* buffer(const TensorType& type) {
    const int64_t bytes = (bytes_of(type) + 127) / 64 * 64;
    buffers_.emplace_back(std::aligned_alloc(64, static_cast<size_t>(bytes)));
    void* at = buffers_.back().get();
    std::fill_n(static_cast<char*>(at), bytes, char{0});
    for (int64_t i = 0; i < count(type.shape); ++i) {
      const float x = static_cast<float>((static_cast<uint32_t>(i) * 2654435761u) >> 8) * 0x1p-23f - 1.0f;
      if (type.dtype == DType::bf16) static_cast<bf16*>(at)[i] = to_bf16(x);
      if (type.dtype == DType::f32) static_cast<float*>(at)[i] = 5.0f + x;  // lse
    }
    return at;
  }
  OpSig sig_;
  std::vector<std::unique_ptr<void, Free>> buffers_;
  std::vector<void*> in_, out_;
  void* scratch_;
  CpuKernel kernel_;
};

struct Shape4 {
  const char* name;
  int64_t B, T;
  AttentionAttrs attrs;
};

OpSig forward_sig(const std::string& kind, const Shape4& s, int64_t ranks, int64_t rank) {
  const Attrs attrs =
      kind == "attention" ? pack_attrs(s.attrs) : pack_attrs(ContextAttrs{s.attrs, {"cp", ranks, rank}});
  const std::vector<TensorType> inputs = {{DType::bf16, {s.B, s.T / ranks, qkv_width(s.attrs)}},
                                          absent_type()};
  return {kind, attrs, inputs, op_def(kind).infer(attrs, inputs)};
}

OpSig backward_sig(const OpSig& f) {
  const std::string kind = f.kind + "_grad";
  const std::vector<TensorType> inputs = {f.inputs[0], f.outputs[0], f.outputs[1], f.outputs[0], f.inputs[1]};
  return {kind, f.attrs, inputs, op_def(kind).infer(f.attrs, inputs)};
}

struct Seconds {
  double forward = 0, backward = 0;
  double cpu = 0;  // of both
};

double process_seconds() {
  timespec t{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
  return static_cast<double>(t.tv_sec) + static_cast<double>(t.tv_nsec) * 1e-9;
}

// Of the slowest rank: all begin together and end together. The first round touches the memory.
Seconds measure(const std::string& kind, const Shape4& s, int ranks, int threads) {
  LocalWorld world({.ranks = ranks});
  std::vector<int> members;
  for (int r = 0; r < ranks; ++r) members.push_back(r);
  Seconds seconds;
  const auto rank_body = [&](int rank) {
    const auto communicator = world.communicator(members, rank, 0);
    CommWorker queue;
    const AxisComm comm{communicator.get(), &queue};
    const OpSig forward = forward_sig(kind, s, ranks, rank);
    const Call there(forward, threads), back(backward_sig(forward), threads);
    for (int round = 0; round < 2; ++round) {
      communicator->barrier("the start");
      const double start = seconds_now(), cpu = process_seconds();
      there.run(&comm);
      communicator->barrier("the middle");
      const double middle = seconds_now();
      back.run(&comm);
      communicator->barrier("the end");
      if (rank == 0) seconds = {middle - start, seconds_now() - middle, process_seconds() - cpu};
    }
  };
  std::vector<std::thread> rank_threads;
  for (int rank = 0; rank < ranks; ++rank) rank_threads.emplace_back(rank_body, rank);
  for (std::thread& t : rank_threads) t.join();
  return seconds;
}

double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

void compare(const Shape4& s, int ranks, int rounds) {
  const std::vector<std::string> kinds = {"attention", "ring_attention", "gather_attention",
                                          "ulysses_attention"};
  std::vector<std::vector<double>> forward(kinds.size()), backward(kinds.size()), ratio(kinds.size()),
      cpu(kinds.size());
  for (int round = 0; round < rounds; ++round)
    for (size_t k = 0; k < kinds.size(); ++k) {
      const Seconds t = k == 0 ? measure(kinds[k], s, 1, ranks) : measure(kinds[k], s, ranks, 1);
      forward[k].push_back(t.forward), backward[k].push_back(t.backward);
      cpu[k].push_back(t.cpu);
      ratio[k].push_back((forward[0].back() + backward[0].back()) / (t.forward + t.backward));
    }
  std::printf("%s\n", s.name);
  for (size_t k = 0; k < kinds.size(); ++k)
    std::printf(
        "  %-18s %d x %d cores  forward %6.0f ms  backward %6.0f ms  CPU %6.0f ms  %.2f x the speed of one "
        "rank\n",
        kinds[k].c_str(), k == 0 ? 1 : ranks, k == 0 ? ranks : 1, median(forward[k]) * 1e3,
        median(backward[k]) * 1e3, median(cpu[k]) * 1e3, median(ratio[k]));
}

}  // namespace
}  // namespace trireme

int main(int argc, char** argv) {
  using namespace trireme;
  const int rounds = argc > 1 ? std::max(1, std::atoi(argv[1])) : 5;
  const int ranks = argc > 2 ? std::max(1, std::atoi(argv[2]))
                             : std::max(1, static_cast<int>(std::thread::hardware_concurrency()));
  compare({"llama B1 T8192 H8 K2 D128", 1, 8192, {.heads = 8, .kv_heads = 2, .head_dim = 128}}, ranks,
          rounds);
  compare({"gpt2 B1 T8192 H12 D64", 1, 8192, {.heads = 12, .kv_heads = 12, .head_dim = 64}}, ranks, rounds);
  return 0;
}
