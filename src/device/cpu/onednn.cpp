// The only file that knows oneDNN (2.6). Primitives and memory handles are made once; running sets pointers.
#include "device/cpu/onednn.h"

#include <omp.h>

#include <algorithm>
#include <array>
#include <dnnl.hpp>
#include <string_view>

#include "base/error.h"
#include "ops/linear/linear.h"

namespace trireme {
namespace {

using Tag = dnnl::memory::format_tag;
using Type = dnnl::memory::data_type;
using Desc = dnnl::memory::desc;

// oneDNN takes the size of its team from the calling thread's OpenMP setting.
class TeamSize {
 public:
  explicit TeamSize(int threads) : before_(omp_get_max_threads()) { omp_set_num_threads(threads); }
  ~TeamSize() { omp_set_num_threads(before_); }
  TeamSize(const TeamSize&) = delete;
  TeamSize& operator=(const TeamSize&) = delete;

 private:
  int before_;
};

Type type_of(DType dtype) {
  CHECK(dtype == DType::f32 || dtype == DType::bf16, "no products of {}", name_of(dtype));
  return dtype == DType::f32 ? Type::f32 : Type::bf16;
}

Tag packed_tag(DType dtype) { return dtype == DType::f32 ? Tag::BA16a64b : Tag::BA16a64b2a; }

Tag tag_of(MatrixLayout layout, DType dtype) {
  switch (layout) {
    case MatrixLayout::row_major:
      return Tag::ab;
    case MatrixLayout::transposed:
      return Tag::ba;
    case MatrixLayout::packed:
      return packed_tag(dtype);
  }
  CHECK(false, "unknown layout");
}

dnnl::matmul::primitive_desc describe(const ProductSpec& spec, const dnnl::engine& engine) {
  const Desc a({spec.m, spec.k}, type_of(spec.in), tag_of(spec.a, spec.in));
  const Desc b({spec.k, spec.n}, type_of(spec.in), tag_of(spec.b, spec.in));
  const Desc c({spec.m, spec.n}, type_of(spec.out), Tag::ab);
  dnnl::primitive_attr attributes;
  attributes.set_scratchpad_mode(dnnl::scratchpad_mode::user);
  if (spec.accumulate) {
    dnnl::post_ops sum;
    sum.append_sum(1.0f);
    attributes.set_post_ops(sum);
  }
  const TeamSize team(spec.threads);
  if (!spec.bias) return {dnnl::matmul::desc(a, b, c), attributes, engine};
  const Desc bias({1, spec.n}, type_of(spec.in), Tag::ab);
  return {dnnl::matmul::desc(a, b, bias, c), attributes, engine};
}

dnnl::memory handle(const Desc& desc, const dnnl::engine& engine) {
  return dnnl::memory(desc, engine, DNNL_MEMORY_NONE);
}

void set(const dnnl::memory& memory, const void* data) {
  // oneDNN takes inputs as void* too; it does not write them.
  CHECK(dnnl_memory_set_data_handle(memory.get(), const_cast<void*>(data)) == dnnl_success);
}

}  // namespace

bool products_read_packed(DType in) {
  try {
    const ProductSpec probe{.m = 64, .n = 64, .k = 64, .in = in, .out = in, .b = MatrixLayout::packed};
    const dnnl::engine engine(dnnl::engine::kind::cpu, 0);
    return std::string_view(describe(probe, engine).impl_info_str()).starts_with("brg:");
  } catch (const dnnl::error&) {
    return false;
  }
}

struct Product::State {
  ProductSpec spec;
  dnnl::engine engine{dnnl::engine::kind::cpu, 0};
  dnnl::stream stream{engine};
  dnnl::matmul::primitive_desc description;
  dnnl::matmul primitive;
  dnnl::memory a, b, c, bias, scratch;
  std::unique_ptr<std::byte[]> own_scratch;
};

Product::Product(const ProductSpec& spec) : state_(std::make_unique<State>()) {
  State& s = *state_;
  s.spec = spec;
  try {
    s.description = describe(spec, s.engine);
    const TeamSize team(spec.threads);
    s.primitive = dnnl::matmul(s.description);
    s.a = handle(s.description.src_desc(), s.engine);
    s.b = handle(s.description.weights_desc(), s.engine);
    s.c = handle(s.description.dst_desc(), s.engine);
    if (spec.bias) s.bias = handle(s.description.bias_desc(), s.engine);
    s.scratch = handle(s.description.scratchpad_desc(), s.engine);
    const auto needed = static_cast<int64_t>(s.description.scratchpad_desc().get_size());
    if (needed > product_scratch_bytes(spec.k, spec.threads))
      s.own_scratch = std::make_unique<std::byte[]>(static_cast<size_t>(needed) + 64);
  } catch (const dnnl::error& e) {
    CHECK(false, "oneDNN has no product m={} n={} k={} of {}: {}", spec.m, spec.n, spec.k, name_of(spec.in),
          e.what());
  }
}

Product::Product(Product&&) noexcept = default;
Product& Product::operator=(Product&&) noexcept = default;
Product::~Product() = default;

void Product::run(const ProductOperands& operands) const {
  State& s = *state_;
  const TeamSize team(s.spec.threads);
  std::byte* scratch = operands.scratch;
  if (s.own_scratch) scratch = s.own_scratch.get() + (-reinterpret_cast<uintptr_t>(s.own_scratch.get()) & 63);
  set(s.a, operands.a);
  set(s.b, operands.b);
  set(s.c, operands.c);
  set(s.scratch, scratch);
  std::array<dnnl_exec_arg_t, 5> args = {{{DNNL_ARG_SRC, s.a.get()},
                                          {DNNL_ARG_WEIGHTS, s.b.get()},
                                          {DNNL_ARG_DST, s.c.get()},
                                          {DNNL_ARG_SCRATCHPAD, s.scratch.get()},
                                          {DNNL_ARG_BIAS, nullptr}}};
  if (s.spec.bias) {
    set(s.bias, operands.bias);
    args[4].memory = s.bias.get();
  }
  const dnnl_status_t status =
      dnnl_primitive_execute(s.primitive.get(), s.stream.get(), s.spec.bias ? 5 : 4, args.data());
  CHECK(status == dnnl_success, "oneDNN status {}", static_cast<int>(status));
}

const char* Product::implementation() const { return state_->description.impl_info_str(); }

struct Repack::State {
  int threads = 1;
  dnnl::engine engine{dnnl::engine::kind::cpu, 0};
  dnnl::stream stream{engine};
  dnnl::reorder primitive;
  dnnl::memory from, to, scratch;
  std::unique_ptr<std::byte[]> own_scratch;
};

Repack::Repack(const RepackSpec& spec) : state_(std::make_unique<State>()) {
  State& s = *state_;
  s.threads = spec.threads;
  try {
    const TeamSize team(spec.threads);
    const Desc from({spec.k, spec.n}, type_of(spec.dtype), tag_of(spec.from, spec.dtype));
    const Desc to({spec.k, spec.n}, type_of(spec.dtype), packed_tag(spec.dtype));
    dnnl::primitive_attr attributes;
    attributes.set_scratchpad_mode(dnnl::scratchpad_mode::user);
    const dnnl::reorder::primitive_desc description(s.engine, from, s.engine, to, attributes);
    s.primitive = dnnl::reorder(description);
    s.from = handle(from, s.engine);
    s.to = handle(to, s.engine);
    s.scratch = handle(description.scratchpad_desc(), s.engine);
    const size_t needed = description.scratchpad_desc().get_size();
    s.own_scratch = std::make_unique<std::byte[]>(needed + 64);
    const size_t room = static_cast<size_t>(packed_count(spec.n, spec.k, "forward") * size_of(spec.dtype));
    CHECK(to.get_size() <= room, "packed {} bytes > {}", to.get_size(), room);
  } catch (const dnnl::error& e) {
    CHECK(false, "oneDNN cannot pack k={} n={} of {}: {}", spec.k, spec.n, name_of(spec.dtype), e.what());
  }
}

Repack::Repack(Repack&&) noexcept = default;
Repack& Repack::operator=(Repack&&) noexcept = default;
Repack::~Repack() = default;

void Repack::run(const void* from, void* to) const {
  State& s = *state_;
  const TeamSize team(s.threads);
  set(s.from, from);
  set(s.to, to);
  set(s.scratch, s.own_scratch.get());
  const std::array<dnnl_exec_arg_t, 3> args = {
      {{DNNL_ARG_FROM, s.from.get()}, {DNNL_ARG_TO, s.to.get()}, {DNNL_ARG_SCRATCHPAD, s.scratch.get()}}};
  const dnnl_status_t status = dnnl_primitive_execute(s.primitive.get(), s.stream.get(), 3, args.data());
  CHECK(status == dnnl_success, "oneDNN status {}", static_cast<int>(status));
}

}  // namespace trireme
