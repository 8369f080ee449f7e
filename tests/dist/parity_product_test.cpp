// Every product of the axes on up to 16 ranks: `make parity` runs them all; the tests run so many on up to 8
// that every two settings of two axes meet.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <set>

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

// Two settings of a layout: which axes, and what they are set to.
using Pair = std::array<int64_t, 4>;

std::vector<Pair> pairs_in(const Layout& l) {
  const std::array<int64_t, 8> settings = {l.tp,   l.tp > 1 && l.sequence, l.cp, l.cp_mode[0], l.ep, l.shard,
                                           l.zero, l.pp * 10 + l.etp};
  std::vector<Pair> pairs;
  for (size_t a = 0; a < settings.size(); ++a)
    for (size_t b = a + 1; b < settings.size(); ++b)
      pairs.push_back({static_cast<int64_t>(a), settings[a], static_cast<int64_t>(b), settings[b]});
  return pairs;
}

// So many that every two settings that meet anywhere meet in one of them: one after the other the layout that
// has the most pairs which none before it has.
std::vector<Layout> pairs_of(const std::vector<Layout>& layouts) {
  std::set<Pair> met;
  const auto fresh = [&](const Layout& l) {
    const std::vector<Pair> pairs = pairs_in(l);
    return std::count_if(pairs.begin(), pairs.end(), [&](const Pair& pair) { return !met.contains(pair); });
  };
  std::vector<Layout> chosen;
  for (;;) {
    const auto best = std::max_element(layouts.begin(), layouts.end(),
                                       [&](const Layout& a, const Layout& b) { return fresh(a) < fresh(b); });
    if (fresh(*best) == 0) return chosen;
    for (const Pair& pair : pairs_in(*best)) met.insert(pair);
    chosen.push_back(*best);
  }
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

TEST(ParityProduct, DISABLED_AllOfGpt2) { expect_all("gpt2", test::gpt2_form(), products({16, false})); }
TEST(ParityProduct, DISABLED_AllOfLlama) {
  expect_all("llama", with_four_heads(test::llama_form()), products({16, false}));
}
TEST(ParityProduct, DISABLED_AllOfMixtral) {
  expect_all("mixtral", with_four_heads(test::mixtral_form()), products({16, true}));
}
TEST(ParityProduct, DISABLED_AllOfDeepseek) {
  expect_all("deepseek", test::deepseek_form(), products({16, true}));
}

}  // namespace
}  // namespace trireme
