// Attributes of adamw.
#pragma once

namespace trireme {

struct AdamwAttrs {
  double beta1 = 0.9, beta2 = 0.999;
  double eps = 1e-8;
  double weight_decay = 0;  // decoupled: the parameter shrinks by lr * weight_decay per step
  template <class F>
  void fields(F&& f) {
    f("beta1", beta1);
    f("beta2", beta2);
    f("eps", eps);
    f("weight_decay", weight_decay);
  }
};

}  // namespace trireme
