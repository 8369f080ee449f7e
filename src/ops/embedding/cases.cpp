// Shapes of embedding and embedding_grad: odd widths, ids that repeat, parts of a table, GPT-2 124M.
#include "ops/embedding/embedding.h"
#include "ops/op.h"

namespace trireme {

std::vector<OpCase> embedding_cases() {
  const auto make = [](const char* name, Shape tokens, Shape table) {
    OpCase c;
    c.name = name;
    c.kind = "embedding";
    c.attrs = pack_attrs(EmbeddingAttrs{});
    c.inputs = {{DType::i32, tokens}, {DType::f32, table}};
    c.fills = {{.kind = InputFill::Kind::ids, .limit = table[0]}};
    return c;
  };
  std::vector<OpCase> cases = {make("toy", {2, 64}, {257, 64}), make("odd_width", {3, 5}, {7, 37}),
                               make("one_token", {1, 1}, {2, 1}), make("small", {2, 3}, {4, 5}),
                               make("gpt2_124m", {4, 1024}, {50257, 768})};
  cases[3].finite_difference = true;
  cases[4].bench = true;
  cases.push_back(make("part", {2, 20}, {4, 5}));
  cases.back().attrs = pack_attrs(EmbeddingAttrs{3});
  cases.back().fills[0].limit = 9;
  cases.back().finite_difference = true;
  return cases;
}

std::vector<OpCase> embedding_grad_cases() {
  const auto make = [](const char* name, Shape tokens, int64_t vocab, int64_t width) {
    OpCase c;
    c.name = name;
    c.kind = "embedding_grad";
    c.attrs = pack_attrs(EmbeddingGradAttrs{vocab});
    c.inputs = {{DType::i32, tokens}, {DType::f32, {tokens[0], tokens[1], width}}};
    c.fills = {{.kind = InputFill::Kind::ids, .limit = vocab}};
    return c;
  };
  std::vector<OpCase> cases = {make("toy", {2, 64}, 257, 64), make("repeated_ids", {3, 40}, 3, 37),
                               make("one_token", {1, 1}, 2, 1), make("gpt2_124m", {4, 1024}, 50257, 768)};
  cases[3].bench = true;
  cases.push_back(make("part", {2, 20}, 4, 5));
  cases.back().attrs = pack_attrs(EmbeddingGradAttrs{4, 3});
  cases.back().fills[0].limit = 9;
  return cases;
}

}  // namespace trireme
