// Text to Program.
#include <algorithm>

#include "base/error.h"
#include "ir/parse.h"
#include "ir/text.h"

namespace trireme {
namespace {

Location location(const LineReader& reader, std::string_view text) {
  const size_t plus = text.find('+');
  if (!text.starts_with("b") || plus == std::string_view::npos)
    reader.fail(fmt::format("'{}' is no location", text));
  return {BufferId(reader.integer(text.substr(1, plus - 1))), reader.integer(text.substr(plus + 1))};
}

std::vector<Location> locations(const LineReader& reader, std::string_view text) {
  std::vector<Location> list;
  while (!text.empty()) {
    const size_t comma = text.find(',');
    list.push_back(location(reader, text.substr(0, comma)));
    text = comma == std::string_view::npos ? std::string_view() : text.substr(comma + 1);
  }
  return list;
}

// The enumerator of E below `count` that is called `name`.
template <class E>
E named(const LineReader& reader, std::string_view name, int count) {
  for (int i = 0; i < count; ++i)
    if (name_of(static_cast<E>(i)) == name) return static_cast<E>(i);
  reader.fail(fmt::format("'{}' is unknown", name));
}

Action read_action(LineReader& reader) {
  Action action;
  action.kind = named<ActionKind>(reader, reader.word(), static_cast<int>(ActionKind::optimizer) + 1);
  action.stream = named<Stream>(reader, reader.word(), 2);
  while (!reader.at_line_end()) {
    const std::string_view pair = reader.word();
    const size_t equals = pair.find('=');
    if (equals == std::string_view::npos) reader.fail(fmt::format("'{}' has no '='", pair));
    const std::string_view key = pair.substr(0, equals), value = pair.substr(equals + 1);
    const auto buffer = [&] { return BufferId(reader.integer(value.substr(1))); };
    if (key == "unit")
      action.unit = UnitId(reader.integer(value));
    else if (key == "mb")
      action.micro_batch = static_cast<int32_t>(reader.integer(value));
    else if (key == "waits")
      for (const int64_t id : reader.integers(value)) action.waits.push_back(ActionId(id));
    else if (key == "workspace")
      action.workspace = buffer();
    else if (key == "saved")
      action.saved = buffer();
    else if (key == "held")
      action.held = buffer();
    else if (key == "batch")
      action.batch = buffer();
    else if (key == "in")
      action.inputs = locations(reader, value);
    else if (key == "out")
      action.outputs = locations(reader, value);
    else if (key == "in_grad")
      action.input_grads = locations(reader, value);
    else if (key == "out_grad")
      action.output_grads = locations(reader, value);
    else
      reader.fail(fmt::format("'{}' does not belong into an action", key));
  }
  return action;
}

void read_layout(LineReader& reader, std::string_view word, CodeLayout& layout) {
  if (word == "layout") {
    layout.saved_bytes = reader.integer_of("saved");
    layout.held_bytes = reader.integer_of("held");
    layout.offset = reader.integers(reader.value_of("offsets"));
    return;
  }
  const auto section = static_cast<size_t>(named<Section>(reader, word.substr(7), kSections));
  layout.workspace_bytes[section] = reader.integer_of("workspace");
  layout.scratch[section] = reader.integers(reader.value_of("scratch"));
}

Unit read_unit(LineReader& reader, const std::vector<Code>& codes) {
  Unit unit;
  unit.name = reader.word();
  unit.code = CodeId(reader.integer_of("code"));
  if (unit.code.index < 0 || static_cast<size_t>(unit.code.index) >= codes.size())
    reader.fail("no such code");
  const std::vector<Value>& values = codes[static_cast<size_t>(unit.code.index)].values;
  unit.bound.resize(values.size());
  size_t at = 0;  // bound values are printed in the order of the code's
  while (!reader.at_line_end()) {
    const std::string_view pair = reader.word();
    const std::string_view name = pair.substr(0, pair.rfind('='));
    while (at < values.size() && values[at].name != name) ++at;
    if (at == values.size()) reader.fail(fmt::format("the code has no value '{}' here", name));
    unit.bound[at] = location(reader, pair.substr(name.size() + 1));
  }
  return unit;
}

Buffer read_buffer(LineReader& reader) {
  Buffer buffer;
  buffer.name = reader.word();
  buffer.cls = named<BufferClass>(reader, reader.word(), kBufferClasses);
  buffer.bytes = reader.integer_of("bytes");
  buffer.offset = reader.integer_of("offset");
  buffer.timeline = static_cast<int32_t>(reader.integer_of("timeline"));
  buffer.first = ActionId(reader.integer_of("first"));
  buffer.last = ActionId(reader.integer_of("last"));
  return buffer;
}

ParamGroup read_group(LineReader& reader) {
  ParamGroup group;
  group.name = reader.word();
  group.elements = reader.integer_of("elements");
  group.master = BufferId(reader.integer_of("master"));
  group.moment1 = BufferId(reader.integer_of("moment1"));
  group.moment2 = BufferId(reader.integer_of("moment2"));
  return group;
}

Param read_param(LineReader& reader) {
  Param param;
  param.name = reader.word();
  param.shape = reader.integers(reader.value_of("shape"));
  param.group = GroupId(reader.integer_of("group"));
  param.offset = reader.integer_of("offset");
  param.decay = reader.integer_of("decay") != 0;
  return param;
}

void read_head(LineReader& reader, Program& program) {
  if (!reader.next_line() || reader.word() != "program") reader.fail("'program NAME' is missing");
  program.name = reader.word();
  program.rank = static_cast<int32_t>(reader.integer_of("rank"));
  program.threads = static_cast<int32_t>(reader.integer_of("threads"));
  program.batch_bytes = reader.integer_of("batch_bytes");
  program.memory.arena_bytes = reader.integer_of("arena_bytes");
  program.scalars = BufferId(reader.integer_of("scalars"));
  program.result = BufferId(reader.integer_of("result"));
}

}  // namespace

Program parse_program(std::string_view text) {
  LineReader reader(text);
  Program program;
  read_head(reader, program);
  while (reader.next_line()) {
    const std::string_view word = reader.word();
    if (word == "end") return program;
    if (word == "batch") {
      BatchField field;
      field.name = reader.word();
      field.type = reader.type(reader.word());
      field.offset = reader.integer_of("offset");
      program.batch.push_back(std::move(field));
    } else if (word == "group") {
      program.groups.push_back(read_group(reader));
    } else if (word == "param") {
      program.params.push_back(read_param(reader));
    } else if (word == "code") {
      program.codes.push_back(read_code(reader));
      program.layouts.emplace_back();
    } else if (word.starts_with("layout") && !program.layouts.empty()) {
      read_layout(reader, word, program.layouts.back());
    } else if (word == "unit") {
      program.units.push_back(read_unit(reader, program.codes));
    } else if (word == "timeline") {
      Timeline timeline;
      timeline.name = reader.word();
      timeline.micro_batches = static_cast<int32_t>(reader.integer_of("micro_batches"));
      program.timelines.push_back(std::move(timeline));
    } else if (word == "action" && !program.timelines.empty()) {
      program.timelines.back().actions.push_back(read_action(reader));
    } else if (word == "buffer") {
      program.memory.buffers.push_back(read_buffer(reader));
    } else {
      reader.fail(fmt::format("'{}' does not belong into a program", word));
    }
  }
  reader.fail("'end' is missing");
}

}  // namespace trireme
