// Engines of the leader's process are read in place. Ranks of other processes say first which part of every
// tensor they hold, then send the parts, tensor by tensor, in the order in which the leader asks for them.
#include "train/gather.h"

#include <algorithm>
#include <numeric>

#include "base/error.h"
#include "train/weights.h"

namespace trireme {
namespace {

// What of a tensor a rank of another process holds.
struct Part {
  int64_t first = 0, count = 0;
};

// Whether the rank is of the first replica: others have the same state.
bool holds_first_copy(const Mesh& mesh, int32_t rank) {
  return mesh.data_parallel_index(rank) < mesh.dp_shard;
}

template <class T>
int64_t bytes_of(const std::vector<T>& items) {
  return static_cast<int64_t>(items.size() * sizeof(T));
}

// In the order of kTrainingStates, and of params within.
template <class Visit>
void for_each_tensor(const Program& program, const Visit& visit) {
  for (const NamedState& named : kTrainingStates)
    for (size_t i = 0; i < program.params.size(); ++i)
      visit(named, ParamId(static_cast<int64_t>(i)), program.params[i]);
}

// Empty where the program has no such state.
std::vector<StatePiece> pieces_of(const Engine& engine, ParamId id, ParamState state) {
  return keeps(engine.program(), state) ? engine.state_pieces(id, state) : std::vector<StatePiece>();
}

void send_parts(Communicator& control, const Engine& engine, std::string_view what) {
  CHECK(engine.host_addressable(), "parts are sent from where they lie");
  std::vector<int64_t> counts;  // of parts, by tensor
  std::vector<Part> parts;
  for_each_tensor(engine.program(), [&](const NamedState& named, ParamId id, const Param&) {
    const std::vector<StatePiece> pieces = pieces_of(engine, id, named.state);
    counts.push_back(static_cast<int64_t>(pieces.size()));
    for (const StatePiece& piece : pieces)
      parts.push_back({piece.first, static_cast<int64_t>(piece.values.size())});
  });
  control.send(counts.data(), bytes_of(counts), 0, what);
  control.send(parts.data(), bytes_of(parts), 0, what);
  for_each_tensor(engine.program(), [&](const NamedState& named, ParamId id, const Param&) {
    std::vector<float> joined;  // a message per tensor
    const std::vector<StatePiece> pieces = pieces_of(engine, id, named.state);
    if (pieces.empty()) return;
    for (const StatePiece& piece : pieces)
      joined.insert(joined.end(), piece.values.begin(), piece.values.end());
    control.send(joined.data(), bytes_of(joined), 0, what);
  });
}

struct Remote {
  int rank = 0;
  std::vector<std::vector<Part>> parts;  // by tensor
};

std::vector<Remote> remotes(Communicator* control, std::span<const Engine* const> engines,
                            const Program& program, std::string_view what) {
  std::vector<Remote> found;
  for (int32_t rank = 0; rank < program.mesh.ranks(); ++rank) {
    if (!holds_first_copy(program.mesh, rank) || engines[static_cast<size_t>(rank)] != nullptr) continue;
    std::vector<int64_t> counts(kTrainingStates.size() * program.params.size());
    control->recv(counts.data(), bytes_of(counts), rank, what);
    std::vector<Part> all(static_cast<size_t>(std::accumulate(counts.begin(), counts.end(), int64_t{0})));
    control->recv(all.data(), bytes_of(all), rank, what);
    Remote& remote = found.emplace_back(Remote{rank, {}});
    auto next = all.begin();
    for (const int64_t count : counts) {
      remote.parts.emplace_back(next, next + count);
      next += count;
    }
  }
  return found;
}

// A rank's parts of one tensor into their places; nowhere when `whole` is empty, but what is sent is taken.
void receive(Communicator& control, int rank, const std::vector<Part>& parts, std::span<float> whole,
             std::string_view what) {
  int64_t elements = 0;
  for (const Part& part : parts) elements += part.count;
  if (elements == 0) return;
  std::vector<float> joined(static_cast<size_t>(elements));
  control.recv(joined.data(), bytes_of(joined), rank, what);
  auto next = joined.begin();
  for (const Part& part : parts) {
    if (!whole.empty()) std::copy_n(next, part.count, whole.begin() + part.first);
    next += part.count;
  }
}

GatheredState gather_on_leader(RankLink& link, std::span<const Engine* const> all, const Engine& mine,
                               std::string_view what) {
  const Program& program = mine.program();
  std::vector<const Engine*> near;
  for (int32_t rank = 0; rank < program.mesh.ranks(); ++rank)
    if (holds_first_copy(program.mesh, rank) && all[static_cast<size_t>(rank)] != nullptr)
      near.push_back(all[static_cast<size_t>(rank)]);
  const std::vector<Remote> far = remotes(link.control(), all, program, what);
  GatheredState state;
  size_t tensor = 0;
  for_each_tensor(program, [&](const NamedState& named, ParamId id, const Param& param) {
    if (!keeps(program, named.state)) {
      ++tensor;
      return;
    }
    std::span<const float> whole;
    for (const Engine* engine : near)
      for (const StatePiece& piece : engine->state_pieces(id, named.state))
        if (static_cast<int64_t>(piece.values.size()) == count(param.shape)) whole = piece.values;
    std::vector<float> copy;
    if (whole.empty() && mine.host_addressable()) {
      copy.resize(static_cast<size_t>(count(param.shape)));
      for (const Engine* engine : near) engine->read_state(id, named.state, copy);
    }
    for (const Remote& remote : far) receive(*link.control(), remote.rank, remote.parts[tensor], copy, what);
    if (!copy.empty()) whole = state.copies.emplace_back(std::move(copy));
    state.pieces.push_back({named.prefix + param.name, DType::f32, param.shape, std::as_bytes(whole)});
    ++tensor;
  });
  return state;
}

}  // namespace

GatheredState gather_state(RankLink& link, const Engine& mine, std::string_view what) {
  const std::span<const Engine* const> engines = link.show(mine, what);
  if (link.leads()) return gather_on_leader(link, engines, mine, what);
  if (holds_first_copy(mine.program().mesh, link.rank()) && link.rank() >= link.ranks_per_process())
    send_parts(*link.control(), mine, what);
  return {};
}

}  // namespace trireme
