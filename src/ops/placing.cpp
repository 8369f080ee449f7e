// The rules that many ops share.
#include "ops/placing.h"

namespace trireme {
namespace {

// Where activations meet: rows if any of them has been cut by rows, else the slice of the first that is cut.
Placement meeting_place(const PlaceQuery& query) {
  Placement place;
  for (size_t i = 0; i < query.placed.size(); ++i) {
    if (query.params[i]) continue;
    const Placement& p = query.placed[i];
    const Placement wanted = p.kind == Placement::Kind::partial ? query.home : p;
    if (wanted == kRows) return kRows;
    if (place == kReplicate) place = wanted;
  }
  return place;
}

Cut place_activations(const PlaceQuery& query, Placement place) {
  std::vector<Placement> inputs;
  for (size_t i = 0; i < query.placed.size(); ++i) inputs.push_back(query.params[i] ? kReplicate : place);
  return keep_op(query, std::move(inputs), place);
}

}  // namespace

Cut keep_op(const PlaceQuery& query, std::vector<Placement> inputs, Placement made) {
  return {std::move(inputs), std::vector<Placement>(query.op.outputs.size(), made), query.op.kind,
          query.op.attrs};
}

Cut place_by_rows(const PlaceQuery& query) {
  const Placement place = meeting_place(query);
  const bool inside_a_row = place.kind == Placement::Kind::shard && query.inputs[0].dtype != DType::i32 &&
                            place.dim + 1 == static_cast<int32_t>(query.inputs[0].shape.size());
  return place_activations(query, inside_a_row ? query.home : place);
}

Cut place_by_elements(const PlaceQuery& query) { return place_activations(query, meeting_place(query)); }

Cut place_whole(const PlaceQuery& query) {
  return keep_op(query, std::vector<Placement>(query.placed.size()), kReplicate);
}

}  // namespace trireme
