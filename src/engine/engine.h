// Runs a Program on a Device, with Communicators: allocates the arena, prepares every kernel, then walks
// timelines. It knows ops only as kernels and pointers, and comm actions as transfers: no model, no schedule,
// no kind of parallelism.
#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "comm/axis_comm.h"
#include "comm/comm_worker.h"
#include "device/device.h"
#include "ir/program.h"

namespace trireme {

// Host arrays of one micro-batch, in the order of Program::batch.
using BatchArrays = std::vector<const void*>;

// Where the time goes, by op.
struct OpTime {
  double seconds = 0;
  int64_t calls = 0;
};
using Profile = std::map<std::string, OpTime>;

enum class ParamState : uint8_t { master, moment1, moment2 };

// By CommId of the program: this rank's communicator of each group.
using Communicators = std::span<Communicator* const>;

// Part of a parameter's state: `values` are the whole parameter's elements from `first` on, in the arena.
struct StatePiece {
  int64_t first = 0;
  std::span<float> values;
};

// When an action ran, by seconds_now().
struct ActionTime {
  double start_s = 0, end_s = 0;
};
enum class Timing : uint8_t { off, on };

// An op inside a block that talked to the other ranks of an axis. What it handed to the axis's queue are
// calls of their own, beside its compute.
struct AxisCall {
  size_t action = 0;  // of the timeline
  std::string_view op;
  BlockAxis axis = BlockAxis::tp;
  ActionTime time;
  int64_t sent_bytes = 0;  // by this rank
};

class Engine {
 public:
  // All must outlive the engine. EnvError when the arena cannot be had. Where the host cannot address the
  // arena nothing moves, and no communicators are needed.
  Engine(const Program& program, Device& device, Communicators communicators = {});

  const Program& program() const { return program_; }

  // Runs a timeline of the program from start to end; `batches` has an entry per micro-batch of the timeline.
  // Complete on return.
  void run(const Timeline& timeline, std::span<const BatchArrays> batches);

  // f32 state of a whole parameter, count(shape) elements, of which this rank keeps those of its slice that
  // are in its shard, if any: the others are left as they are.
  void write_state(ParamId param, ParamState state, std::span<const float> values);
  void read_state(ParamId param, ParamState state, std::span<float> values) const;
  // The same in place, on devices whose arena the host can address; empty on others.
  bool host_addressable() const { return device_.host_addressable(); }
  std::vector<StatePiece> state_pieces(ParamId param, ParamState state) const;
  // This rank's shard of a group's state, where StateBox::at counts (ir/state_boxes.h); likewise in place.
  std::span<float> shard(GroupId group, ParamState state) const;
  // Program::staging, likewise; empty where there is none.
  std::span<std::byte> staging() const;

  // Seconds so far that compute has waited for communication.
  double exposed_comm_s() const;

  // A lasting buffer (scalars, result), from its start.
  void write_buffer(BufferId buffer, const void* from, int64_t bytes);
  void read_buffer(BufferId buffer, void* to, int64_t bytes) const;

  // Takes the time of every action of the runs that follow, or no longer does so. Synchronises after each.
  void time_actions(Timing timing) { timing_ = timing; }
  // By action of the timeline that ran last with Timing::on. Of a comm or p2p action it is when it was at
  // work, waiting for the other ranks included, not when it was handed in.
  std::span<const ActionTime> action_times() const { return times_; }
  // Likewise.
  std::span<const AxisCall> axis_calls() const { return axis_calls_; }

  // Adds each op's time to `profile` from now on; nullptr stops that. Profiling synchronises after every op.
  void profile_into(Profile* profile) { profile_ = profile; }

 private:
  struct PreparedSection {
    std::vector<const Op*> ops;
    std::vector<KernelId> kernels;
    std::vector<bool> has_scratch;
    std::vector<const AxisComm*> comms;  // of ops that communicate, else null
  };

  // Where the elements [first, first + count) of a whole parameter lie.
  struct StatePlace {
    Location location;
    int64_t first = 0, count = 0;
  };

  // A piece of work handed to a queue: done when `count` of the queue's are.
  struct Ticket {
    size_t queue = 0;
    int64_t count = 0;
  };

  static size_t queue_of(const Action& action);
  void prepare(const Action& action);
  const AxisComm* comm_of(const Op& op);
  void start(const Action& action, size_t index, std::span<const BatchArrays> batches, Ticket& ticket);
  Ticket submit(const Action& action, ActionTime* time);
  void transfer(const Transfer& transfer, std::string_view what) const;
  void load(const Action& action, const BatchArrays& arrays);
  void run_action(const Action& action, size_t index);
  void note_axis_calls(const Op& op, size_t axis, size_t action, const ActionTime& time, int64_t sent);
  std::byte* pointer(const Action& action, const Unit& unit, const CodeLayout& layout, const Code& code,
                     ValueId id) const;
  std::byte* at(const Location& location) const;
  BufferId state_buffer(const ParamGroup& group, ParamState state) const;
  std::vector<StatePlace> state_places(ParamId param, ParamState state) const;

  const Program& program_;
  Device& device_;
  std::byte* arena_ = nullptr;
  std::vector<std::array<PreparedSection, kSections>> prepared_;  // by code
  std::vector<std::vector<int32_t>> ordinals_;  // by code and value: its place among values of its role
  std::vector<Communicator*> communicators_;    // by CommId
  std::array<AxisComm, kBlockAxes> axes_;       // of ops that communicate
  std::array<std::vector<QueuedSpan>, kBlockAxes> queued_;  // by the op at hand, with Timing::on
  Profile* profile_ = nullptr;
  Timing timing_ = Timing::off;
  std::vector<ActionTime> times_;
  std::vector<AxisCall> axis_calls_;
  // The comm stream's, then one per comm group for the p2p stream, so that neither sends, receives nor
  // collectives wait behind each other; null where nothing uses it. Last: they work on the rest.
  std::vector<std::unique_ptr<CommWorker>> queues_;
  std::array<std::unique_ptr<CommWorker>, kBlockAxes> axis_queues_;  // beside the kernels of ops
};

}  // namespace trireme
