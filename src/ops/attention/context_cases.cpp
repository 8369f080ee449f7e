// The shapes of plain attention, on one rank.
#include "ops/attention/context.h"

namespace trireme {
namespace {

std::vector<OpCase> on_one_rank(std::vector<OpCase> cases, std::string_view kind) {
  std::erase_if(cases, [](const OpCase& c) { return c.inputs[0].shape[1] == 1; });  // nothing to cut
  for (OpCase& c : cases) {
    c.kind = kind;
    c.attrs = pack_attrs(ContextAttrs{unpack_attrs<AttentionAttrs>(c.attrs), {}});
    c.bench = false;  // alone it says nothing; bench/context.cpp has ranks
  }
  return cases;
}

}  // namespace

std::vector<OpCase> context_attention_cases(std::string_view kind) {
  return on_one_rank(attention_cases(), kind);
}

std::vector<OpCase> context_attention_grad_cases(std::string_view kind) {
  return on_one_rank(attention_grad_cases(), kind);
}

}  // namespace trireme
