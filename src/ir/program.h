// A Program: everything ONE rank does, as data. Code says what a kind of block computes; a Unit binds Code to
// the memory of one block or parameter group; a Timeline is the order of actions; the MemoryPlan gives every
// buffer an offset in the rank's one arena. The engine, the simulator and the planner walk the same Program.
#pragma once
#include <array>
#include <string>
#include <vector>

#include "base/ids.h"
#include "ir/code.h"

namespace trireme {

using CodeId = Id<struct CodeTag>;
using UnitId = Id<struct UnitTag>;
using ParamId = Id<struct ParamTag>;
using GroupId = Id<struct GroupTag>;
using BufferId = Id<struct BufferTag>;
using ActionId = Id<struct ActionTag>;

struct Location {
  BufferId buffer;
  int64_t offset = 0;  // bytes
  bool operator==(const Location&) const = default;
};

// --- parameters -------------------------------------------------------------------------------------------

struct Param {
  std::string name;
  Shape shape;
  GroupId group;
  int64_t offset = 0;  // elements, in the group's flat buffers; a multiple of kParamAlignment
  bool decay = false;
  bool operator==(const Param&) const = default;
};

// Elements: a parameter's start in a flat buffer, and the chunk of the grad norm's partial sums.
inline constexpr int64_t kParamAlignment = 1024;

// The unit of gathering and reducing: one flat buffer per kind of state. Where its state is sharded, a rank
// keeps the slice [shard_begin, shard_begin + shard_elements) of master weights and moments.
struct ParamGroup {
  std::string name;
  int64_t elements = 0;  // of the flat buffer: a multiple of kParamAlignment times the number of shards
  int64_t shard_begin = 0, shard_elements = 0;
  BufferId master;            // f32, shard_elements
  BufferId moment1, moment2;  // f32; invalid when the program does not train
  bool operator==(const ParamGroup&) const = default;
};

// --- code at work -----------------------------------------------------------------------------------------

// Offsets of a Code's values inside the buffers that an action brings. What a value's role is says which
// buffer: local -> workspace, saved -> saved, held -> held, batch -> batch. Others are bound by the unit or
// the action.
struct CodeLayout {
  std::vector<int64_t> offset;  // by value, bytes; -1 when not placed here
  int64_t saved_bytes = 0;
  int64_t held_bytes = 0;
  std::array<int64_t, kSections> workspace_bytes{};     // locals and scratch
  std::array<std::vector<int64_t>, kSections> scratch;  // by op of the section: offset in the workspace
  bool operator==(const CodeLayout&) const = default;
};

struct Unit {
  std::string name;  // "layers.3", "layers.3/optimizer"
  CodeId code;
  std::vector<Location> bound;  // by value: params, param_grads, prepared, state; invalid for the rest
  bool operator==(const Unit&) const = default;
};

// --- the order of work ------------------------------------------------------------------------------------

enum class ActionKind : uint8_t {
  load,           // the micro-batch's tokens, targets, ... from the loader
  unshard,        // a group's compute copy from its master weights (of its own shard, where sharded)
  gather_params,  // comm: the other ranks' shards of the compute copy
  prepare,        // a block's prepared values (packed weights)
  zero,           // a group's gradient accumulators
  forward,
  backward,  // both parts
  backward_input,
  backward_weight,
  combine_lanes,  // a lane's gradients are added to those of the lane before
  reduce_grad,    // comm: a group's gradients are summed over data-parallel ranks
  loss,           // the rank's loss from its micro-batches'
  reduce_loss,    // comm: ... of all ranks
  norm_partial,   // a group's partial sums of squares
  gather_norm,    // comm: ... of the other shards
  grad_norm,      // the whole norm, the clip scale, whether the step counts
  optimizer,      // a group's update
};
inline constexpr int kActionKinds = 17;
std::string_view name_of(ActionKind kind);
Section section_of(ActionKind kind);  // which op list the action runs; load and comm actions run none

// A stream keeps its own order. A comm action starts once every compute action before it in the timeline is
// done; it is done for a later action that names it in `waits`.
enum class Stream : uint8_t { compute, comm };
std::string_view name_of(Stream stream);

// Which ranks take part: all data-parallel ranks, or those of one of its two axes.
enum class CommAxis : uint8_t { dp, dp_shard, dp_replicate };
inline constexpr int kCommAxes = 3;
std::string_view name_of(CommAxis axis);

enum class CommOp : uint8_t { all_reduce, reduce_scatter, all_gather };
inline constexpr int kCommOps = 3;
std::string_view name_of(CommOp op);

// One collective of a comm action. all_reduce: in place at `to`, `count` elements. reduce_scatter: `count`
// elements per rank from `from` to `to`. all_gather: `count` elements per rank, from `from` into `to`.
struct Transfer {
  CommOp op = CommOp::all_reduce;
  CommAxis axis = CommAxis::dp;
  Location from, to;
  int64_t count = 0;
  DType dtype = DType::f32;
  bool operator==(const Transfer&) const = default;
};

struct Action {
  ActionKind kind = ActionKind::load;
  UnitId unit;               // invalid for load and comm actions
  int32_t micro_batch = -1;  // -1 where the action belongs to the step
  Stream stream = Stream::compute;
  std::vector<ActionId> waits;      // on comm actions
  std::vector<Transfer> transfers;  // of a comm action, in order

  // Memory, by value role.
  BufferId workspace, saved, held, batch;
  std::vector<Location> inputs, outputs, input_grads, output_grads;
  bool operator==(const Action&) const = default;
};

struct Timeline {
  std::string name;  // "train", "eval", "prefill", "decode"
  int32_t micro_batches = 0;
  std::vector<Action> actions;
  bool operator==(const Timeline&) const = default;
};

// --- memory -----------------------------------------------------------------------------------------------

enum class BufferClass : uint8_t {
  master,
  moment,
  gradient,
  compute,
  prepared,
  activation,
  saved,
  held,
  workspace,
  batch,
  cache,
  scalar
};
inline constexpr int kBufferClasses = 12;
std::string_view name_of(BufferClass cls);

struct Buffer {
  std::string name;
  BufferClass cls = BufferClass::workspace;
  int64_t bytes = 0;
  int64_t offset = -1;    // in the arena; a multiple of kBufferAlignment
  int32_t timeline = -1;  // -1: lives as long as the program
  ActionId first, last;   // the actions of that timeline between which it lives
  bool operator==(const Buffer&) const = default;
};

inline constexpr int64_t kBufferAlignment = 64;

struct MemoryPlan {
  std::vector<Buffer> buffers;
  int64_t arena_bytes = 0;
  bool operator==(const MemoryPlan&) const = default;
};

// --- all of it --------------------------------------------------------------------------------------------

// What the loader fills for one micro-batch, at fixed offsets of the batch buffer.
struct BatchField {
  std::string name;  // tokens, targets, positions, doc_start, length
  TensorType type;
  int64_t offset = 0;
  bool operator==(const BatchField&) const = default;
};

// The ranks of the run, outermost axis first, and this program's place: rank = replicate * dp_shard + shard.
struct Mesh {
  int32_t dp_replicate = 1, dp_shard = 1;
  int32_t ranks() const { return dp_replicate * dp_shard; }
  bool operator==(const Mesh&) const = default;
};

int32_t size_of(const Mesh& mesh, CommAxis axis);
// The ranks that take part with `rank`, itself included, in their order.
std::vector<int> members_of(const Mesh& mesh, CommAxis axis, int32_t rank);

struct Program {
  std::string name;
  int32_t rank = 0;
  Mesh mesh;
  int32_t threads = 1;  // what kernels' scratch is planned for
  std::vector<BatchField> batch;
  int64_t batch_bytes = 0;
  std::vector<Param> params;
  std::vector<ParamGroup> groups;
  std::vector<Code> codes;
  std::vector<CodeLayout> layouts;  // by code
  std::vector<Unit> units;
  std::vector<Timeline> timelines;
  MemoryPlan memory;
  BufferId scalars;  // f64, slots in ops/grad_norm/grad_norm.h; invalid when the program does not train
  BufferId
      result;  // what a timeline leaves: f64[2], sums of token nll and of z-loss terms; or f32[B,V] logits
  bool operator==(const Program&) const = default;

  const Buffer& buffer(BufferId id) const { return memory.buffers[static_cast<size_t>(id.index)]; }
  const Code& code(CodeId id) const { return codes[static_cast<size_t>(id.index)]; }
  const Unit& unit(UnitId id) const { return units[static_cast<size_t>(id.index)]; }
};

// nullptr when the program has no such timeline.
const Timeline* find_timeline(const Program& program, std::string_view name);

}  // namespace trireme
