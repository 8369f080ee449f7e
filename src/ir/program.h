// A Program: everything ONE rank does, as data. Code says what a kind of block computes; a Unit binds Code to
// the memory of one block or parameter group; a Timeline is the order of actions; the MemoryPlan gives every
// buffer an offset in the rank's one arena. The engine, the simulator and the planner walk the same Program.
#pragma once
#include <array>
#include <string>
#include <vector>

#include "base/ids.h"
#include "ir/code.h"
#include "ir/mesh.h"
#include "ir/param_cut.h"

namespace trireme {

using CodeId = Id<struct CodeTag>;
using UnitId = Id<struct UnitTag>;
using ParamId = Id<struct ParamTag>;
using GroupId = Id<struct GroupTag>;
using BufferId = Id<struct BufferTag>;
using ActionId = Id<struct ActionTag>;
using CommId = Id<struct CommTag>;

struct Location {
  BufferId buffer;
  int64_t offset = 0;  // bytes
  bool operator==(const Location&) const = default;
};

// --- parameters -------------------------------------------------------------------------------------------

struct Param {
  std::string name;
  Shape shape;  // of the whole parameter
  ParamRole role = ParamRole::whole;
  ParamCut cut;  // what of it the ranks with this one's place on the block axes have
  GroupId group;
  int64_t offset = 0;  // elements, in the group's flat buffers; a multiple of kParamAlignment
  bool decay = false;
  bool operator==(const Param&) const = default;
};

// Elements: a parameter's start in a flat buffer, and the chunk of the grad norm's partial sums.
inline constexpr int64_t kParamAlignment = 1024;

// The unit of gathering and reducing: one flat buffer per kind of state. Where its state is sharded, a rank
// keeps the slice [shard_begin, shard_begin + shard_elements) of master weights and moments. A program has
// all groups of the model; those of stages that lie on other ranks have no elements here and no buffers.
struct ParamGroup {
  std::string name;
  int64_t elements = 0;  // of the flat buffer: a multiple of kParamAlignment times the number of shards
  int64_t shard_begin = 0, shard_elements = 0;
  int32_t copies = 1, copy = 0;  // ranks of the pipeline that hold it, and which of them this is
  BufferId master;               // f32, shard_elements
  BufferId moment1, moment2;     // f32; invalid where the optimizer has none, or the program does not train
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
  send_act,  // p2p: a stage's output to the rank of the next stage
  recv_act,
  send_grad,  // p2p: the gradient of a stage's input to the rank of the stage before
  recv_grad,
  combine_lanes,  // a lane's gradients are added to those of the lane before
  combine_uses,   // a parameter's gradients from several blocks are added up
  reduce_grad,    // comm: a group's gradients are summed over ranks
  gather_losses,  // comm: the micro-batches' losses from the rank of the last stage
  loss,           // the rank's loss from its micro-batches'
  reduce_loss,    // comm: ... of all data-parallel ranks
  norm_partial,   // a group's partial sums of squares
  gather_norm,    // comm: ... of the other shards, or the groups' sums from the other stages
  group_norm,     // the sum of a group's partial sums
  grad_norm,      // the whole norm, the clip scale, whether the step counts
  optimizer,      // a group's update
};
inline constexpr int kActionKinds = 24;
std::string_view name_of(ActionKind kind);
bool is_backward(ActionKind kind);    // whole, or one of its parts
bool is_update(ActionKind kind);      // compute behind the gradients' sums: norm and optimizer
Section section_of(ActionKind kind);  // which op list the action runs; load, comm and p2p actions run none

// A stream keeps its own order; on p2p, each group of ranks has its own. A comm or p2p action starts once
// every compute action before it in the timeline is done; it is done for a later action that names it in
// `waits`.
enum class Stream : uint8_t {
  compute,
  comm,  // collectives, one after the other
  p2p,   // sends and receives: one transfer each
};
inline constexpr int kStreams = 3;
std::string_view name_of(Stream stream);

// Ranks that communicate with each other: their numbers in the run, in the order in which sums take them. For
// sends and receives there are two, the sender first.
struct CommGroup {
  std::string name;     // "dp", "pp", "3>4"
  int32_t channel = 0;  // tells groups of the same ranks apart
  std::vector<int32_t> ranks;
  bool operator==(const CommGroup&) const = default;
};

enum class CommOp : uint8_t { all_reduce, reduce_scatter, all_gather, send, recv };
inline constexpr int kCommOps = 5;
std::string_view name_of(CommOp op);
inline bool is_message(CommOp op) { return op == CommOp::send || op == CommOp::recv; }

// What moves in a comm or p2p action. all_reduce: in place at `to`, `count` elements. reduce_scatter: `count`
// elements per rank from `from` to `to`. all_gather: `count` elements per rank, from `from` into `to`.
// send: `count` elements at `from`; recv: into `to`.
struct Transfer {
  CommOp op = CommOp::all_reduce;
  CommId comm;
  Location from, to;
  int64_t count = 0;
  DType dtype = DType::f32;
  bool operator==(const Transfer&) const = default;
};

// `count` elements at `at`, summed in place over the group.
inline Transfer all_reduce(CommId comm, const Location& at, int64_t count, DType dtype = DType::f32) {
  return {CommOp::all_reduce, comm, at, at, count, dtype};
}

struct Action {
  ActionKind kind = ActionKind::load;
  UnitId unit;               // invalid for load, comm and p2p actions
  int32_t micro_batch = -1;  // -1 where the action belongs to the step
  Stream stream = Stream::compute;
  std::vector<ActionId> waits;      // on comm and p2p actions
  std::vector<Transfer> transfers;  // of a comm or p2p action, in order

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
  scalar,
  staging  // the copy that a checkpoint is written from, behind the steps that follow
};
inline constexpr int kBufferClasses = 13;
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

struct Program {
  std::string name;
  int32_t rank = 0;
  Mesh mesh;
  std::vector<CommGroup> comms;         // of this rank; on every rank in an order that all ranks share
  std::array<CommId, kBlockAxes> axes;  // of ops that communicate, by the axis they name; invalid: none does
  int32_t threads = 1;                  // what kernels' scratch is planned for
  std::vector<BatchField> batch;
  int64_t batch_bytes = 0;
  std::vector<Param> params;
  std::vector<ParamGroup> groups;
  std::vector<Code> codes;
  std::vector<CodeLayout> layouts;  // by code
  std::vector<Unit> units;
  std::vector<Timeline> timelines;
  MemoryPlan memory;
  BufferId staging;  // f32: what the rank writes of a checkpoint; invalid where it is written in place
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
