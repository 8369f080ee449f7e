// How fast attention is beside a plain matrix product: one thread, GFLOP/s by thread CPU time (others may
// share the cores), and the ratio of the two taken in the same round. Causal flops: forward 2 B H T^2 D,
// backward 2.5 times that.
//
//   bench_attention [rounds]
#include <fmt/format.h>
#include <omp.h>
#include <time.h>

#include <algorithm>
#include <cstdlib>
#include <dnnl.hpp>
#include <memory>
#include <unordered_map>

#include "base/clock.h"
#include "device/cpu/kernel.h"
#include "ops/attention/attention.h"

namespace trireme {
namespace {

struct Aligned {
  explicit Aligned(int64_t bytes)
      : data(std::aligned_alloc(64, static_cast<size_t>((bytes + 64) / 64 * 64))) {}
  ~Aligned() { std::free(data); }
  Aligned(const Aligned&) = delete;
  Aligned& operator=(const Aligned&) = delete;
  void* data;
};

void fill(const TensorType& type, void* at) {
  for (int64_t i = 0; i < count(type.shape); ++i) {
    const auto spread = static_cast<uint32_t>(i) * 2654435761u;
    const float x = static_cast<float>(spread >> 8) * 0x1p-23f - 1.0f;
    if (type.dtype == DType::bf16)
      static_cast<bf16*>(at)[i] = to_bf16(x);
    else
      static_cast<float*>(at)[i] = x;
  }
}

// An op with operands of its own, ready to run on one thread.
class Call {
 public:
  Call(const char* op, const AttentionAttrs& attrs, std::vector<TensorType> inputs) {
    const OpDef& def = op_def(op);
    sig_ = {op, pack_attrs(attrs), inputs, def.infer(pack_attrs(attrs), inputs)};
    for (const TensorType& type : sig_.inputs) in_.push_back(present(type) ? buffer(type) : nullptr);
    for (const TensorType& type : sig_.outputs) out_.push_back(buffer(type));
    scratch_ = std::make_unique<Aligned>(def.scratch_bytes(sig_, 1));
    kernel_ = find_cpu_kernel(op)(sig_, {.threads = 1, .isa = detect_isa()});
    flops_ = static_cast<double>(def.cost(sig_).flops);
  }
  double gflops() const {
    const double start = thread_seconds_now();
    kernel_({in_, out_, static_cast<std::byte*>(scratch_->data)});
    return flops_ / (thread_seconds_now() - start) * 1e-9;
  }

 private:
  void* buffer(const TensorType& type) {
    buffers_.push_back(std::make_unique<Aligned>(bytes_of(type)));
    fill(type, buffers_.back()->data);
    return buffers_.back()->data;
  }
  OpSig sig_;
  std::vector<std::unique_ptr<Aligned>> buffers_;
  std::vector<void*> in_, out_;
  std::unique_ptr<Aligned> scratch_;
  CpuKernel kernel_;
  double flops_ = 0.0;
};

// GPT-2's first product, [4096, 768] x [768, 2304], weights in the library's own layout.
class Product {
 public:
  explicit Product(dnnl::memory::data_type type) {
    using dnnl::memory;
    const memory::desc x({4096, 768}, type, memory::format_tag::ab),
        y({4096, 2304}, type, memory::format_tag::ab);
    const memory::desc w({768, 2304}, type, memory::format_tag::any);
    const dnnl::matmul::primitive_desc desc(dnnl::matmul::desc(x, w, y), engine_);
    product_ = dnnl::matmul(desc);
    arguments_ = {{DNNL_ARG_SRC, memory(x, engine_)},
                  {DNNL_ARG_WEIGHTS, memory(desc.weights_desc(), engine_)},
                  {DNNL_ARG_DST, memory(y, engine_)}};
    for (auto& [name, memory] : arguments_)
      std::fill_n(static_cast<char*>(memory.get_data_handle()), memory.get_desc().get_size(), char{0});
  }
  double gflops() {
    const double start = thread_seconds_now();
    product_.execute(stream_, arguments_);
    stream_.wait();
    return 2.0 * 4096 * 768 * 2304 / (thread_seconds_now() - start) * 1e-9;
  }

 private:
  dnnl::engine engine_{dnnl::engine::kind::cpu, 0};
  dnnl::stream stream_{engine_};
  dnnl::matmul product_;
  std::unordered_map<int, dnnl::memory> arguments_;
};

double median(std::vector<double> values) {
  std::nth_element(values.begin(), values.begin() + static_cast<int64_t>(values.size()) / 2, values.end());
  return values[values.size() / 2];
}

struct Shape4 {
  const char* name;
  int64_t B, T;
  AttentionAttrs attrs;
};

void compare(const Shape4& s, DType dtype, int rounds) {
  const TensorType qkv{dtype, {s.B, s.T, qkv_width(s.attrs)}};
  const TensorType y{dtype, {s.B, s.T, s.attrs.heads * s.attrs.head_dim}};
  const TensorType lse{DType::f32, {s.B, s.attrs.heads, s.T}};
  const Call forward("attention", s.attrs, {qkv, absent_type()});
  const Call backward("attention_grad", s.attrs, {qkv, y, lse, y, absent_type()});
  Product product(dtype == DType::bf16 ? dnnl::memory::data_type::bf16 : dnnl::memory::data_type::f32);
  std::vector<double> plain, there, back, there_ratio, back_ratio;
  for (int i = 0; i <= rounds; ++i) {
    const double p = product.gflops(), f = forward.gflops(), b = backward.gflops();
    if (i == 0) continue;  // caches and pages
    plain.push_back(p), there.push_back(f), back.push_back(b);
    there_ratio.push_back(f / p), back_ratio.push_back(b / p);
  }
  fmt::print("{:<24} {:<5} product {:6.0f}  forward {:6.0f} ({:.2f})  backward {:6.0f} ({:.2f}) GFLOP/s\n",
             s.name, name_of(dtype), median(plain), median(there), median(there_ratio), median(back),
             median(back_ratio));
}

}  // namespace
}  // namespace trireme

int main(int argc, char** argv) {
  using namespace trireme;
  const int rounds = argc > 1 ? std::max(1, std::atoi(argv[1])) : 7;
  omp_set_num_threads(1);
  for (const DType dtype : {DType::bf16, DType::f32}) {
    compare({"gpt2 B4 T1024 H12 D64", 4, 1024, {.heads = 12, .kv_heads = 12, .head_dim = 64}}, dtype, rounds);
    compare({"llama T4096 H8 K2 D128", 1, 4096, {.heads = 8, .kv_heads = 2, .head_dim = 128}}, dtype, rounds);
    compare({"window 512 of T4096 D64", 1, 4096, {4, 4, 64, 512, 0.0, 0.0}}, dtype, rounds);
  }
  return 0;
}
