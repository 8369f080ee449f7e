// Graph -> Code: the backward pass from the gradient rules of the ops, in reverse order, and what is saved
// for it.
//
//   graph:  op y = linear(x, w, _) {...}             return y
//   code:   forward        y = linear(x, w, _)
//           backward.input  x.grad = linear_grad_input(y.grad, w)
//           backward.weight w.grad, _ = linear_grad_weight(x, y.grad)
//
// Before: a verified Graph. After: graph outputs have role output (a loss, of dtype f64, gets no output_grad:
// its gradient is 1); inputs that want one have an input_grad; forward values that backward reads are
// `saved`.
#pragma once
#include "ir/code.h"
#include "ops/placing.h"

namespace trireme {

// tp: the ranks over which the gradient of a value that all of them have whole, but of which each has used a
// part, is summed.
Code autodiff(const Graph& graph, BackwardForm form, const AxisAttrs& tp = {});

// The forward alone, for evaluation and generation: nothing is saved.
Code forward_only(const Graph& graph);

}  // namespace trireme
