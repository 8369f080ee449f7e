// Rows of all ranks in an order in which they can run, each with what it knows of the others' progress.
#include "lower/stage_moves.h"

#include <algorithm>
#include <map>
#include <optional>
#include <tuple>
#include <utility>

#include "base/error.h"

namespace trireme {
namespace {

bool is_forward(const ScheduleStep& step) { return step.kind == StepKind::forward; }
// The part that takes a gradient in and hands one on.
bool goes_back(const ScheduleStep& step) {
  return step.kind == StepKind::backward || step.kind == StepKind::backward_input;
}

class Rows {
 public:
  explicit Rows(const Schedule& schedule) : schedule_(schedule) {
    for (const auto& rows : schedule.table) {
      known_.emplace_back(rows.size());
      for (size_t k = 0; k < rows.size(); ++k)
        if (is_forward(rows[k]) || goes_back(rows[k]))
          place_[{rows[k].stage, rows[k].micro_batch, is_forward(rows[k])}] = k;
    }
  }

  const Schedule& schedule() const { return schedule_; }
  const std::vector<ScheduleStep>& of(int32_t rank) const {
    return schedule_.table[static_cast<size_t>(rank)];
  }

  // The row of its rank that runs the stage's forward, or its way back.
  std::optional<size_t> find(int32_t stage, int32_t micro_batch, bool forward) const {
    const auto found = place_.find({stage, micro_batch, forward});
    return found == place_.end() ? std::nullopt : std::optional(found->second);
  }

  // How many rows of each rank are surely over when a row begins.
  const std::vector<size_t>& known(int32_t rank, size_t row) const {
    return known_[static_cast<size_t>(rank)][row];
  }

  void learn() {
    const size_t ranks = known_.size();
    std::vector<size_t> next(ranks);
    for (bool moved = true; moved;) {
      moved = false;
      for (size_t r = 0; r < ranks; ++r)
        for (; next[r] < known_[r].size() && learn(r, next[r], next); ++next[r]) moved = true;
    }
    for (size_t r = 0; r < ranks; ++r) CHECK(next[r] == known_[r].size(), "the schedule does not end");
  }

 private:
  bool learn(size_t r, size_t k, const std::vector<size_t>& next) {
    const ScheduleStep& step = schedule_.table[r][k];
    std::vector<size_t> known = k > 0 ? known_[r][k - 1] : std::vector<size_t>(known_.size());
    known[r] = k;
    const int32_t neighbour = is_forward(step) ? step.stage - 1 : step.stage + 1;
    const bool needs =
        (is_forward(step) || goes_back(step)) && neighbour >= 0 && neighbour < schedule_.placement.stages();
    if (needs) {
      const auto q = static_cast<size_t>(rank_of(schedule_, neighbour, step.micro_batch));
      const auto row = find(neighbour, step.micro_batch, is_forward(step));
      CHECK(row, "a neighbour's row is missing");
      if (*row >= next[q]) return false;
      for (size_t i = 0; i < known.size(); ++i) known[i] = std::max(known[i], known_[q][*row][i]);
      known[q] = std::max(known[q], *row + 1);
    }
    known_[r][k] = std::move(known);
    return true;
  }

  const Schedule& schedule_;
  std::map<std::tuple<int32_t, int32_t, bool>, size_t> place_;
  std::vector<std::vector<std::vector<size_t>>> known_;  // by rank and row
};

// Something that goes over a link: sent after the sender's row, asked for before the receiver's row `asked`.
struct Passage {
  Move move;  // peer: the receiver
  size_t sent = 0, asked = 0;
};

// What `from` sends to whom, in its order.
std::vector<Passage> passages_from(const Rows& rows, int32_t from) {
  std::vector<Passage> passages;
  for (size_t k = 0; k < rows.of(from).size(); ++k) {
    const ScheduleStep& step = rows.of(from)[k];
    const bool forward = is_forward(step);
    const int32_t to_stage = forward ? step.stage + 1 : step.stage - 1;
    if ((!forward && !goes_back(step)) || to_stage < 0 || to_stage >= rows.schedule().placement.stages())
      continue;
    const int32_t peer = rank_of(rows.schedule(), to_stage, step.micro_batch);
    const auto use = rows.find(to_stage, step.micro_batch, forward);
    if (peer == from || !use) continue;
    const Move move{forward ? Move::Kind::output : Move::Kind::gradient, std::min(step.stage, to_stage),
                    step.micro_batch, peer};
    passages.push_back({move, k, *use == 0 ? 0 : *use - 1});
  }
  // A receiver asks a row ahead, and for nothing later than for what comes behind it on the link.
  std::map<int32_t, size_t> earliest;
  for (size_t i = passages.size(); i-- > 0;) {
    const auto [it, fresh] = earliest.try_emplace(passages[i].move.peer, passages[i].asked);
    if (!fresh) it->second = std::min(it->second, passages[i].asked);
    passages[i].asked = it->second;
  }
  return passages;
}

}  // namespace

std::vector<RowMoves> moves_of(const Schedule& schedule, int32_t rank) {
  Rows rows(schedule);
  rows.learn();
  const size_t count = rows.of(rank).size();
  std::vector<RowMoves> moves(count);
  for (const Passage& passage : passages_from(rows, rank)) {
    size_t joined = passage.sent + 1;
    while (joined < count && rows.known(rank, joined)[static_cast<size_t>(passage.move.peer)] < passage.asked)
      ++joined;
    moves[passage.sent].sends.push_back({passage.move, joined});
  }
  for (int32_t from = 0; from < schedule.placement.ranks; ++from) {
    if (from == rank) continue;
    for (Passage& passage : passages_from(rows, from)) {
      if (passage.move.peer != rank) continue;
      passage.move.peer = from;
      moves[passage.asked].asks.push_back(passage.move);
    }
  }
  return moves;
}

}  // namespace trireme
