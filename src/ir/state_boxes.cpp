// Slices to boxes, boxes to shares.
#include "ir/state_boxes.h"

#include <algorithm>

namespace trireme {
namespace {

// Below it a share would cost more in bookkeeping than its balance is worth: 256 KiB of f32.
constexpr int64_t kLeastShare = int64_t{1} << 16;

struct OwnBox {
  Shape offset, shape;  // in the whole parameter
  int64_t own = 0;      // first element in the rank's own tensor
};

// Boxes that are contiguous in the rank's own tensor. Dims outside the innermost one that has several ranges
// are taken index by index.
class BoxList {
 public:
  explicit BoxList(const ParamCut& cut) : cut_(cut) {
    for (size_t d = 0; d < cut.shape.size(); ++d) {
      ranges_.push_back(ranges_of(cut, d));
      if (ranges_.back().size() > 1) innermost_ = static_cast<int64_t>(d);
    }
    add({}, 0);
  }

  std::vector<OwnBox> take() { return std::move(boxes_); }

 private:
  void add(OwnBox box, size_t dim) {
    if (dim == cut_.shape.size()) {
      boxes_.push_back(std::move(box));
      return;
    }
    int64_t below = 1;
    for (size_t d = dim + 1; d < cut_.shape.size(); ++d) below *= cut_.shape[d];
    const bool one_by_one = static_cast<int64_t>(dim) < innermost_;
    int64_t own = 0;  // along this dim
    for (const IndexRange& range : ranges_[dim]) {
      const int64_t step = one_by_one ? 1 : range.count;
      for (int64_t i = 0; i < range.count; i += step, own += step) {
        OwnBox next = box;
        next.offset.push_back(range.begin + i);
        next.shape.push_back(step);
        next.own += own * below;
        add(std::move(next), dim + 1);
      }
    }
  }

  const ParamCut& cut_;
  std::vector<std::vector<IndexRange>> ranges_;
  int64_t innermost_ = -1;
  std::vector<OwnBox> boxes_;
};

const Param& param_of(const Program& program, ParamId id) {
  return program.params[static_cast<size_t>(id.index)];
}

const ParamGroup& group_of(const Program& program, const Param& param) {
  return program.groups[static_cast<size_t>(param.group.index)];
}

}  // namespace

std::vector<StateBox> held_boxes(const Program& program, ParamId id) {
  const Param& param = param_of(program, id);
  const ParamGroup& group = group_of(program, param);
  std::vector<StateBox> boxes;
  if (group.shard_elements == 0) return boxes;
  for (OwnBox& own : BoxList(param.cut).take()) {
    const int64_t start = param.offset + own.own;  // in the group's flat buffer
    const int64_t begin = std::max(start, group.shard_begin);
    const int64_t end = std::min(start + count(own.shape), group.shard_begin + group.shard_elements);
    if (begin < end)
      boxes.push_back({std::move(own.offset), std::move(own.shape), begin - start, end - start,
                       begin - group.shard_begin});
  }
  return boxes;
}

int64_t elements_of(const std::vector<StateBox>& boxes) {
  int64_t elements = 0;
  for (const StateBox& box : boxes) elements += box.last - box.first;
  return elements;
}

Replicas replicas_of(const Program& program, ParamId id) {
  const Param& param = param_of(program, id);
  const ParamGroup& group = group_of(program, param);
  const Mesh& mesh = program.mesh;
  Replicas replicas{group.copies, group.copy};
  const auto add = [&](int64_t count, int64_t index) {
    replicas = {replicas.count * count, replicas.index * count + index};
  };
  const int64_t per_replica = static_cast<int64_t>(mesh.shards()) * mesh.tp;
  add(mesh.dp_replicate, program.rank / per_replica % mesh.dp_replicate);
  const bool is_cut = group.shard_elements < group.elements;
  const int64_t ep = is_expert(param.role) ? mesh.ep : 1;
  if (!is_cut) add(mesh.shards() / ep, mesh.shard_index(program.rank) / ep);
  if (!is_cut_on_tp(param.role, mesh)) add(mesh.tp, mesh.tp_index(program.rank));
  return replicas;
}

std::vector<StateBox> written_boxes(const Program& program, ParamId id) {
  std::vector<StateBox> boxes = held_boxes(program, id);
  const Replicas replicas = replicas_of(program, id);
  if (replicas.count == 1) return boxes;
  const int64_t elements = elements_of(boxes);
  const int64_t shares = std::clamp<int64_t>(elements / kLeastShare, 1, replicas.count);
  // Whose turn comes first must be the same for all that hold the parameter: they have its number in common.
  const int64_t turn = (replicas.index + id.index) % replicas.count;
  if (turn >= shares) return {};
  const int64_t begin = elements * turn / shares, end = elements * (turn + 1) / shares;
  std::vector<StateBox> share;
  int64_t at = 0;  // of the box, among the elements
  for (StateBox& box : boxes) {
    const int64_t n = box.last - box.first;
    const int64_t from = std::max(begin - at, int64_t{0}), to = std::min(end - at, n);
    at += n;
    if (from >= to) continue;
    box.last = box.first + to;
    box.first += from;
    box.at += from;
    share.push_back(std::move(box));
  }
  return share;
}

int64_t written_elements(const Program& program) {
  int64_t elements = 0;
  for (size_t i = 0; i < program.params.size(); ++i)
    elements += elements_of(written_boxes(program, ParamId(static_cast<int64_t>(i))));
  return elements;
}

int64_t written_bytes(const Program& program) {
  int64_t bytes = 0;
  for (size_t i = 0; i < program.params.size(); ++i) {
    const ParamGroup& group = group_of(program, program.params[i]);
    const int64_t states = 1 + (group.moment1.valid() ? 1 : 0) + (group.moment2.valid() ? 1 : 0);
    bytes +=
        states * elements_of(written_boxes(program, ParamId(static_cast<int64_t>(i)))) * size_of(DType::f32);
  }
  return bytes;
}

}  // namespace trireme
