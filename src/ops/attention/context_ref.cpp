// The oracle of attention over the context axis: with one rank it is plain attention. What more ranks do is
// held against that in tests/ops/ranks/.
#include "ops/attention/context.h"

namespace trireme {
namespace {

OpSig plain(const OpSig& sig) {
  const auto a = unpack_attrs<ContextAttrs>(sig.attrs);
  CHECK(a.at.ranks == 1, "the oracle of {} knows one rank, not {}", sig.kind, a.at.ranks);
  OpSig out = sig;
  out.attrs = pack_attrs(a.attention);
  return out;
}

}  // namespace

void context_attention_reference(const OpSig& sig, const Operands& operands) {
  attention_reference(plain(sig), operands);
}

void context_attention_grad_reference(const OpSig& sig, const Operands& operands) {
  attention_grad_reference(plain(sig), operands);
}

}  // namespace trireme
