// For each peer the rows of all ranks are gone through in an order in which they can run, each with what it
// knows of the peer's progress.
#include "lower/stage_moves.h"

#include <algorithm>
#include <array>
#include <limits>
#include <optional>
#include <set>

#include "base/error.h"

namespace trireme {
namespace {

bool is_forward(const ScheduleStep& step) { return step.kind == StepKind::forward; }
// The part that takes a gradient in and hands one on.
bool goes_back(const ScheduleStep& step) {
  return step.kind == StepKind::backward || step.kind == StepKind::backward_input;
}

constexpr size_t kNowhere = std::numeric_limits<size_t>::max();

// The table, and where in it each stage's forward and way back are.
class Rows {
 public:
  explicit Rows(const Schedule& schedule) : schedule_(schedule) {
    const auto stages = static_cast<size_t>(schedule.placement.stages());
    for (auto& places : places_)
      places.assign(stages * static_cast<size_t>(schedule.micro_batches), kNowhere);
    for (const auto& rows : schedule.table)
      for (size_t k = 0; k < rows.size(); ++k)
        if (is_forward(rows[k]) || goes_back(rows[k]))
          places_[is_forward(rows[k])][cell(rows[k].stage, rows[k].micro_batch)] = k;
  }

  const std::vector<ScheduleStep>& of(int32_t rank) const {
    return schedule_.table[static_cast<size_t>(rank)];
  }
  int32_t rank_of(int32_t stage, int32_t micro_batch) const {
    return trireme::rank_of(schedule_, stage, micro_batch);
  }

  // The stage that a step takes something from, and the one that it makes something for.
  std::optional<int32_t> source_of(const ScheduleStep& step) const { return stage_beside(step, -1); }
  std::optional<int32_t> target_of(const ScheduleStep& step) const { return stage_beside(step, 1); }

  // The row of its rank that runs the stage's forward, or its way back.
  size_t find(int32_t stage, int32_t micro_batch, bool forward) const {
    const size_t row = places_[forward][cell(stage, micro_batch)];
    CHECK(row != kNowhere, "stage {} micro-batch {}: a row is missing", stage, micro_batch);
    return row;
  }

  // All ranks from which or to which something goes.
  std::set<int32_t> peers_of(int32_t rank) const {
    std::set<int32_t> peers;
    for (const ScheduleStep& step : of(rank))
      for (const auto& stage : {source_of(step), target_of(step)})
        if (stage) peers.insert(rank_of(*stage, step.micro_batch));
    peers.erase(rank);
    return peers;
  }

  // How many rows of the peer are surely over when a row of any rank begins: by rank and row.
  std::vector<std::vector<size_t>> known_of(int32_t peer) const {
    std::vector<std::vector<size_t>> known(schedule_.table.size());
    for (bool moved = true; moved;) {
      moved = false;
      for (int32_t r = 0; r < schedule_.placement.ranks; ++r)
        while (learn(known, r, peer)) moved = true;
    }
    for (size_t r = 0; r < known.size(); ++r)
      CHECK(known[r].size() == schedule_.table[r].size(), "the schedule does not end");
    return known;
  }

 private:
  size_t cell(int32_t stage, int32_t micro_batch) const {
    return static_cast<size_t>(stage) * static_cast<size_t>(schedule_.micro_batches) +
           static_cast<size_t>(micro_batch);
  }

  std::optional<int32_t> stage_beside(const ScheduleStep& step, int32_t ahead) const {
    if (!is_forward(step) && !goes_back(step)) return {};
    const int32_t stage = step.stage + (is_forward(step) ? ahead : -ahead);
    return stage < 0 || stage >= schedule_.placement.stages() ? std::nullopt : std::optional(stage);
  }

  // The rank's next row; false where there is none or what it takes is not known of yet.
  bool learn(std::vector<std::vector<size_t>>& known, int32_t rank, int32_t peer) const {
    std::vector<size_t>& mine = known[static_cast<size_t>(rank)];
    const size_t k = mine.size();
    if (k == of(rank).size()) return false;
    const ScheduleStep& step = of(rank)[k];
    size_t over = rank == peer ? k : k > 0 ? mine[k - 1] : 0;
    if (const auto source = source_of(step)) {
      const int32_t q = rank_of(*source, step.micro_batch);
      const size_t row = find(*source, step.micro_batch, is_forward(step));
      if (row >= known[static_cast<size_t>(q)].size()) return false;
      over = std::max(over, q == peer ? row + 1 : known[static_cast<size_t>(q)][row]);
    }
    mine.push_back(over);
    return true;
  }

  const Schedule& schedule_;
  std::array<std::vector<size_t>, 2> places_;  // way back, forward
};

// Something that goes over a link: sent after the sender's row, asked for before the receiver's row `asked`.
struct Passage {
  Move move;  // peer: the receiver
  size_t sent = 0, asked = 0;
};

// What `from` sends to `to`, in its order.
std::vector<Passage> passages(const Rows& rows, int32_t from, int32_t to) {
  std::vector<Passage> passages;
  for (size_t k = 0; k < rows.of(from).size(); ++k) {
    const ScheduleStep& step = rows.of(from)[k];
    const auto target = rows.target_of(step);
    if (!target || rows.rank_of(*target, step.micro_batch) != to) continue;
    const bool forward = is_forward(step);
    const size_t use = rows.find(*target, step.micro_batch, forward);
    const Move move{forward ? Move::Kind::output : Move::Kind::gradient, std::min(step.stage, *target),
                    step.micro_batch, to};
    passages.push_back({move, k, use == 0 ? 0 : use - 1});
  }
  // A receiver asks a row ahead, and for nothing later than for what comes behind it on the link.
  for (size_t i = passages.size(); i-- > 1;)
    passages[i - 1].asked = std::min(passages[i - 1].asked, passages[i].asked);
  return passages;
}

}  // namespace

std::vector<RowMoves> moves_of(const Schedule& schedule, int32_t rank) {
  const Rows rows(schedule);
  const size_t count = rows.of(rank).size();
  std::vector<RowMoves> moves(count);
  for (const int32_t peer : rows.peers_of(rank)) {
    const std::vector<size_t> known = rows.known_of(peer)[static_cast<size_t>(rank)];
    for (const Passage& passage : passages(rows, rank, peer)) {
      size_t joined = passage.sent + 1;
      while (joined < count && known[joined] < passage.asked) ++joined;
      moves[passage.sent].sends.push_back({passage.move, joined});
    }
    for (Passage& passage : passages(rows, peer, rank)) {
      passage.move.peer = peer;
      moves[passage.asked].asks.push_back(passage.move);
    }
  }
  return moves;
}

}  // namespace trireme
