// Engines of the leader's process are read in place. Ranks of other processes say first which part of every
// tensor they hold, then send the parts, tensor by tensor, in the order in which the leader asks for them.
#include "train/gather.h"

#include "base/error.h"
#include "train/weights.h"

namespace trireme {
namespace {

// What of a tensor a rank of another process holds.
struct Part {
  int64_t first = 0, count = 0;
};

bool holds_first_copy(const Mesh& mesh, int32_t rank) {
  return mesh.data_parallel_index(rank) < mesh.dp_shard;
}

int64_t bytes_of(const std::vector<Part>& parts) { return static_cast<int64_t>(parts.size() * sizeof(Part)); }

// In the order of kTrainingStates, and of params within.
template <class Visit>
void for_each_tensor(const Program& program, const Visit& visit) {
  for (const NamedState& named : kTrainingStates)
    for (size_t i = 0; i < program.params.size(); ++i)
      visit(named, ParamId(static_cast<int64_t>(i)), program.params[i]);
}

void send_parts(Communicator& control, const Engine& engine, std::string_view what) {
  CHECK(engine.host_addressable(), "parts are sent from where they lie");
  std::vector<Part> parts;
  for_each_tensor(engine.program(), [&](const NamedState& named, ParamId id, const Param&) {
    const StatePiece piece = engine.state_piece(id, named.state);
    parts.push_back({piece.first, static_cast<int64_t>(piece.values.size())});
  });
  control.send(parts.data(), bytes_of(parts), 0, what);
  for_each_tensor(engine.program(), [&](const NamedState& named, ParamId id, const Param&) {
    const StatePiece piece = engine.state_piece(id, named.state);
    if (!piece.values.empty())
      control.send(piece.values.data(), static_cast<int64_t>(piece.values.size_bytes()), 0, what);
  });
}

struct Remote {
  int rank = 0;
  std::vector<Part> parts;  // by tensor
};

std::vector<Remote> remotes(Communicator* control, std::span<const Engine* const> engines,
                            const Program& program, std::string_view what) {
  std::vector<Remote> found;
  for (int32_t rank = 0; rank < program.mesh.ranks(); ++rank) {
    if (!holds_first_copy(program.mesh, rank) || engines[static_cast<size_t>(rank)] != nullptr) continue;
    Remote& remote = found.emplace_back(Remote{rank, {}});
    remote.parts.resize(kTrainingStates.size() * program.params.size());
    control->recv(remote.parts.data(), bytes_of(remote.parts), rank, what);
  }
  return found;
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
    std::span<const float> whole;
    for (const Engine* engine : near) {
      const StatePiece piece = engine->state_piece(id, named.state);
      if (static_cast<int64_t>(piece.values.size()) == count(param.shape)) whole = piece.values;
    }
    std::vector<float> copy;
    if (whole.empty() && mine.host_addressable()) {
      copy.resize(static_cast<size_t>(count(param.shape)));
      for (const Engine* engine : near) engine->read_state(id, named.state, copy);
    }
    // What is sent is taken, wanted or not.
    for (const Remote& remote : far) {
      const Part& part = remote.parts[tensor];
      if (part.count == 0) continue;
      std::vector<float> unwanted(whole.empty() ? 0 : static_cast<size_t>(part.count));
      float* to = whole.empty() ? copy.data() + part.first : unwanted.data();
      link.control()->recv(to, part.count * size_of(DType::f32), remote.rank, what);
    }
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
