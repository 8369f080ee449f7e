// Every product of the axes on up to 16 ranks: `make parity` runs them all; the tests run so many on up to 8
// that every two settings of two axes meet.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <set>
#include <utility>

#include "dist/parity_forms.h"

namespace trireme {
namespace {

using test::Layout;
using test::RunForm;

struct Limits {
  int64_t ranks = 16;
  bool experts = false;
};

bool is_sound(const Layout& l, const Limits& limits) {
  const int64_t shards = l.shard * l.cp;
  const bool heads_left = l.cp_mode != "ulysses" || l.tp * l.cp <= 4;  // of 4 query and 4 key heads
  return l.ranks() <= limits.ranks && heads_left && shards % l.ep == 0 && (shards > 1 || l.zero == 0);
}

std::vector<Layout> products(const Limits& limits) {
  std::vector<Layout> layouts;
  const auto add = [&](const Layout& layout) {
    if (is_sound(layout, limits)) layouts.push_back(layout);
  };
  for (const int64_t tp : {1, 2, 4})
    for (const bool sequence : {true, false})
      for (const int64_t cp : {1, 2, 4})
        for (const char* mode : {"ring", "allgather", "ulysses"})
          for (const int64_t ep : {1, 2, 4})
            for (const int64_t shard : {1, 2, 4})
              for (int64_t zero = 0; zero < 4; ++zero)
                for (const int64_t pp : {1, 2}) {
                  if ((tp == 1 && !sequence) || (cp == 1 && std::string_view(mode) != "ring")) continue;
                  if (ep > 1 && !limits.experts) continue;
                  for (const int64_t etp : std::set<int64_t>{1, limits.experts ? tp : 1})
                    add({.shard = shard,
                         .zero = zero,
                         .pp = pp,
                         .tp = tp,
                         .sequence = sequence,
                         .cp = cp,
                         .cp_mode = mode,
                         .ep = ep,
                         .etp = etp});
                }
  return layouts;
}

// Those that have two settings together which none before them has.
std::vector<Layout> pairs_of(const std::vector<Layout>& layouts) {
  std::set<std::array<int64_t, 4>> met;
  std::vector<Layout> chosen;
  for (const Layout& l : layouts) {
    const std::array<int64_t, 8> settings = {
        l.tp, l.tp > 1 && l.sequence, l.cp, l.cp_mode[0], l.ep, l.shard, l.zero, l.pp * 10 + l.etp};
    const size_t before = met.size();
    for (int64_t a = 0; a < 8; ++a)
      for (int64_t b = a + 1; b < 8; ++b)
        met.insert({a, settings[static_cast<size_t>(a)], b, settings[static_cast<size_t>(b)]});
    if (met.size() > before + 1) chosen.push_back(l);
  }
  return chosen;
}

RunForm with_four_heads(RunForm form) {
  form.kv_heads = 4;
  return form;
}

TEST(ParityProduct, EveryTwoSettings) {
  expect_parity(test::gpt2_form(), pairs_of(products({8, false})));
  expect_parity(with_four_heads(test::mixtral_form()), pairs_of(products({8, true})));
}

// Says how far it is: it takes long.
void expect_all(const char* name, const RunForm& form, const std::vector<Layout>& layouts) {
  constexpr size_t kAtATime = 25;
  for (size_t i = 0; i < layouts.size(); i += kAtATime) {
    const size_t end = std::min(i + kAtATime, layouts.size());
    expect_parity(form, {layouts.begin() + static_cast<std::ptrdiff_t>(i),
                         layouts.begin() + static_cast<std::ptrdiff_t>(end)});
    std::printf("%s: %zu of %zu layouts\n", name, end, layouts.size());
    std::fflush(stdout);
  }
}

TEST(ParityProduct, DISABLED_Everything) {
  const std::vector<Layout> dense = products({16, false}), experts = products({16, true});
  expect_all("gpt2", test::gpt2_form(), dense);
  expect_all("llama", with_four_heads(test::llama_form()), dense);
  expect_all("mixtral", with_four_heads(test::mixtral_form()), experts);
  expect_all("deepseek", test::deepseek_form(), experts);
}

}  // namespace
}  // namespace trireme
