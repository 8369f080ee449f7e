// What an op is: the interface between the op folders and everything that walks a program. Each op folder
// fills one OpEntry; table.cpp lists them all.
//
// Conventions: tensors are row-major; activations are [B,T,...]; parameters and activations share the
// compute dtype (f32 or bf16); statistics, losses and parameter gradients are f32 or f64; ids are i32.
#pragma once
#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "ir/attrs.h"
#include "ir/graph.h"
#include "ir/type.h"
#include "ops/placing.h"

namespace trireme {

class GradientBuilder;
struct AxisComm;  // comm/axis_comm.h

// An op with the types of its operands; absent optional operands have absent_type().
struct OpSig {
  std::string kind;
  Attrs attrs;
  std::vector<TensorType> inputs;
  std::vector<TensorType> outputs;
};

// Exact work of one call: what the mathematics needs, not what a kernel happens to do. One FMA = 2 flops.
// The same on every rank of an axis that the op talks on, an even share: stages are cut by it, alike on all.
struct Cost {
  int64_t flops = 0;
  int64_t bytes_read = 0;
  int64_t bytes_written = 0;
  Cost& operator+=(const Cost& other);
  bool operator==(const Cost&) const = default;
};

// Memory traffic alone: every present input read once, every present output written once.
Cost traffic(const OpSig& sig);

struct OperandDef {
  enum class Use : uint8_t {
    plain,
    optional,             // may be absent
    accumulate,           // output only: the kernel adds to what is there
    optional_accumulate,  // both
    update,               // output only: read and overwritten in place (moments, KV cache)
  };
  std::string_view name;
  Use use = Use::plain;
  bool master = false;  // of a parameter: the f32 master weights are read, whatever the compute dtype
};

struct OpDef {
  std::string_view name;
  std::vector<OperandDef> inputs;
  std::vector<OperandDef> outputs;

  // Shape rule: output types from input types, in the order of `outputs`. `accumulate` and `update` outputs
  // are inferred too. Throws std::invalid_argument with the offending types. May look at which inputs are
  // absent.
  std::vector<TensorType> (*infer)(const Attrs& attrs, std::span<const TensorType> inputs) = nullptr;
  Cost (*cost)(const OpSig& sig) = nullptr;
  // Upper bound of the kernel's scratch on `threads` threads, in bytes. nullptr: none.
  int64_t (*scratch_bytes)(const OpSig& sig, int threads) = nullptr;
  // Emits the ops of the backward pass. nullptr: not differentiable.
  void (*gradient)(GradientBuilder& builder) = nullptr;
  // The length of the longest sum behind one output element: tests derive tolerances from it.
  int64_t (*reduction)(const OpSig& sig) = nullptr;
  // How the op is cut on a mesh axis. nullptr: place_by_rows.
  PlaceRule place = nullptr;
  // Bytes that each rank sends to others in one call, by what the mathematics needs. nullptr: none. Such an
  // op has AxisAttrs.
  int64_t (*wire_bytes)(const OpSig& sig) = nullptr;
  // The output with index .second may share the memory of the input with index .first.
  std::vector<std::pair<int, int>> in_place;
};

// Pointers of one call, in the order of the definition; null for absent operands.
struct Operands {
  std::span<void* const> inputs;
  std::span<void* const> outputs;
  std::byte* scratch = nullptr;    // at least scratch_bytes, 64-byte aligned
  const AxisComm* comm = nullptr;  // of ops with AxisAttrs that name an axis

  template <class T>
  const T* in(size_t i) const {
    return static_cast<const T*>(inputs[i]);
  }
  template <class T>
  T* out(size_t i) const {
    return static_cast<T*>(outputs[i]);
  }
};

// The oracle: a plain loop in f32 (every bf16 operand is given as f32). Stays for ever.
using ReferenceKernel = void (*)(const OpSig& sig, const Operands& operands);

// How a test fills an input.
struct InputFill {
  enum class Kind : uint8_t { normal, ids, positions, doc_starts, positive, packed_weight };
  Kind kind = Kind::normal;
  int64_t limit = 0;  // ids: [0, limit); -1 may occur in targets when `ignore` is set
  bool ignore = false;
  bool further = false;  // ids: -2 - id stands in targets as well (ops/head/head.h)
  float scale = 1.0f;    // normal, positive: standard deviation
};

// One row of the list that feeds the reference check, finite differences, the cost check and the benchmark.
struct OpCase {
  std::string name;
  std::string kind;
  Attrs attrs;
  std::vector<TensorType> inputs;  // in f32; the harness also runs the bf16 form where `bf16` is set
  std::vector<InputFill> fills;    // per input; missing entries mean InputFill{}
  bool bf16 = true;
  bool finite_difference = false;  // small enough to differentiate numerically
  bool bench = false;              // of a realistic size: the benchmark runs it
};

struct OpEntry {
  OpDef def;
  ReferenceKernel reference = nullptr;
  std::vector<OpCase> (*cases)() = nullptr;
};

// table.cpp: every op, sorted by name.
std::span<const OpEntry> op_table();
// nullptr when there is no such op.
const OpEntry* find_op(std::string_view name);
// The op must exist.
const OpDef& op_def(std::string_view name);

// Of the values with these ids among `values`; absent_type() for an invalid id.
std::vector<TensorType> types_of(const std::vector<ValueId>& ids, const std::vector<Value>& values);

// The signature of `op` among `values`.
OpSig signature(const Op& op, const std::vector<Value>& values);

}  // namespace trireme
