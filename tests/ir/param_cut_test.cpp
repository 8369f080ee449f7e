// What of a parameter each rank has, against a slow way that asks every element for its owner.
#include "ir/param_cut.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <stdexcept>

#include "ir/small_program.h"
#include "ir/text.h"

namespace trireme {
namespace {

struct Form {
  const char* name;
  ParamUse use;
  Shape whole;
};

// Everything divides by 4 but the vocabulary.
std::vector<Form> forms() {
  return {{"gain", {}, {6}},
          {"column", {ParamRole::column, {}, 1}, {8, 3}},
          {"column's bias", {ParamRole::column, {}, 1}, {8}},
          {"qkv by heads", {ParamRole::column, {16, 8, 8}, 2}, {32, 3}},
          {"bias of qkv", {ParamRole::column, {16, 8, 8}, 2}, {32}},
          {"gate and up", {ParamRole::column, {12, 12}, 1}, {24, 5}},
          {"row", {ParamRole::row, {}, 2}, {3, 8}},
          {"row in parts", {ParamRole::row, {8, 4}, 1}, {3, 12}},
          {"vocabulary that divides", {ParamRole::vocabulary, {}, 1}, {12, 3}},
          {"vocabulary with padding", {ParamRole::vocabulary, {}, 1}, {10, 3}},
          {"vocabulary with a rank of padding alone", {ParamRole::vocabulary, {}, 1}, {9, 3}},
          {"experts' gate and up", {ParamRole::expert_column, {8, 8}, 1}, {4, 16, 3}},
          {"experts' down", {ParamRole::expert_row, {}, 1}, {4, 3, 8}},
          {"router's state", {ParamRole::router_state, {}, 1}, {2, 4}}};
}

std::vector<ParamAxes> all_ranks() {
  std::vector<ParamAxes> all;
  for (const int64_t tp : {1, 2, 4})
    for (const int64_t ep : {1, 2, 4})
      for (const int64_t etp : tp == 1 ? std::vector<int64_t>{1} : std::vector<int64_t>{1, tp})
        for (int64_t t = 0; t < tp; ++t)
          for (int64_t e = 0; e < ep; ++e) all.push_back({tp, t, ep, e, etp});
  return all;
}

std::string name_of(const Form& form, const ParamAxes& axes) {
  return fmt::format("{}, tp {} of {}, ep {} of {}, etp {}", form.name, axes.tp_rank, axes.tp, axes.ep_rank,
                     axes.ep, axes.etp);
}

// --- the slow way ------------------------------------------------------------------------------------------

bool is_expert(const ParamUse& use) {
  return use.role == ParamRole::expert_column || use.role == ParamRole::expert_row;
}

// Of n ranks, the one that has index i of a dim that is cut in parts.
int64_t owner(int64_t i, int64_t length, const std::vector<int64_t>& parts, int64_t n) {
  for (const int64_t part : parts.empty() ? std::vector<int64_t>{length} : parts) {
    if (i < part) return i * n / part;
    i -= part;
  }
  return -1;
}

// The indexes of a dim that the rank has, in order.
std::vector<int64_t> owned(const Form& form, size_t dim, const ParamAxes& axes) {
  const std::map<ParamRole, size_t> cut_on_tp = {{ParamRole::column, 0},
                                                 {ParamRole::vocabulary, 0},
                                                 {ParamRole::row, 1},
                                                 {ParamRole::expert_column, 1},
                                                 {ParamRole::expert_row, 2}};
  const auto found = cut_on_tp.find(form.use.role);
  const int64_t length = form.whole[dim], tensor = is_expert(form.use) ? axes.etp : axes.tp;
  std::vector<int64_t> indexes;
  for (int64_t i = 0; i < length; ++i) {
    bool mine = true;
    if (found != cut_on_tp.end() && found->second == dim && tensor > 1)
      mine = form.use.role == ParamRole::vocabulary
                 ? i / ((length + tensor - 1) / tensor) == axes.tp_rank
                 : owner(i, length, form.use.parts, tensor) == axes.tp_rank;
    if (is_expert(form.use) && dim == 0) mine = mine && owner(i, length, {}, axes.ep) == axes.ep_rank;
    if (mine) indexes.push_back(i);
  }
  return indexes;
}

// By the rank's own element: which one of the whole it is.
std::map<int64_t, int64_t> slow_elements(const Form& form, const ParamAxes& axes, const Shape& own) {
  std::map<int64_t, int64_t> elements;
  for (int64_t flat = 0; flat < count(form.whole); ++flat) {
    int64_t rest = flat, at = 0, stride = 1;
    bool mine = true;
    for (size_t d = form.whole.size(); d-- > 0;) {
      const std::vector<int64_t> indexes = owned(form, d, axes);
      const auto found = std::find(indexes.begin(), indexes.end(), rest % form.whole[d]);
      mine = mine && found != indexes.end();
      at += (found - indexes.begin()) * stride;
      stride *= own[d];
      rest /= form.whole[d];
    }
    if (mine) elements[at] = flat;
  }
  return elements;
}

std::map<int64_t, int64_t> elements_of(const std::vector<ElementRun>& runs) {
  std::map<int64_t, int64_t> elements;
  for (const ElementRun& run : runs)
    for (int64_t i = 0; i < run.count; ++i) {
      EXPECT_FALSE(elements.contains(run.own + i)) << "one element twice";
      elements[run.own + i] = run.whole + i;
    }
  return elements;
}

TEST(ParamCut, RunsAreThoseOfTheSlowWay) {
  for (const Form& form : forms())
    for (const ParamAxes& axes : all_ranks()) {
      SCOPED_TRACE(name_of(form, axes));
      const ParamCut cut = cut_param(form.use, form.whole, axes);
      EXPECT_EQ(elements_of(runs_of(cut, form.whole)), slow_elements(form, axes, cut.shape));
    }
}

// A padded own has the place for more than there is, and only a vocabulary is padded.
TEST(ParamCut, OwnsAreAsLargeAsTheirElements) {
  for (const Form& form : forms())
    for (const ParamAxes& axes : all_ranks()) {
      SCOPED_TRACE(name_of(form, axes));
      const ParamCut cut = cut_param(form.use, form.whole, axes);
      int64_t elements = 0;
      for (const ElementRun& run : runs_of(cut, form.whole)) elements += run.count;
      if (form.use.role == ParamRole::vocabulary)
        EXPECT_EQ(cut.shape, (Shape{(form.whole[0] + axes.tp - 1) / axes.tp, form.whole[1]}));
      else
        EXPECT_EQ(elements, count(cut.shape));
      EXPECT_LE(elements, count(cut.shape));
    }
}

// Over the ranks that cut it, every element is once; the others have copies.
TEST(ParamCut, RanksTogetherHaveEachElementOnce) {
  for (const Form& form : forms()) {
    std::map<std::vector<int64_t>, std::vector<int>> holders;  // by mesh: of each element
    for (const ParamAxes& axes : all_ranks()) {
      std::vector<int>& by_element = holders[{axes.tp, axes.ep, axes.etp}];
      by_element.resize(static_cast<size_t>(count(form.whole)));
      for (const auto& [own, whole] : elements_of(runs_of(cut_param(form.use, form.whole, axes), form.whole)))
        ++by_element[static_cast<size_t>(whole)];
    }
    for (const auto& [mesh, by_element] : holders) {
      const Placements placements = placements_of(form.use, {mesh[0], 0, mesh[1], 0, mesh[2]});
      int64_t copies = 1;
      for (const auto& [axis, ranks] : {std::pair(BlockAxis::tp, mesh[0]), std::pair(BlockAxis::ep, mesh[1])})
        if (placements.axes[static_cast<size_t>(axis)] == kReplicate) copies *= ranks;
      for (const int held : by_element)
        ASSERT_EQ(held, copies) << form.name << " tp " << mesh[0] << " ep " << mesh[1] << " etp " << mesh[2];
    }
  }
}

// --- by hand -----------------------------------------------------------------------------------------------

using Ranges = std::vector<IndexRange>;

TEST(ParamCut, PartsAreCutEachByItself) {
  const ParamUse qkv{ParamRole::column, {8, 4, 4}, 2};
  const ParamCut cut = cut_param(qkv, {16, 3}, {.tp = 2, .tp_rank = 1});
  EXPECT_EQ(cut.shape, (Shape{8, 3}));
  ASSERT_EQ(cut.dims.size(), 1u);
  EXPECT_EQ(cut.dims[0], (DimCut{0, {{4, 4}, {10, 2}, {14, 2}}}));
  EXPECT_EQ(runs_of(cut, {16, 3}), (std::vector<ElementRun>{{12, 0, 12}, {30, 12, 6}, {42, 18, 6}}));
}

TEST(ParamCut, ColumnsAreOneRunRowsAreMany) {
  const ParamCut column = cut_param({ParamRole::column, {}, 1}, {8, 4}, {.tp = 2, .tp_rank = 1});
  EXPECT_EQ(runs_of(column, {8, 4}), (std::vector<ElementRun>{{16, 0, 16}}));
  const ParamCut row = cut_param({ParamRole::row, {}, 1}, {2, 8}, {.tp = 2, .tp_rank = 1});
  EXPECT_EQ(runs_of(row, {2, 8}), (std::vector<ElementRun>{{4, 0, 4}, {12, 4, 4}}));
  EXPECT_EQ(runs_of(cut_param({}, {2, 8}, {.tp = 2}), {2, 8}), (std::vector<ElementRun>{{0, 0, 16}}));
}

TEST(ParamCut, TheVocabularysLastRanksHavePadding) {
  const auto rows = [](int64_t vocab, int64_t rank) {
    return cut_param({ParamRole::vocabulary, {}, 1}, {vocab, 2}, {.tp = 4, .tp_rank = rank}).dims[0].ranges;
  };
  EXPECT_EQ(rows(10, 0), (Ranges{{0, 3}}));
  EXPECT_EQ(rows(10, 3), (Ranges{{9, 1}}));
  EXPECT_EQ(rows(9, 3), (Ranges{{9, 0}}));
  EXPECT_EQ(cut_param({ParamRole::vocabulary, {}, 1}, {9, 2}, {.tp = 4, .tp_rank = 3}).shape, (Shape{3, 2}));
  EXPECT_EQ(rows(5, 2), (Ranges{{4, 1}}));
  EXPECT_EQ(rows(5, 3), (Ranges{{5, 0}}));
}

TEST(ParamCut, ExpertsAreSharedOutAndEachMayBeCut) {
  const ParamUse up{ParamRole::expert_column, {4, 4}, 1};
  const ParamAxes whole_experts{.tp = 2, .tp_rank = 1, .ep = 2, .ep_rank = 1, .etp = 1};
  EXPECT_EQ(runs_of(cut_param(up, {4, 8, 2}, whole_experts), {4, 8, 2}),
            (std::vector<ElementRun>{{32, 0, 32}}));
  const ParamAxes cut_experts{.tp = 2, .tp_rank = 1, .ep = 2, .ep_rank = 1, .etp = 2};
  const ParamCut cut = cut_param(up, {4, 8, 2}, cut_experts);
  EXPECT_EQ(cut.shape, (Shape{2, 4, 2}));
  EXPECT_EQ(runs_of(cut, {4, 8, 2}),
            (std::vector<ElementRun>{{36, 0, 4}, {44, 4, 4}, {52, 8, 4}, {60, 12, 4}}));
}

TEST(ParamCut, PlacementsByRole) {
  const ParamAxes axes{.tp = 2, .ep = 2, .etp = 2};
  const std::vector<std::string> expected = {
      "", "tp=shard(0)", "tp=shard(1)", "tp=shard(0)", "tp=shard(1) ep=shard(0)", "tp=shard(2) ep=shard(0)",
      ""};
  for (size_t r = 0; r < expected.size(); ++r) {
    const ParamUse use{static_cast<ParamRole>(r), {}, 1};
    EXPECT_EQ(to_string(placements_of(use, axes)), expected[r]) << name_of(use.role);
    EXPECT_EQ(placements_of(use, {}), Placements{}) << name_of(use.role);
  }
  const ParamUse expert{ParamRole::expert_row, {}, 1};
  EXPECT_EQ(to_string(placements_of(expert, {.tp = 2, .ep = 2, .etp = 1})), "ep=shard(0)");
}

void expect_refused(const ParamUse& use, const Shape& whole, const ParamAxes& axes, const char* message) {
  try {
    cut_param(use, whole, axes);
    ADD_FAILURE() << "no refusal: " << message;
  } catch (const std::invalid_argument& refusal) {
    EXPECT_STREQ(refusal.what(), message);
  }
}

TEST(ParamCut, RefusesWhatDoesNotDivide) {
  expect_refused({ParamRole::column, {}, 1}, {6, 2}, {.tp = 4}, "4 ranks do not share 6 in units of 1");
  expect_refused({ParamRole::column, {8, 4, 4}, 4}, {16, 2}, {.tp = 2},
                 "2 ranks do not share 4 in units of 4");
  expect_refused({ParamRole::row, {}, 4}, {2, 4}, {.tp = 2}, "2 ranks do not share 4 in units of 4");
  expect_refused({ParamRole::expert_row, {}, 1}, {3, 2, 4}, {.ep = 2},
                 "2 ranks do not share 3 in units of 1");
}

TEST(ParamCut, PrintsAndParsesBack) {
  Program program = parse_program(kSmallProgram);
  for (const Form& form : forms())
    for (const ParamAxes& axes : all_ranks()) {
      Param& param = program.params[0];
      param.shape = form.whole;
      param.role = form.use.role;
      param.cut = cut_param(form.use, form.whole, axes);
      EXPECT_EQ(parse_program(to_text(program)).params[0], param) << name_of(form, axes);
    }
}

}  // namespace
}  // namespace trireme
