// The state of one lowering: the timeline that grows, where each parameter's compute copy, gradient and
// packed forms lie, and the units made so far. lower.cpp says in which order things happen; this says what
// each one touches. Sources: timeline_builder.cpp (units, actions, micro-batches), build_weights.cpp,
// build_gradients.cpp, build_moves.cpp, build_update.cpp.
#pragma once
#include <deque>
#include <map>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "lower/block_steps.h"
#include "lower/lower.h"
#include "lower/stage_moves.h"

namespace trireme {

class TimelineBuilder {
 public:
  TimelineBuilder(Program& program, const std::vector<GroupPlan>& groups, const Chain& chain,
                  const RankPlan& plan);

  // Starts a timeline; buffers made from now on live within it, or as long as the program where `lasting`.
  void start(std::string name, int32_t micro_batches);
  enum class Life : uint8_t { timeline, lasting };

  // Weights that are whole on this rank: compute copies and packed forms, made up front, once per timeline or
  // once for all.
  void make_weights(Life life);

  // This rank's rows of the schedule. Weights that are cut among ranks are fetched as needed, some steps
  // ahead; what comes from another stage is asked for a row ahead; gradients are summed lane by lane and over
  // ranks.
  void run(const Schedule& schedule);
  void forward(int32_t micro_batch);  // one of them through all blocks, with weights that are there

  void loss();  // of all ranks
  void update(const UpdateRule& rule);

  // The same weights for another chain over the same parameters.
  void use_chain(const Chain& chain);

 private:
  struct Fetch {
    ActionId gather;    // comm action that fills it; invalid where this rank has all of it
    BufferId gathered;  // the compute copy
  };
  struct Copies {
    Location resident, transient;  // compute copies
    std::deque<Fetch> fetches;     // begun for later steps
  };
  struct Reduced {  // a gradient summed over data-parallel ranks: this rank's shard
    Location at;
    ActionId ready;  // comm action that makes it; invalid: compute did
  };
  struct Sums {                                            // of a gradient slot
    std::map<int64_t, BufferId> open;                      // by lane: accumulators
    std::map<int64_t, std::pair<int64_t, BufferId>> done;  // by first lane: sums of so many lanes
    Reduced pending;                                       // of the latest micro-batch
    Reduced whole;
  };
  struct MicroBatch {
    BufferId batch;
    std::vector<BufferId> saved, held;               // by block
    std::vector<std::vector<Location>> activations;  // by boundary: boundary b is the output of block b
    std::vector<std::vector<Location>> gradients;    // by boundary
    std::map<std::pair<Move::Kind, size_t>, std::vector<ActionId>> arriving;  // by boundary
  };
  struct Join {
    ActionId action;
    size_t due = 0;  // the step or row that waits for it
  };

  // --- units and actions (timeline_builder.cpp)
  UnitId add_unit(std::string name, Code code, const std::vector<std::pair<std::string, Location>>& bound);
  UnitId unit_of(size_t block, int64_t lane);
  Action& add_action(ActionKind kind, UnitId unit, int32_t micro_batch);
  ActionId add_comm(ActionKind kind, std::vector<Transfer> transfers);
  void add_block_action(ActionKind kind, size_t block, int32_t micro_batch);
  void load(int32_t micro_batch);
  void run_step(const std::vector<BlockStep>& steps, const std::vector<std::vector<size_t>>& fetches,
                size_t i);
  void run_block(ActionKind kind, size_t block, int32_t micro_batch);
  void take_due(std::vector<Join>& joins, size_t now);
  BufferId buffer(const std::string& name, BufferClass cls, int64_t bytes);
  std::vector<Location> boundary(const std::string& name, CodeId code, ValueRole role);
  std::vector<Location> result(int32_t micro_batch);
  BufferId zeroed(const std::string& name, BufferClass cls, int64_t bytes);

  // --- weights (build_weights.cpp)
  Location param_location(ParamId id, DType dtype) const;
  Location prepared_location(const ChainBlock& block, const Op& op, size_t output);
  void prepare_blocks_of(GroupId last);
  void prepare(size_t block);
  void start_fetch(size_t group);
  void finish_fetch(size_t group);

  // --- gradients (build_gradients.cpp)
  void bind_gradients(size_t block, int64_t lane, Unit& unit) const;
  void open_lane(const Addition& addition);
  void close_lane(const Addition& addition, size_t step);
  void add_up(const char* what, ActionKind kind, size_t group, const Location& earlier, const Location& later,
              int64_t elements);
  std::vector<Transfer> tp_sums(size_t group, BufferId gradient) const;
  Reduced reduce(size_t slot, BufferId gradient, size_t step);
  void add_pending(size_t slot);
  void add_copies(size_t slot);
  void finish_gradients();
  void add_uses(size_t group);

  // --- what passes between stages (build_moves.cpp)
  void start_moves(const Schedule& schedule);
  void ask(size_t row);
  void send(size_t row);
  void finish_moves();
  size_t boundary_of(const Move& move) const;
  ActionId move(ActionKind kind, CommOp op, int32_t peer, int32_t micro_batch, const Location& at,
                const TensorType& type);

  // --- update (build_update.cpp)
  enum class Summed : uint8_t { here, over_ranks };
  BufferId sums_buffer(const char* name, int64_t sums, Summed summed);  // f64
  void gather_sums(CommId comm, const Location& sums, int64_t count);
  void norm_partial(size_t group, const Location& at);
  BufferId group_norms();
  void router_state(size_t group, const UpdateRule& rule);
  void optimizer(size_t group, const UpdateRule& rule);

  const ParamGroup& group(size_t g) const { return program_.groups[g]; }
  bool sharded() const { return plan_.sharding.cuts(); }
  bool is_cut(size_t g) const { return plan_.sharding.of(groups_[g].domain).count > 1; }
  bool pipelined() const { return program_.mesh.pp > 1; }
  int64_t lanes() const;  // of gradients
  int64_t micro_batches_per_lane() const;

  Program& program_;
  const std::vector<GroupPlan>& groups_;
  const Chain* chain_;
  const RankPlan& plan_;
  std::vector<GradientSlot> slots_;

  int32_t timeline_ = -1;       // in the program
  int32_t weights_life_ = -1;   // the timeline in which compute copies live, or kLasting
  std::vector<Copies> copies_;  // by group
  std::map<std::pair<ParamId, std::string>, Location> prepared_;  // by parameter and op text
  std::vector<bool> packed_;                                      // by block: its prepared values are there
  std::map<std::string, Location> caches_;                        // by block and value: KV caches
  std::map<std::string, CodeId> group_codes_;                     // by code name
  std::vector<std::unordered_multimap<size_t, UnitId>> units_;    // by block of the chain and what is bound
  std::vector<MicroBatch> micro_batches_;
  std::vector<Sums> sums_;          // by slot
  std::vector<size_t> slot_of_;     // by group: what holds its whole gradient in the end
  std::vector<RowMoves> moves_;     // by row
  std::vector<Join> joins_, sent_;  // reduces that a step, and sends that a row is to wait for
  std::vector<ActionId> waits_;     // what the next compute action waits for
  size_t fetched_ = 0;              // steps whose fetches have begun
  BufferId losses_;
};

}  // namespace trireme
