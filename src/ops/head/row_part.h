// What a rank knows of one row of logits of a cut vocabulary, as the ranks exchange it.
#pragma once

namespace trireme {

struct HeadRowPart {
  float top = 0.0f;  // the largest logit; -inf where all is padding
  float sum = 0.0f;  // of exp(logit - top)
  float hit = 0.0f;  // the target's logit; 0 where another rank has it
};

}  // namespace trireme
