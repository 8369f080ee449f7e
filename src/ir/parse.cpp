// Text to Graph and Code.
#include "ir/parse.h"

#include <charconv>
#include <unordered_map>

#include "base/error.h"
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
    while (!text.empty()) {
      const size_t comma = text.find(',');
      std::string_view name = text.substr(0, comma);
      while (!name.empty() && name.front() == ' ') name.remove_prefix(1);
      while (!name.empty() && name.back() == ' ') name.remove_suffix(1);
      list.push_back(id(name));
      text = comma == std::string_view::npos ? std::string_view() : text.substr(comma + 1);
    }
    return list;
  }

  Placement placement(std::string_view text) const {
    if (text == "partial") return {Placement::Kind::partial, 0};
    if (!text.starts_with("shard(") || !text.ends_with(")"))
      reader.fail(fmt::format("'{}' is no placement", text));
    return {Placement::Kind::shard, static_cast<int32_t>(reader.integer(text.substr(6, text.size() - 7)))};
  }

  void value() {
    Value value;
    value.name = reader.until(':');
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
      value.placements.axes[static_cast<size_t>(axis)] = placement(pair.substr(3));
    }
    const ValueId next(static_cast<int64_t>(values.size()));
    if (!ids.emplace(value.name, next).second)
      reader.fail(fmt::format("value '{}' is there twice", value.name));
    values.push_back(std::move(value));
  }

  AttrValue attr(std::string_view text) const {
    if (text.size() >= 2 && text.front() == '"' && text.back() == '"')
      return std::string(text.substr(1, text.size() - 2));
    if (text.find_first_of(".en") == std::string_view::npos) return reader.integer(text);
    double number = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    if (error != std::errc() || end != text.data() + text.size())
      reader.fail(fmt::format("'{}' is no number", text));
    return number;
  }

  Attrs attrs(std::string_view text) const {
    Attrs attrs;
    while (!text.empty()) {
      const size_t comma = text.find(", ");
      const std::string_view pair = text.substr(0, comma);
      const size_t equals = pair.find('=');
      if (equals == std::string_view::npos) reader.fail(fmt::format("'{}' is no attribute", pair));
      attrs.entries.emplace_back(std::string(pair.substr(0, equals)), attr(pair.substr(equals + 1)));
      text = comma == std::string_view::npos ? std::string_view() : text.substr(comma + 2);
    }
    return attrs;
  }

  // "y, mean = kind(x, _) {a=1}"
  Op op() const {
    Op op;
    op.outputs = id_list(reader.until('='));
    op.kind = reader.until('(');
    op.inputs = id_list(reader.until(')'));
    if (!reader.at_line_end()) {
      reader.until('{');
      op.attrs = attrs(reader.until('}'));
    }
    return op;
  }
};

}  // namespace

Code read_code(LineReader& reader) {
  Code code;
  code.name = reader.rest();
  BodyReader body{reader, code.values};
  while (reader.next_line()) {
    const std::string_view word = reader.word();
    if (word == "end") return code;
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
  return read_code(reader);
}

Graph parse_graph(std::string_view text) {
  LineReader reader(text);
  if (!reader.next_line() || reader.word() != "graph") reader.fail("'graph NAME' is missing");
  Graph graph;
  graph.name = reader.rest();
  BodyReader body{reader, graph.values};
  while (reader.next_line()) {
    const std::string_view word = reader.word();
    if (word == "end") return graph;
    if (word == "value") {
      body.value();
    } else if (word == "op") {
      graph.ops.push_back(body.op());
    } else if (word == "return") {
      graph.outputs = body.id_list(reader.rest());
    } else {
      reader.fail(fmt::format("'{}' does not belong into a graph", word));
    }
  }
  reader.fail("'end' is missing");
}

}  // namespace trireme
