// y = x + bias along the last dim, where a linear layer cannot add its bias itself: behind the sum over the
// ranks that each hold a part of the layer's inputs.
//
//   add_bias(x[..,C], bias[C]) -> y[..,C]
//   add_bias_grad(dy[..,C]) -> dbias f32[C] +=
#pragma once
