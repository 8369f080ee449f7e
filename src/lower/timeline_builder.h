// The state of one lowering: the timeline that grows, where each parameter's compute copy, gradient and
// packed forms lie, and the units made so far. lower.cpp says in which order things happen; this says what
// each one touches. Sources: timeline_builder.cpp (units, actions, micro-batches), build_weights.cpp,
// build_gradients.cpp, build_update.cpp.
#pragma once
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "lower/block_steps.h"
#include "lower/chain.h"
#include "lower/comm_groups.h"
#include "lower/group_code.h"
#include "lower/param_groups.h"
#include "lower/sharding.h"

namespace trireme {

class TimelineBuilder {
 public:
  // compute: the dtype of the compute copies; f32 copies are the master weights themselves where these are
  // whole.
  TimelineBuilder(Program& program, const std::vector<GroupPlan>& groups, const Chain& chain,
                  const CommIds& comms, const Sharding& sharding, DType compute);

  // Starts a timeline; buffers made from now on live within it, or as long as the program where `lasting`.
  void start(std::string name, int32_t micro_batches);
  enum class Life : uint8_t { timeline, lasting };

  // Weights that are whole on this rank: compute copies and packed forms, made up front, once per timeline or
  // once for all.
  void make_weights(Life life);

  // Micro-batches through the blocks. Weights that are cut among ranks are fetched as needed, a step ahead;
  // where steps go backward, gradients are summed lane by lane and over ranks.
  void run(const std::vector<ScheduleStep>& rows);
  void forward(int32_t micro_batch);  // one of them, with weights that are there

  void loss();  // of all ranks
  void update(const UpdateRule& rule);

  // The same weights for another chain over the same parameters.
  void use_chain(const Chain& chain);

 private:
  struct Copies {
    Location resident, transient;        // compute copies
    ActionId gather;                     // comm action that fills them, until something has waited for it
    BufferId gathered;                   // what it fills
    std::vector<BufferId> gradients;     // accumulators, by depth in the stack of lanes
    Location reduced;                    // this rank's shard of the whole gradient
    ActionId reduce;                     // comm action that makes it
    size_t first_add = 0, last_add = 0;  // steps of the current lane that add to the gradient
  };
  struct MicroBatch {
    BufferId batch;
    std::vector<BufferId> saved;                     // by block
    std::vector<std::vector<Location>> activations;  // by boundary: boundary b is the output of block b
    std::vector<std::vector<Location>> gradients;    // by boundary
  };
  struct Join {
    ActionId action;
    size_t due = 0;  // the step that waits for it
  };

  // --- units and actions (timeline_builder.cpp)
  UnitId add_unit(std::string name, Code code, const std::vector<std::pair<std::string, Location>>& bound);
  UnitId unit_of(size_t block);
  Action& add_action(ActionKind kind, UnitId unit, int32_t micro_batch);
  ActionId add_comm(ActionKind kind, std::vector<Transfer> transfers);
  void add_block_action(ActionKind kind, size_t block, int32_t micro_batch);
  void load(int32_t micro_batch);
  void join_due(size_t step);
  void run_forward(size_t block, int32_t micro_batch);
  void run_backward(size_t block, int32_t micro_batch);
  BufferId buffer(const std::string& name, BufferClass cls, int64_t bytes);
  std::vector<Location> boundary(const std::string& name, CodeId code, ValueRole role);
  std::vector<Location> result(int32_t micro_batch);

  // --- weights (build_weights.cpp)
  Location param_location(ParamId id) const;
  Location prepared_location(const ChainBlock& block, const Op& op, size_t output);
  void prepare_blocks_of(GroupId last);
  void prepare(size_t block);
  void start_fetch(size_t group);
  void finish_fetch(size_t group);

  // --- gradients (build_gradients.cpp)
  void bind_gradients(const ChainBlock& block, Unit& unit) const;
  void start_lane(const std::vector<BlockStep>& steps, size_t step);
  void before_adds(const BlockStep& step, size_t index);
  void after_adds(const BlockStep& step, size_t index);
  void zero_gradient(size_t group);
  void combine_lanes(size_t group);
  void reduce_gradient(size_t group, size_t step);

  // --- update (build_update.cpp)
  BufferId norm_partials();
  void optimizer(size_t group, const UpdateRule& rule);

  const ParamGroup& group(size_t g) const { return program_.groups[g]; }
  bool sharded() const { return sharding_.shards > 1; }
  int32_t ranks() const { return program_.mesh.ranks(); }

  Program& program_;
  const std::vector<GroupPlan>& groups_;
  const Chain* chain_;
  CommIds comms_;
  Sharding sharding_;
  DType compute_;

  int32_t timeline_ = -1;       // in the program
  int32_t weights_life_ = -1;   // the timeline in which compute copies live, or kLasting
  std::vector<Copies> copies_;  // by group
  std::map<std::pair<ParamId, std::string>, Location> prepared_;  // by parameter and op text
  std::vector<bool> packed_;                                      // by block: its prepared values are there
  std::map<std::string, Location> caches_;                        // by block and value: KV caches
  std::map<std::string, CodeId> group_codes_;                     // by code name
  std::vector<UnitId> units_;                                     // by block of the chain: the last one
  std::vector<MicroBatch> micro_batches_;
  int64_t lane_ = 0;
  size_t depth_ = 0;             // of the current lane's accumulators
  std::vector<Join> joins_;      // comm actions that some step is to wait for
  std::vector<ActionId> waits_;  // what the next compute action waits for
  BufferId losses_;
};

}  // namespace trireme
