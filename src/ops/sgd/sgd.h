// Attributes of sgd.
#pragma once

namespace trireme {

struct SgdAttrs {
  double momentum = 0;      // 0: the gradient alone
  double weight_decay = 0;  // decoupled: the parameter shrinks by lr * weight_decay per step
  template <class F>
  void fields(F&& f) {
    f("momentum", momentum);
    f("weight_decay", weight_decay);
  }
};

}  // namespace trireme
