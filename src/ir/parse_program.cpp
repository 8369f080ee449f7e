// Text to Program. Every number that refers to another entry is held to what is there, so that a parsed
// Program can be walked; whether it is sound is lower/check.h's to say.
#include <algorithm>

#include "base/error.h"
#include "ir/parse.h"
#include "ir/text.h"

namespace trireme {
namespace {

constexpr int32_t kMostRanks = 1 << 30;

// The enumerator of E below `count` that is called `name`.
template <class E>
E named(const LineReader& reader, std::string_view name, int count) {
  for (int i = 0; i < count; ++i)
    if (name_of(static_cast<E>(i)) == name) return static_cast<E>(i);
  reader.fail(fmt::format("'{}' is unknown", name));
}

class ProgramReader {
 public:
  explicit ProgramReader(std::string_view text) : reader_(text) {}

  Program read() {
    read_head();
    while (reader_.next_line()) {
      const std::string_view word = reader_.word();
      if (word == "end") {
        reader_.finish_text();
        finish();
        return std::move(program_);
      }
      read_entry(word);
      reader_.finish_line();
    }
    reader_.fail("'end' is missing");
  }

 private:
  void read_head() {
    if (!reader_.next_line() || reader_.word() != "program") reader_.fail("'program NAME' is missing");
    program_.name = reader_.quoted();
    program_.rank = reader_.index(reader_.value_of("rank"));
    program_.mesh.pp = reader_.index(reader_.value_of("pp"));
    program_.mesh.dp_replicate = reader_.index(reader_.value_of("dp_replicate"));
    program_.mesh.dp_shard = reader_.index(reader_.value_of("dp_shard"));
    program_.mesh.cp = reader_.index(reader_.value_of("cp"));
    program_.mesh.tp = reader_.index(reader_.value_of("tp"));
    program_.mesh.ep = reader_.index(reader_.value_of("ep"));
    program_.mesh.etp = reader_.index(reader_.value_of("etp"));
    check_mesh(program_.mesh);
    program_.threads = reader_.index(reader_.value_of("threads"));
    program_.batch_bytes = size_of_key("batch_bytes");
    program_.memory.arena_bytes = size_of_key("arena_bytes");
    program_.staging = optional_buffer("staging");
    program_.scalars = optional_buffer("scalars");
    program_.result = optional_buffer("result");
    reader_.finish_line();
  }

  void check_mesh(const Mesh& mesh) const {
    int64_t ranks = 1;
    bool sound = true;
    for (const int32_t size : {mesh.pp, mesh.dp_replicate, mesh.dp_shard, mesh.cp, mesh.tp}) {
      sound = sound && size >= 1 && size <= kMostRanks / ranks;
      ranks *= sound ? size : 1;
    }
    sound = sound && program_.rank < ranks && mesh.ep >= 1 && mesh.shards() % mesh.ep == 0 &&
            (mesh.etp == 1 || mesh.etp == mesh.tp);
    if (!sound)
      reader_.fail(fmt::format("no rank {} among {} x {} x {} x {} x {} with {} x {} for experts",
                               program_.rank, mesh.pp, mesh.dp_replicate, mesh.dp_shard, mesh.cp, mesh.tp,
                               mesh.ep, mesh.etp));
  }

  void read_entry(std::string_view word) {
    if (word == "comm") {
      read_comm();
    } else if (word == "axis") {
      read_axis();
    } else if (word == "batch") {
      read_batch_field();
    } else if (word == "group") {
      read_group();
    } else if (word == "param") {
      read_param();
    } else if (word == "code") {
      program_.codes.push_back(read_code(reader_));
      program_.layouts.emplace_back();
    } else if (word.starts_with("layout") && !program_.codes.empty()) {
      read_layout(word);
    } else if (word == "unit") {
      read_unit();
    } else if (word == "timeline") {
      Timeline timeline;
      timeline.name = reader_.word();
      timeline.micro_batches = reader_.index(reader_.value_of("micro_batches"));
      program_.timelines.push_back(std::move(timeline));
    } else if (word == "action" && !program_.timelines.empty()) {
      read_action();
    } else if (word == "buffer") {
      read_buffer();
    } else {
      reader_.fail(fmt::format("'{}' does not belong into a program here", word));
    }
  }

  void read_comm() {
    CommGroup group;
    group.name = reader_.word();
    group.channel = reader_.index(reader_.value_of("channel"));
    for (const std::string_view rank : reader_.list(reader_.value_of("ranks")))
      group.ranks.push_back(reader_.index(rank));
    std::vector<int32_t> sorted = group.ranks;
    std::sort(sorted.begin(), sorted.end());
    if (std::adjacent_find(sorted.begin(), sorted.end()) != sorted.end())
      reader_.fail(fmt::format("comm {} has a rank twice", group.name));
    if (!std::binary_search(sorted.begin(), sorted.end(), program_.rank))
      reader_.fail(fmt::format("comm {} is without rank {}", group.name, program_.rank));
    there(sorted.back(), static_cast<size_t>(program_.mesh.ranks()), "rank");
    program_.comms.push_back(std::move(group));
  }

  void read_axis() {
    const std::string_view name = reader_.word();
    const int32_t comm = reader_.index(reader_.value_of("comm"));
    there(comm, program_.comms.size(), "comm");
    for (size_t a = 0; a < program_.axes.size(); ++a)
      if (name_of(static_cast<BlockAxis>(a)) == name) {
        program_.axes[a] = CommId(comm);
        return;
      }
    reader_.fail(fmt::format("'{}' is no axis", name));
  }

  void read_batch_field() {
    BatchField field;
    field.name = reader_.word();
    field.type = reader_.type(reader_.word());
    field.offset = size_of_key("offset");
    program_.batch.push_back(std::move(field));
  }

  void read_group() {
    ParamGroup group;
    group.name = reader_.word();
    group.elements = size_of_key("elements");
    read_shard(group);
    read_copy(group);
    group.master = optional_buffer("master");
    group.moment1 = optional_buffer("moment1");
    group.moment2 = optional_buffer("moment2");
    program_.groups.push_back(std::move(group));
  }

  // The two sides of a value such as "BEGIN+COUNT" or "INDEX/COUNT".
  std::pair<std::string_view, std::string_view> sides(std::string_view key, char between) {
    const std::string_view text = reader_.value_of(key);
    const size_t at = text.find(between);
    if (at == std::string_view::npos) reader_.fail(fmt::format("'{}' is no {}", text, key));
    return {text.substr(0, at), text.substr(at + 1)};
  }

  // Within the group.
  void read_shard(ParamGroup& group) {
    const auto [begin, count] = sides("shard", '+');
    group.shard_begin = reader_.integer(begin);
    group.shard_elements = reader_.integer(count);
    if (group.shard_begin < 0 || group.shard_elements < 0 ||
        group.shard_elements > group.elements - group.shard_begin)
      reader_.fail(fmt::format("shard {}+{} is not within {} elements", begin, count, group.elements));
  }

  void read_copy(ParamGroup& group) {
    const auto [copy, copies] = sides("copy", '/');
    group.copy = reader_.index(copy);
    group.copies = reader_.index(copies);
    if (group.copy < 0 || group.copy >= group.copies || group.copies > program_.mesh.pp)
      reader_.fail(
          fmt::format("copy {}/{} is not one of {} ranks of the pipeline", copy, copies, program_.mesh.pp));
  }

  void read_role(Param& param) {
    const std::string_view name = reader_.value_of("role");
    for (int r = 0; r <= static_cast<int>(ParamRole::router_state); ++r)
      if (name_of(static_cast<ParamRole>(r)) == name) {
        param.role = static_cast<ParamRole>(r);
        return;
      }
    reader_.fail(fmt::format("'{}' is no role of a parameter", name));
  }

  // "4+2", of a dim with so many indexes.
  IndexRange index_range(std::string_view text, int64_t length) const {
    const size_t plus = text.find('+');
    if (plus == std::string_view::npos) reader_.fail(fmt::format("'{}' is no range", text));
    const IndexRange range{reader_.integer(text.substr(0, plus)), reader_.integer(text.substr(plus + 1))};
    if (range.begin < 0 || range.count < 0 || range.begin > length || range.count > length - range.begin)
      reader_.fail(fmt::format("range {} of {} indexes", text, length));
    return range;
  }

  // "0:4+2,12+2;1:8+8": what the rank's own is padded to is at least what it has.
  void read_cut(Param& param) {
    if (param.cut.shape.size() != param.shape.size())
      reader_.fail("own has another number of dims than shape");
    Shape covered = param.shape;
    std::string_view text = reader_.value_of("cut");
    for (; text != "_" && !text.empty(); text.remove_prefix(std::min(text.size(), text.find(';')))) {
      if (text.starts_with(';')) text.remove_prefix(1);
      const std::string_view entry = text.substr(0, text.find(';'));
      const size_t colon = entry.find(':');
      if (colon == std::string_view::npos) reader_.fail(fmt::format("'{}' is no cut", entry));
      DimCut dim{reader_.index(entry.substr(0, colon)), {}};
      there(dim.dim, param.shape.size(), "dim");
      int64_t& length = covered[static_cast<size_t>(dim.dim)];
      length = 0;
      for (const std::string_view range : reader_.list(entry.substr(colon + 1))) {
        dim.ranges.push_back(index_range(range, param.shape[static_cast<size_t>(dim.dim)]));
        length += dim.ranges.back().count;
      }
      param.cut.dims.push_back(std::move(dim));
    }
    for (size_t d = 0; d < covered.size(); ++d)
      if (covered[d] > param.cut.shape[d])
        reader_.fail(fmt::format("own has {} in dim {}, cut gives it {}", param.cut.shape[d], d, covered[d]));
  }

  void read_param() {
    Param param;
    param.name = reader_.word();
    read_role(param);
    param.shape = reader_.type(fmt::format("f32[{}]", reader_.value_of("shape"))).shape;
    param.cut.shape = reader_.type(fmt::format("f32[{}]", reader_.value_of("own"))).shape;
    read_cut(param);
    param.group = GroupId(reader_.index(reader_.value_of("group")));
    there(param.group.index, program_.groups.size(), "group");
    param.offset = size_of_key("offset");
    param.decay = reader_.integer_of("decay") != 0;
    program_.params.push_back(std::move(param));
  }

  // Of the code that stands last.
  void read_layout(std::string_view word) {
    const Code& code = program_.codes.back();
    CodeLayout& layout = program_.layouts.back();
    if (word == "layout") {
      layout.saved_bytes = size_of_key("saved");
      layout.held_bytes = size_of_key("held");
      layout.offset = reader_.integers(reader_.value_of("offsets"));
      as_many(layout.offset.size(), code.values.size(), "offsets");
      return;
    }
    if (!word.starts_with("layout.")) reader_.fail(fmt::format("'{}' is no layout", word));
    const auto section = named<Section>(reader_, word.substr(7), kSections);
    const auto s = static_cast<size_t>(section);
    layout.workspace_bytes[s] = size_of_key("workspace");
    layout.scratch[s] = reader_.integers(reader_.value_of("scratch"));
    as_many(layout.scratch[s].size(), ops_of(code, section).size(), "scratch offsets");
  }

  void read_unit() {
    Unit unit;
    unit.name = reader_.word();
    unit.code = CodeId(reader_.index(reader_.value_of("code")));
    there(unit.code.index, program_.codes.size(), "code");
    const std::vector<Value>& values = program_.code(unit.code).values;
    unit.bound.resize(values.size());
    size_t at = 0;  // bound values are printed in the order of the code's
    while (!reader_.at_line_end()) {
      const auto [name, value] = pair(reader_.word());
      while (at < values.size() && values[at].name != name) ++at;
      if (at == values.size()) reader_.fail(fmt::format("the code has no value '{}' here", name));
      unit.bound[at++] = location(value);
    }
    program_.units.push_back(std::move(unit));
  }

  void read_action() {
    Timeline& timeline = program_.timelines.back();
    Action action;
    std::vector<std::string_view> seen;
    action.kind = named<ActionKind>(reader_, reader_.word(), kActionKinds);
    action.stream = named<Stream>(reader_, reader_.word(), kStreams);
    while (!reader_.at_line_end()) {
      const auto [key, value] = pair(reader_.word());
      if (std::find(seen.begin(), seen.end(), key) != seen.end())
        reader_.fail(fmt::format("{}= is there twice", key));
      seen.push_back(key);
      read_action_part(action, key, value);
    }
    if (action.unit.valid())
      there(action.unit.index, program_.units.size(), "unit");
    else if (action.kind != ActionKind::load && action.transfers.empty())
      reader_.fail("unit=... is missing");
    if (action.micro_batch >= 0 || action.kind == ActionKind::load)
      there(action.micro_batch, static_cast<size_t>(timeline.micro_batches), "micro-batch");
    for (const ActionId id : action.waits) there(id.index, timeline.actions.size(), "earlier action");
    timeline.actions.push_back(std::move(action));
  }

  void read_action_part(Action& action, std::string_view key, std::string_view value) {
    if (key == "unit")
      action.unit = UnitId(reader_.index(value));
    else if (key == "mb")
      action.micro_batch = reader_.index(value);
    else if (key == "waits")
      for (const std::string_view id : reader_.list(value)) action.waits.emplace_back(reader_.index(id));
    else if (key == "transfers")
      for (const std::string_view text : reader_.list(value)) action.transfers.push_back(transfer(text));
    else if (key == "workspace")
      action.workspace = buffer(value);
    else if (key == "saved")
      action.saved = buffer(value);
    else if (key == "held")
      action.held = buffer(value);
    else if (key == "batch")
      action.batch = buffer(value);
    else if (key == "in")
      action.inputs = locations(value);
    else if (key == "out")
      action.outputs = locations(value);
    else if (key == "in_grad")
      action.input_grads = locations(value);
    else if (key == "out_grad")
      action.output_grads = locations(value);
    else
      reader_.fail(fmt::format("'{}' does not belong into an action", key));
  }

  Transfer transfer(std::string_view text) {
    std::array<std::string_view, 6> parts;
    for (size_t i = 0; i < parts.size(); ++i) {
      const size_t slash = i + 1 < parts.size() ? text.find('/') : text.size();
      if (slash == std::string_view::npos) reader_.fail("a transfer has six parts");
      parts[i] = text.substr(0, slash);
      text.remove_prefix(std::min(text.size(), slash + 1));
    }
    Transfer transfer;
    transfer.op = named<CommOp>(reader_, parts[0], kCommOps);
    transfer.comm = CommId(reader_.index(parts[1]));
    there(transfer.comm.index, program_.comms.size(), "comm");
    const auto dtype = dtype_named(parts[2]);
    if (!dtype) reader_.fail(fmt::format("'{}' is no dtype", parts[2]));
    transfer.dtype = *dtype;
    if (parts[3] != "_") transfer.from = location(parts[3]);
    if (parts[4] != "_") transfer.to = location(parts[4]);
    const bool reads = transfer.op != CommOp::recv && transfer.op != CommOp::all_reduce;
    if ((reads && !transfer.from.buffer.valid()) ||
        (transfer.op != CommOp::send && !transfer.to.buffer.valid()))
      reader_.fail(fmt::format("a {} without its place", parts[0]));
    transfer.count = reader_.integer(parts[5]);
    if (transfer.count < 0) reader_.fail("count is negative");
    return transfer;
  }

  void read_buffer() {
    Buffer buffer;
    buffer.name = reader_.word();
    buffer.cls = named<BufferClass>(reader_, reader_.word(), kBufferClasses);
    buffer.bytes = size_of_key("bytes");
    buffer.offset = reader_.integer_of("offset");
    buffer.timeline = reader_.index_of("timeline");
    buffer.first = ActionId(reader_.index_of("first"));
    buffer.last = ActionId(reader_.index_of("last"));
    size_t actions = 0;
    if (buffer.timeline >= 0) {
      there(buffer.timeline, program_.timelines.size(), "timeline");
      actions = program_.timelines[static_cast<size_t>(buffer.timeline)].actions.size();
    }
    if (buffer.first.valid()) there(buffer.first.index, actions, "action");
    if (buffer.last.valid()) there(buffer.last.index, actions, "action");
    if (buffer.first.valid() != buffer.last.valid() || buffer.first > buffer.last)
      reader_.fail("first and last are no span of actions");
    program_.memory.buffers.push_back(std::move(buffer));
  }

  // --- references -----------------------------------------------------------------------------------------

  void there(int32_t index, size_t count, std::string_view what) const {
    if (index < 0 || static_cast<size_t>(index) >= count) reader_.fail(fmt::format("no {} {}", what, index));
  }

  void as_many(size_t given, size_t wanted, std::string_view what) const {
    if (given != wanted) reader_.fail(fmt::format("{} {} for {} entries of the code", given, what, wanted));
  }

  std::pair<std::string_view, std::string_view> pair(std::string_view word) const {
    const size_t equals = word.find('=');
    if (equals == std::string_view::npos) reader_.fail(fmt::format("'{}' has no '='", word));
    return {word.substr(0, equals), word.substr(equals + 1)};
  }

  int64_t size_of_key(std::string_view key) {
    const int64_t size = reader_.integer_of(key);
    if (size < 0) reader_.fail(fmt::format("{} is negative", key));
    return size;
  }

  // Buffers stand last in the text: what refers to them is held to their number at the end.
  BufferId buffer_number(int32_t index) {
    if (index > highest_buffer_) {
      highest_buffer_ = index;
      highest_buffer_line_ = reader_.line_number();
    }
    return BufferId(index);
  }

  BufferId optional_buffer(std::string_view key) { return buffer_number(reader_.index_of(key)); }

  BufferId buffer(std::string_view text) {
    if (!text.starts_with("b")) reader_.fail(fmt::format("'{}' is no buffer", text));
    return buffer_number(reader_.index(text.substr(1)));
  }

  Location location(std::string_view text) {
    const size_t plus = text.find('+');
    if (plus == std::string_view::npos) reader_.fail(fmt::format("'{}' is no location", text));
    Location location{buffer(text.substr(0, plus)), reader_.integer(text.substr(plus + 1))};
    if (location.offset < 0) reader_.fail(fmt::format("'{}' has a negative offset", text));
    return location;
  }

  std::vector<Location> locations(std::string_view text) {
    std::vector<Location> list;
    for (const std::string_view entry : reader_.list(text)) list.push_back(location(entry));
    return list;
  }

  void finish() const {
    if (highest_buffer_ >= static_cast<int64_t>(program_.memory.buffers.size()))
      reader_.fail_at(highest_buffer_line_, fmt::format("no buffer {}", highest_buffer_));
    for (size_t c = 0; c < program_.codes.size(); ++c)
      if (program_.layouts[c].offset.size() != program_.codes[c].values.size())
        reader_.fail(fmt::format("code {} has no layout", program_.codes[c].name));
  }

  LineReader reader_;
  Program program_;
  int32_t highest_buffer_ = -1;
  int64_t highest_buffer_line_ = 0;
};

}  // namespace

Program parse_program(std::string_view text) { return ProgramReader(text).read(); }

}  // namespace trireme
