// A layer of experts (router, balance, experts) beside a dense feed-forward layer with the same active
// products, forward and backward, as the passes make them: tokens [4,1024,1024], 8 experts of F = 3584 of
// which 2 are active, against F = 7168. Both are measured in turn; the fastest round of each counts. On one
// thread by its CPU time, as others may share the cores; on two by the wall clock.
//
//   bench_moe [rounds = 8] [bf16 | f32 = bf16]
#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <string>

#include "base/clock.h"
#include "device/cpu/kernel.h"
#include "ops/balance/balance.h"
#include "ops/build.h"
#include "ops/experts/experts.h"
#include "ops/linear/linear.h"
#include "ops/router/router.h"
#include "passes/autodiff.h"
#include "passes/pack.h"
#include "passes/precision.h"

namespace trireme {
namespace {

constexpr int64_t kBatch = 4, kLength = 1024, kWidth = 1024, kFfn = 3584, kExperts = 8, kTopK = 2;

ValueId param(Graph& graph, const char* name, Shape shape) {
  return add_value(graph, {name, {DType::f32, std::move(shape)}, ValueRole::param, {}});
}

Graph tokens() {
  Graph graph;
  add_value(graph, {"x", {DType::f32, {kBatch, kLength, kWidth}}, ValueRole::input, {}});
  return graph;
}

Graph dense_layer() {
  Graph graph = tokens();
  constexpr int64_t kWide = kTopK * kFfn;
  const auto gate_up = add_op(graph, "linear", pack_attrs(LinearAttrs{kWidth, 2 * kWide}),
                              {ValueId(0), param(graph, "gate_up", {2 * kWide, kWidth})}, {"gate_up.y"});
  const auto hidden = add_op(graph, "swiglu", {}, gate_up, {"hidden"});
  graph.outputs = add_op(graph, "linear", pack_attrs(LinearAttrs{kWide, kWidth}),
                         {hidden[0], param(graph, "down", {kWidth, kWide})}, {"y"});
  return graph;
}

Graph experts_layer() {
  Graph graph = tokens();
  const ValueId x(0);
  const auto routed = add_op(
      graph, "router", pack_attrs(RouterAttrs{.experts = kExperts, .top_k = kTopK, .softmax_after = 1}),
      {x, param(graph, "router.weight", {kExperts, kWidth})}, {"ids", "weights", "scores", "counts"});
  const BalanceAttrs balance{
      .experts = kExperts, .top_k = kTopK, .coefficient = 0.01, .tokens = kBatch * kLength};
  const auto weights =
      add_op(graph, "balance", pack_attrs(balance), {routed[1], routed[2], routed[3]}, {"balanced"});
  const ExpertsAttrs experts{.experts = kExperts, .top_k = kTopK, .width = kWidth, .ffn = kFfn, .axis = {}};
  graph.outputs = {add_op(graph, "experts", pack_attrs(experts),
                          {x, routed[0], weights[0], param(graph, "gate_up", {kExperts, 2 * kFfn, kWidth}),
                           param(graph, "down", {kExperts, kWidth, kFfn})},
                          {"y", "rows", "hidden", "plan"})[0]};
  return graph;
}

struct Free {
  void operator()(std::byte* p) const { std::free(p); }
};
using Memory = std::unique_ptr<std::byte, Free>;

Memory allocate(int64_t bytes) {
  const auto size = static_cast<size_t>(bytes + 64) / 64 * 64;
  Memory memory(static_cast<std::byte*>(std::aligned_alloc(64, size)));
  std::memset(memory.get(), 0, size);
  return memory;
}

void fill(const TensorType& type, float scale, std::byte* to) {
  uint32_t state = 1;
  for (int64_t i = 0; i < count(type.shape); ++i) {
    state = state * 1664525u + 1013904223u;
    const float x = scale * (static_cast<float>(state >> 8) * 0x1p-23f - 1.0f);
    if (type.dtype == DType::bf16) reinterpret_cast<bf16*>(to)[i] = to_bf16(x);
    if (type.dtype == DType::f32) reinterpret_cast<float*>(to)[i] = x;
  }
}

// A block's Code with memory for every value and a kernel for every op.
class Layer {
 public:
  Layer(Graph graph, DType dtype, int threads) {
    apply_precision(graph, dtype);
    code_ = autodiff(graph, BackwardForm::whole);
    pack_weights(code_);
    for (const Value& value : code_.values) {
      memory_.push_back(allocate(bytes_of(value.type)));
      const bool weight = value.role == ValueRole::param;
      if (weight || value.role == ValueRole::input || value.role == ValueRole::output_grad)
        fill(value.type, weight ? 0.05f : 1.0f, memory_.back().get());
    }
    for (auto [ops, list] : {std::pair(&code_.prepare, &prepare_), std::pair(&code_.forward, &forward_),
                             std::pair(&code_.backward, &backward_)})
      for (const Op& op : *ops) list->push_back(bind(op, threads));
    run(prepare_);
    forward();  // and memory touched
    backward();
  }

  void forward() const { run(forward_); }
  void backward() const { run(backward_); }

 private:
  struct Bound {
    CpuKernel kernel;
    std::vector<void*> inputs, outputs;
    Memory scratch;
  };

  Bound bind(const Op& op, int threads) {
    const OpSig sig = signature(op, code_.values);
    const OpDef& def = op_def(op.kind);
    Bound bound{find_cpu_kernel(op.kind)(sig, {threads, detect_isa()}), {}, {}, nullptr};
    for (auto [ids, pointers] :
         {std::pair(&op.inputs, &bound.inputs), std::pair(&op.outputs, &bound.outputs)})
      for (const ValueId id : *ids)
        pointers->push_back(id.valid() ? memory_[static_cast<size_t>(id.index)].get() : nullptr);
    if (def.scratch_bytes != nullptr) bound.scratch = allocate(def.scratch_bytes(sig, threads));
    return bound;
  }

  static void run(const std::vector<Bound>& ops) {
    for (const Bound& op : ops) op.kernel({op.inputs, op.outputs, op.scratch.get()});
  }

  Code code_;
  std::vector<Memory> memory_;
  std::vector<Bound> prepare_, forward_, backward_;
};

struct Times {
  double forward = 1e9, backward = 1e9;
};

void measure(const Layer& layer, int threads, Times& best) {
  const auto now = [&] { return threads == 1 ? thread_seconds_now() : seconds_now(); };
  const double start = now();
  layer.forward();
  const double middle = now();
  layer.backward();
  best.forward = std::min(best.forward, middle - start);
  best.backward = std::min(best.backward, now() - middle);
}

void compare(DType dtype, int threads, int rounds) {
  const Layer dense(dense_layer(), dtype, threads), experts(experts_layer(), dtype, threads);
  Times of_dense, of_experts;
  for (int round = 0; round < rounds; ++round) {
    measure(dense, threads, of_dense);
    measure(experts, threads, of_experts);
  }
  constexpr double kFlops = 2.0 * kBatch * kLength * 3 * kWidth * kTopK * kFfn;
  const auto row = [&](const char* what, double flops, double dense_s, double experts_s) {
    fmt::print("{:<8} {:>2} {:<20} {:>8.1f} ms {:>6.0f} {:>10.1f} ms {:>6.0f} {:>8.2f}\n", name_of(dtype),
               threads, what, dense_s * 1e3, flops / dense_s * 1e-9, experts_s * 1e3,
               flops / experts_s * 1e-9, dense_s / experts_s);
  };
  row("forward", kFlops, of_dense.forward, of_experts.forward);
  row("backward", 2 * kFlops, of_dense.backward, of_experts.backward);
  row("both", 3 * kFlops, of_dense.forward + of_dense.backward, of_experts.forward + of_experts.backward);
}

}  // namespace
}  // namespace trireme

int main(int argc, char** argv) {
  const int rounds = argc > 1 ? std::atoi(argv[1]) : 8;
  const auto dtype = argc > 2 && std::string(argv[2]) == "f32" ? trireme::DType::f32 : trireme::DType::bf16;
  fmt::print("{:<8} {:>2} {:<20} {:>11} {:>6} {:>13} {:>6} {:>8}\n", "dtype", "th", "", "dense", "GF/s",
             "experts", "GF/s", "ratio");
  for (const int threads : {1, 2}) trireme::compare(dtype, threads, rounds);
  return 0;
}
