// From a chain of blocks and a schedule to a Timeline: binds each block's Code to memory (Units), adds what
// the schedule does not speak of (load, unshard, gather, prepare, zero, send, receive, reduce, loss, norm,
// optimizer), and names every buffer that an action uses. place() then gives the buffers their offsets.
#pragma once
#include <string>

#include "lower/comm_groups.h"
#include "lower/group_code.h"
#include "lower/param_groups.h"
#include "lower/sharding.h"
#include "schedule/schedule.h"

namespace trireme {

// What one rank needs to know of the run's layout.
struct RankPlan {
  StageMap map;
  Sharding sharding;
  CommIds comms;
  DType compute =
      DType::bf16;  // of the compute copies; f32 ones are the master weights where these are whole
  BackwardForm form = BackwardForm::whole;  // of the codes
};

// An optimizer step: "train".
void lower_training(Program& program, const std::vector<GroupPlan>& groups, const Chain& chain,
                    const Schedule& schedule, const RankPlan& plan, const UpdateRule& rule);

// Losses of micro-batches with the weights as they are: "eval".
void lower_evaluation(Program& program, const std::vector<GroupPlan>& groups, const Chain& chain,
                      const Schedule& schedule, const RankPlan& plan);

// Generation: "weights" once, then "prefill" for a chunk of the prompt and "decode" for one token, as often
// as needed. Both leave the logits of their last position in program.result; they share the KV caches.
void lower_generation(Program& program, const std::vector<GroupPlan>& groups, const Chain& prefill,
                      const Chain& decode, const RankPlan& plan);

}  // namespace trireme
