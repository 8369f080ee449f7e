// The state of one lowering: the timeline that grows, where each parameter's compute copy, gradient and
// packed forms lie, and the units made so far. lower.cpp says in which order things happen; this says what
// each one touches.
#pragma once
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "lower/chain.h"
#include "lower/group_code.h"
#include "lower/param_groups.h"

namespace trireme {

class TimelineBuilder {
 public:
  // compute: the dtype of the compute copies; f32 copies are the master weights themselves.
  TimelineBuilder(Program& program, const std::vector<GroupPlan>& groups, const Chain& chain, DType compute);

  // Starts a timeline; buffers made from now on live within it, or as long as the program where `lasting`.
  void start(std::string name, int32_t micro_batches);
  enum class Life : uint8_t { timeline, lasting };

  // Weights: compute copies and packed forms. Done once per timeline or once for all.
  void place_weights(Life life);
  void place_gradients();
  void bind_blocks();  // after weights (and gradients)

  void unshard_and_prepare();
  void zero_gradients();
  void load(int32_t micro_batch);
  void forward(int32_t micro_batch);
  void backward(int32_t micro_batch);
  void loss();
  void update(const UpdateRule& rule);

  // The same weights for another chain over the same parameters.
  void use_chain(const Chain& chain) { chain_ = &chain; }

 private:
  struct Copies {
    Location resident, transient;  // compute copies
    BufferId gradient;
  };
  struct MicroBatch {
    BufferId batch;
    std::vector<BufferId> saved;                     // by block
    std::vector<std::vector<Location>> activations;  // by boundary: boundary b is the output of block b
    std::vector<std::vector<Location>> gradients;    // by boundary
  };

  Location param_location(ParamId id) const;
  Location prepared_location(const ChainBlock& block, const Op& op, size_t output);
  UnitId add_unit(std::string name, Code code, const std::vector<std::pair<std::string, Location>>& bound);
  Unit bind(const ChainBlock& block);
  void bind_gradients(const ChainBlock& block, Unit& unit);
  Action& add_action(ActionKind kind, UnitId unit, int32_t micro_batch);
  void add_block_action(ActionKind kind, size_t block, int32_t micro_batch);
  void prepare_blocks_of(GroupId last);
  BufferId buffer(const std::string& name, BufferClass cls, int64_t bytes);
  std::vector<Location> boundary(const std::string& name, CodeId code, ValueRole role);
  std::vector<Location> result(int32_t micro_batch);
  const ParamGroup& group(size_t g) const { return program_.groups[g]; }

  Program& program_;
  const std::vector<GroupPlan>& groups_;
  const Chain* chain_;
  DType compute_;

  int32_t timeline_ = -1;       // in the program
  int32_t weights_life_ = -1;   // the timeline in which compute copies live, or kLasting
  std::vector<Copies> copies_;  // by group
  std::map<std::pair<ParamId, std::string>, Location> prepared_;  // by parameter and op text
  std::map<std::string, Location> caches_;                        // by block and value: KV caches
  std::map<std::string, CodeId> group_codes_;                     // by code name
  std::vector<UnitId> units_;                                     // by block of the chain
  std::vector<MicroBatch> micro_batches_;
  BufferId losses_;
};

}  // namespace trireme
