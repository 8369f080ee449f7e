// A Program to text: a line per entry, numbered where others refer to it by number.
#include <fmt/format.h>

#include "ir/line_reader.h"
#include "ir/text.h"

namespace trireme {
namespace {

// "_" where nothing is named: the place that a send does not write, say.
std::string location_text(const Location& l) {
  return l.buffer.valid() ? fmt::format("b{}+{}", l.buffer.index, l.offset) : "_";
}

template <class T>
std::string joined(const std::vector<T>& items, std::string (*text_of)(const T&)) {
  std::string text;
  for (const T& item : items) text += (text.empty() ? "" : ",") + text_of(item);
  return text;
}

// "all_gather/1/bf16/b3+2048/b3+0/1024": op, comm, dtype, from, to, count.
std::string transfer_text(const Transfer& t) {
  return fmt::format("{}/{}/{}/{}/{}/{}", name_of(t.op), t.comm.index, name_of(t.dtype),
                     location_text(t.from), location_text(t.to), t.count);
}

std::string action_text(const Action& a) {
  std::string text = fmt::format("{} {}", name_of(a.kind), name_of(a.stream));
  const auto add = [&](const char* key, const std::string& value) {
    text += fmt::format(" {}={}", key, value);
  };
  if (a.unit.valid()) add("unit", std::to_string(a.unit.index));
  if (a.micro_batch >= 0) add("mb", std::to_string(a.micro_batch));
  if (!a.waits.empty())
    add("waits", joined<ActionId>(a.waits, [](const ActionId& id) { return std::to_string(id.index); }));
  if (!a.transfers.empty()) add("transfers", joined<Transfer>(a.transfers, transfer_text));
  const auto buffer = [&](const char* key, BufferId id) {
    if (id.valid()) add(key, fmt::format("b{}", id.index));
  };
  buffer("workspace", a.workspace);
  buffer("saved", a.saved);
  buffer("held", a.held);
  buffer("batch", a.batch);
  const auto locations = [&](const char* key, const std::vector<Location>& list) {
    if (!list.empty()) add(key, joined<Location>(list, location_text));
  };
  locations("in", a.inputs);
  locations("out", a.outputs);
  locations("in_grad", a.input_grads);
  locations("out_grad", a.output_grads);
  return text;
}

std::string offsets_text(const std::vector<int64_t>& offsets) {
  return joined<int64_t>(offsets, [](const int64_t& o) { return std::to_string(o); });
}

std::string layout_text(const CodeLayout& layout) {
  std::string text = fmt::format("layout saved={} held={} offsets={}\n", layout.saved_bytes,
                                 layout.held_bytes, offsets_text(layout.offset));
  for (int s = 0; s < kSections; ++s) {
    if (layout.scratch[s].empty()) continue;
    text += fmt::format("layout.{} workspace={} scratch={}\n", name_of(static_cast<Section>(s)),
                        layout.workspace_bytes[s], offsets_text(layout.scratch[s]));
  }
  return text;
}

// "0:4+2,12+2;1:8+8": dims, each with the ranges of the whole that this rank has; "_" where nothing is cut.
std::string cut_text(const ParamCut& cut) {
  std::string text;
  for (const DimCut& dim : cut.dims)
    text += fmt::format("{}{}:{}", text.empty() ? "" : ";", dim.dim,
                        joined<IndexRange>(dim.ranges, [](const IndexRange& range) {
                          return fmt::format("{}+{}", range.begin, range.count);
                        }));
  return text.empty() ? "_" : text;
}

std::string unit_text(const Unit& unit, const Code& code) {
  std::string text = fmt::format("unit {} code={}", unit.name, unit.code.index);
  for (size_t i = 0; i < unit.bound.size(); ++i)
    if (unit.bound[i].buffer.valid())
      text += fmt::format(" {}={}", code.values[i].name, location_text(unit.bound[i]));
  return text + "\n";
}

}  // namespace

std::string to_text(const Program& p) {
  std::string text = fmt::format(
      "program {} rank={} pp={} dp_replicate={} dp_shard={} cp={} tp={} ep={} etp={} threads={} "
      "batch_bytes={} arena_bytes={} staging={} scalars={} result={}\n",
      in_quotes(p.name), p.rank, p.mesh.pp, p.mesh.dp_replicate, p.mesh.dp_shard, p.mesh.cp, p.mesh.tp,
      p.mesh.ep, p.mesh.etp, p.threads, p.batch_bytes, p.memory.arena_bytes, p.staging.index, p.scalars.index,
      p.result.index);
  for (const CommGroup& g : p.comms)
    text += fmt::format("comm {} channel={} ranks={}\n", g.name, g.channel,
                        joined<int32_t>(g.ranks, [](const int32_t& r) { return std::to_string(r); }));
  for (int a = 0; a < kBlockAxes; ++a)
    if (p.axes[static_cast<size_t>(a)].valid())
      text += fmt::format("axis {} comm={}\n", name_of(static_cast<BlockAxis>(a)),
                          p.axes[static_cast<size_t>(a)].index);
  for (const BatchField& f : p.batch)
    text += fmt::format("batch {} {} offset={}\n", f.name, to_string(f.type), f.offset);
  for (const ParamGroup& g : p.groups)
    text += fmt::format("group {} elements={} shard={}+{} copy={}/{} master={} moment1={} moment2={}\n",
                        g.name, g.elements, g.shard_begin, g.shard_elements, g.copy, g.copies, g.master.index,
                        g.moment1.index, g.moment2.index);
  for (const Param& q : p.params)
    text += fmt::format("param {} role={} shape={} own={} cut={} group={} offset={} decay={}\n", q.name,
                        name_of(q.role), to_string(q.shape), to_string(q.cut.shape), cut_text(q.cut),
                        q.group.index, q.offset, q.decay ? 1 : 0);
  for (size_t i = 0; i < p.codes.size(); ++i) text += to_text(p.codes[i]) + layout_text(p.layouts[i]);
  for (const Unit& unit : p.units) text += unit_text(unit, p.code(unit.code));
  for (const Timeline& timeline : p.timelines) {
    text += fmt::format("timeline {} micro_batches={}\n", timeline.name, timeline.micro_batches);
    for (const Action& action : timeline.actions) text += "action " + action_text(action) + "\n";
  }
  for (const Buffer& b : p.memory.buffers)
    text += fmt::format("buffer {} {} bytes={} offset={} timeline={} first={} last={}\n", b.name,
                        name_of(b.cls), b.bytes, b.offset, b.timeline, b.first.index, b.last.index);
  return text + "end\n";
}

}  // namespace trireme
