// Text to Graph and Code.
#include "ir/parse.h"

#include <unordered_map>
#include <utility>

#include "base/error.h"
#include "base/parse_text.h"
#include "ir/text.h"

namespace trireme {
namespace {

struct BodyReader {
  LineReader& reader;
  std::vector<Value>& values;
  std::unordered_map<std::string, ValueId> ids{};

  ValueId id(std::string_view name) const {
    if (name == "_") return ValueId();
    const auto found = ids.find(std::string(name));
    if (found == ids.end()) reader.fail(fmt::format("no value is called '{}'", name));
    return found->second;
  }

  std::vector<ValueId> id_list(std::string_view text) const {
    std::vector<ValueId> list;
    for (const std::string_view name : reader.list(text)) list.push_back(id(name));
    return list;
  }

  Placement placement(std::string_view text) const {
    if (text == "partial") return kPartial;
    if (text == "rows") return kRows;
    if (!text.starts_with("shard(") || !text.ends_with(")"))
      reader.fail(fmt::format("'{}' is no placement", text));
    return {Placement::Kind::shard, reader.index(text.substr(6, text.size() - 7))};
  }

  void value() {
    Value value;
    value.name = reader.name(reader.until(':'));
    const std::string_view role = reader.word();
    bool known = false;
    for (int r = 0; r <= static_cast<int>(ValueRole::local); ++r) {
      if (name_of(static_cast<ValueRole>(r)) != role) continue;
      value.role = static_cast<ValueRole>(r);
      known = true;
    }
    if (!known) reader.fail(fmt::format("'{}' is no role", role));
    value.type = reader.type(reader.word());
    while (!reader.at_line_end()) {
      const std::string_view pair = reader.word();
      const int axis = pair.starts_with("tp=")   ? 0
                       : pair.starts_with("cp=") ? 1
                       : pair.starts_with("ep=") ? 2
                                                 : -1;
      if (axis < 0) reader.fail(fmt::format("'{}' is no placement", pair));
      Placement& place = value.placements.axes[static_cast<size_t>(axis)];
      if (place != Placement{}) reader.fail(fmt::format("{} is there twice", pair.substr(0, 2)));
      place = placement(pair.substr(3));
    }
    const ValueId next(static_cast<int64_t>(values.size()));
    if (!ids.emplace(value.name, next).second)
      reader.fail(fmt::format("value '{}' is there twice", value.name));
    values.push_back(std::move(value));
  }

  // A double is known by its '.' or 'e', or by the 'n' of inf and nan.
  AttrValue number(std::string_view text) const {
    if (text.find_first_of(".en") == std::string_view::npos) return reader.integer(text);
    const auto number = parse_number<double>(text);
    if (!number) reader.fail(fmt::format("'{}' is no number", text));
    return *number;
  }

  // "a=1, b="text"}", the '{' being taken.
  Attrs attrs() const {
    Attrs attrs;
    do {
      std::string name(reader.name(reader.until('=')));
      if (attrs.find(name) != nullptr) reader.fail(fmt::format("attribute '{}' is there twice", name));
      if (reader.at_line_end()) reader.fail(fmt::format("attribute '{}' has no value", name));
      AttrValue value = reader.next_is('"') ? AttrValue(reader.quoted()) : number(reader.before(',', '}'));
      attrs.entries.emplace_back(std::move(name), std::move(value));
    } while (reader.take(','));
    if (!reader.take('}')) reader.fail("'}' is missing");
    return attrs;
  }

  // "y, mean = kind(x, _) {a=1}"
  Op op() const {
    Op op;
    op.outputs = id_list(reader.until('='));
    op.kind = reader.name(reader.until('('));
    op.inputs = id_list(reader.until(')'));
    if (reader.take('{')) op.attrs = attrs();
    reader.finish_line();
    return op;
  }
};

}  // namespace

Code read_code(LineReader& reader) {
  Code code;
  code.name = reader.word();
  reader.finish_line();
  BodyReader body{reader, code.values};
  while (reader.next_line()) {
    const std::string_view word = reader.word();
    if (word == "end") {
      reader.finish_line();
      return code;
    }
    if (word == "value") {
      body.value();
    } else if (word == "prepare") {
      code.prepare.push_back(body.op());
    } else if (word == "forward") {
      code.forward.push_back(body.op());
    } else if (word == "backward.input" || word == "backward.weight") {
      code.parts.push_back(word == "backward.input" ? Part::input : Part::weight);
      code.backward.push_back(body.op());
    } else {
      reader.fail(fmt::format("'{}' does not belong into code", word));
    }
  }
  reader.fail("'end' is missing");
}

Code parse_code(std::string_view text) {
  LineReader reader(text);
  if (!reader.next_line() || reader.word() != "code") reader.fail("'code NAME' is missing");
  Code code = read_code(reader);
  reader.finish_text();
  return code;
}

Graph parse_graph(std::string_view text) {
  LineReader reader(text);
  if (!reader.next_line() || reader.word() != "graph") reader.fail("'graph NAME' is missing");
  Graph graph;
  graph.name = reader.word();
  reader.finish_line();
  BodyReader body{reader, graph.values};
  bool returned = false;
  while (reader.next_line()) {
    const std::string_view word = reader.word();
    if (word == "end") {
      reader.finish_text();
      return graph;
    }
    if (word == "value") {
      body.value();
    } else if (word == "op") {
      graph.ops.push_back(body.op());
    } else if (word == "return" && !std::exchange(returned, true)) {
      graph.outputs = body.id_list(reader.rest());
    } else {
      reader.fail(fmt::format("'{}' does not belong into a graph", word));
    }
  }
  reader.fail("'end' is missing");
}

}  // namespace trireme
