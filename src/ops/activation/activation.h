// The pointwise function between the two matrices of a feed-forward block.
//
//   activation(x){kind} -> y                      y = f(x), any shape
//   activation_grad(x, dy){kind} -> dx            dx = f'(x) dy; may be done in place of dy
//
//   gelu_tanh   x/2 (1 + tanh(sqrt(2/pi) (x + 0.044715 x^3)))      (Hendrycks & Gimpel 2016; GPT-2)
//   gelu        x Phi(x) with the normal distribution's Phi        (the same paper)
//   relu2       max(x, 0)^2                                        (So et al. 2021, "Primer")
#pragma once
#include <string>

namespace trireme {

struct ActivationAttrs {
  std::string kind = "gelu_tanh";  // gelu_tanh | gelu | relu2

  template <class F>
  void fields(F&& f) {
    f("kind", kind);
  }
};

}  // namespace trireme
