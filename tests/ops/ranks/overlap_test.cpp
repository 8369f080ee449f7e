// Products beside their collectives, over rank threads: in any number of chunks they make what the collective
// and the product make one after the other, to the bit, from plain and from packed weights; and they send
// what their definitions say.
#include "ops/overlap/overlap.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "comm/axis_comm.h"
#include "comm/rank_threads.h"
#include "ops/collectives/collectives.h"
#include "ops/ranks/rank_lists.h"

namespace trireme {
namespace {

// A product of tp; `k` and `n` as a rank has them.
struct Form {
  int64_t batch, length, k, n;
  std::string use;
  DType dtype;
  bool packed, bias;
};

std::string name_of_form(const Form& f) {
  return fmt::format("{}x{} {}->{} {} {}{}{}", f.batch, f.length, f.k, f.n, f.use, name_of(f.dtype),
                     f.packed ? " packed" : "", f.bias ? " bias" : "");
}

std::vector<Form> forms() {
  std::vector<Form> all;
  for (const auto& [length, k, n] :
       {std::tuple<int64_t, int64_t, int64_t>{12, 5, 7}, {24, 96, 40}, {36, 70, 129}, {60, 256, 192}})
    for (const DType dtype : {DType::f32, DType::bf16})
      for (const bool packed : {false, true}) {
        all.push_back({2, length, k, n, "forward", dtype, packed, false});
        all.push_back({2, length, k, n, "forward", dtype, packed, true});
        all.push_back({2, length, k, n, "input_grad", dtype, packed, false});
      }
  return all;
}

int64_t in_of(const Form& f) { return f.use == "forward" ? f.k : f.n; }
int64_t out_of(const Form& f) { return f.use == "forward" ? f.n : f.k; }

// Of each rank its own, and of all calls the same.
ValueId given(ListWriter& writer, const char* name, int64_t rank, const TensorType& type) {
  return writer.given(type, random_values({}, type, fmt::format("{}/{}", name, rank)));
}

// As the form wants it.
ValueId weight_of(ListWriter& writer, const Form& f, int64_t rank) {
  const ValueId plain = given(writer, "weight", rank, {f.dtype, {out_of(f), in_of(f)}});
  return f.packed ? writer.emit("pack", pack_attrs(PackAttrs{f.use}), {plain})[0] : plain;
}

std::string product_of(const Form& f) { return f.use == "forward" ? "linear" : "linear_grad_input"; }

OverlapAttrs product_attrs(const Form& f, const AxisAttrs& on, int64_t chunks) {
  return {.on = on, .use = f.use, .in = in_of(f), .out = out_of(f), .chunks = chunks};
}

GatherLinearAttrs gather_attrs(const Form& f, const AxisAttrs& on, int64_t chunks, int64_t keep) {
  return {.product = product_attrs(f, on, chunks), .batch = f.batch, .keep = keep};
}

// y, and the gathered x, of every rank; chunks = 0: of the two ops.
std::vector<Values> gather_linear(const Form& f, int64_t ranks, int64_t chunks, int64_t keep, int threads) {
  std::vector<RankList> lists;
  ValueId y, whole;
  for (int64_t r = 0; r < ranks; ++r) {
    ListWriter w;
    const AxisAttrs on{"tp", ranks, r};
    const ValueId x = given(w, "x", r, {f.dtype, {1, f.batch * f.length / ranks, f.k}});
    std::vector<ValueId> inputs = {x, weight_of(w, f, r)};
    if (f.bias) inputs.push_back(given(w, "bias", r, {f.dtype, {f.n}}));
    if (chunks == 0) {
      GatherAttrs gather;
      gather.on = on;
      gather.batch = f.batch;
      inputs[0] = whole = w.emit("all_gather", pack_attrs(gather), {x})[0];
      y = w.emit(product_of(f), pack_attrs(LinearAttrs{in_of(f), out_of(f)}), inputs)[0];
    } else {
      const auto made = w.emit("gather_linear", pack_attrs(gather_attrs(f, on, chunks, keep)), inputs);
      y = made[0];
      whole = made[1];
    }
    lists.push_back(w.list);
  }
  run_on_ranks(lists, {.threads = threads, .isa = detect_isa()});
  std::vector<Values> made;
  for (const RankList& list : lists) {
    made.push_back(contents_of(list, y));
    if (keep != 0) made.push_back(contents_of(list, whole));
  }
  return made;
}

std::vector<Values> linear_scatter(const Form& f, int64_t ranks, int64_t chunks, int threads) {
  std::vector<RankList> lists;
  ValueId y;
  for (int64_t r = 0; r < ranks; ++r) {
    ListWriter w;
    const AxisAttrs on{"tp", ranks, r};
    const ValueId x = given(w, "x", r, {f.dtype, {f.batch, f.length, f.k}}), weight = weight_of(w, f, r);
    if (chunks == 0) {
      const ValueId addends =
          w.emit(product_of(f), pack_attrs(LinearAttrs{in_of(f), out_of(f)}), {x, weight})[0];
      SliceAttrs slice;
      slice.on = on;
      y = w.emit("reduce_scatter", pack_attrs(slice), {addends})[0];
    } else {
      y = w.emit("linear_scatter", pack_attrs(product_attrs(f, on, chunks)), {x, weight})[0];
    }
    lists.push_back(w.list);
  }
  run_on_ranks(lists, {.threads = threads, .isa = detect_isa()});
  std::vector<Values> made;
  for (const RankList& list : lists) made.push_back(contents_of(list, y));
  return made;
}

// Either number is tried, and changes nothing.
int threads_for(int64_t chunks) { return chunks % 2 == 0 ? 2 : 1; }

class Overlap : public testing::TestWithParam<int64_t> {};

TEST_P(Overlap, GatherLinearIsTheTwoOpsToTheBit) {
  const int64_t ranks = GetParam();
  for (const Form& f : forms())
    for (const int64_t keep : {0, 1}) {
      SCOPED_TRACE(name_of_form(f));
      const std::vector<Values> want = gather_linear(f, ranks, 0, keep, 1);
      for (const int64_t chunks : {1, 2, 3, 6})
        ASSERT_TRUE(gather_linear(f, ranks, chunks, keep, threads_for(chunks)) == want)
            << chunks << " chunks, keep " << keep;
    }
}

TEST_P(Overlap, LinearScatterIsTheTwoOpsToTheBit) {
  const int64_t ranks = GetParam();
  for (const Form& f : forms()) {
    if (f.bias) continue;
    SCOPED_TRACE(name_of_form(f));
    const std::vector<Values> want = linear_scatter(f, ranks, 0, 1);
    for (const int64_t chunks : {1, 2, 3, 6})
      ASSERT_TRUE(linear_scatter(f, ranks, chunks, threads_for(chunks)) == want) << chunks << " chunks";
  }
}

INSTANTIATE_TEST_SUITE_P(Ranks, Overlap, testing::Values(1, 2, 4));

// What a kernel hands to the queue, and what it sends in all.
std::vector<std::vector<QueuedSpan>> spans_of(const OpSig& first, int64_t ranks, std::vector<int64_t>& sent) {
  const int n = static_cast<int>(ranks);
  LocalWorld world({.ranks = n, .timeout_s = 60});
  std::vector<std::vector<QueuedSpan>> spans(static_cast<size_t>(n));
  sent.resize(static_cast<size_t>(n));
  const std::vector<std::string> errors = run_ranks(world, n, [&](int rank) {
    OpSig sig = first;
    for (auto& [name, value] : sig.attrs.entries)
      if (name == "rank") value = static_cast<int64_t>(rank);
    const auto communicator = world.communicator(all_ranks(n), rank, 0);
    CommWorker queue;
    const AxisComm comm{communicator.get(), &queue, &spans[static_cast<size_t>(rank)]};
    std::vector<std::vector<float>> memory;
    std::vector<void*> inputs, outputs;
    const auto allot = [&](int64_t bytes) {
      memory.emplace_back(static_cast<size_t>(bytes / 4 + 32));
      auto at = reinterpret_cast<uintptr_t>(memory.back().data());
      return reinterpret_cast<void*>((at + 63) / 64 * 64);
    };
    for (const TensorType& type : sig.inputs)
      inputs.push_back(present(type) ? allot(bytes_of(type)) : nullptr);
    for (const TensorType& type : sig.outputs)
      outputs.push_back(present(type) ? allot(bytes_of(type)) : nullptr);
    void* scratch = allot(op_def(sig.kind).scratch_bytes(sig, 1));
    find_cpu_kernel(sig.kind)(
        sig, {.threads = 1, .isa = detect_isa()})({inputs, outputs, static_cast<std::byte*>(scratch), &comm});
    sent[static_cast<size_t>(rank)] = communicator->sent_bytes();
  });
  for (const std::string& error : errors) EXPECT_EQ(error, "");
  return spans;
}

TEST(OverlapWire, EveryChunkIsSeenInTheQueueAndSendsItsShare) {
  const Form f{2, 24, 16, 8, "forward", DType::f32, false, false};
  const AxisAttrs on{"tp", 4, 0};
  OpSig gather{"gather_linear",
               pack_attrs(gather_attrs(f, on, 3, 1)),
               {{f.dtype, {1, 12, f.k}}, {f.dtype, {f.n, f.k}}, absent_type()},
               {}};
  OpSig scatter{"linear_scatter",
                pack_attrs(product_attrs(f, on, 3)),
                {{f.dtype, {2, 24, f.k}}, {f.dtype, {f.n, f.k}}},
                {}};
  for (OpSig* sig : {&gather, &scatter}) {
    SCOPED_TRACE(sig->kind);
    sig->outputs = op_def(sig->kind).infer(sig->attrs, sig->inputs);
    const int64_t bytes = op_def(sig->kind).wire_bytes(*sig);
    EXPECT_EQ(bytes, sig->kind == "gather_linear" ? 3 * 12 * 16 * 4 : 3 * 12 * 8 * 4);
    std::vector<int64_t> sent;
    const auto spans = spans_of(*sig, 4, sent);
    for (size_t r = 0; r < 4; ++r) {
      EXPECT_EQ(sent[r], bytes);
      ASSERT_EQ(spans[r].size(), 3u);
      for (const QueuedSpan& span : spans[r]) {
        EXPECT_EQ(span.sent_bytes, bytes / 3);
        EXPECT_LE(span.start_s, span.end_s);
      }
    }
  }
}

TEST(OverlapShapes, WhatDoesNotDivideIsRefused) {
  const Form f{2, 6, 4, 3, "forward", DType::f32, false, false};
  const AxisAttrs on{"tp", 2, 0};
  const std::vector<TensorType> slice = {{DType::f32, {1, 6, 4}}, {DType::f32, {3, 4}}};
  const std::vector<TensorType> whole = {{DType::f32, {2, 6, 4}}, {DType::f32, {3, 4}}};
  const auto gather = [&](int64_t chunks) {
    return op_def("gather_linear").infer(pack_attrs(gather_attrs(f, on, chunks, 0)), slice);
  };
  const auto scatter = [&](int64_t chunks) {
    return op_def("linear_scatter").infer(pack_attrs(product_attrs(f, on, chunks)), whole);
  };
  EXPECT_EQ(gather(3)[0], (TensorType{DType::f32, {2, 6, 3}}));
  EXPECT_EQ(scatter(3)[0], (TensorType{DType::f32, {1, 6, 3}}));
  EXPECT_THROW(gather(4), std::invalid_argument);
  EXPECT_THROW(scatter(4), std::invalid_argument);
  EXPECT_THROW(gather(0), std::invalid_argument);
}

}  // namespace
}  // namespace trireme
