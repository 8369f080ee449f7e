// The balancing bias of a router (DeepSeek-V3, section 2.1.2, "auxiliary-loss-free"): after each step an
// expert that was chosen more often than the mean becomes a little less likely, one below it a little more.
//
//   expert_bias(load f32[2,E], scalars f64[16]){rate} -> state f32[2,E], last f32[2,E]   both updated
//
// load: the step's sums over all ranks: how many tokens chose each expert, then how many of those were
// dropped. state[0,e] += rate * sign(mean(load[0]) - load[0,e]); state[1] stays 0; last = load, for metrics.
// A step whose gradient is not finite changes nothing.
#pragma once

namespace trireme {

struct ExpertBiasAttrs {
  double rate = 0;  // 0: the bias stays
  template <class F>
  void fields(F&& f) {
    f("rate", rate);
  }
};

}  // namespace trireme
