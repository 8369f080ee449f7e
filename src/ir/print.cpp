// Graph and Code to text.
#include "ir/print.h"

#include <fmt/format.h>

#include "ir/line_reader.h"
#include "ir/text.h"

namespace trireme {
namespace {

// A double must not read back as an integer.
std::string attr_text(const AttrValue& value) {
  if (const auto* i = std::get_if<int64_t>(&value)) return std::to_string(*i);
  if (const auto* s = std::get_if<std::string>(&value)) return in_quotes(*s);
  std::string text = fmt::format("{}", std::get<double>(value));
  if (text.find_first_of(".en") == std::string::npos) text += ".0";
  return text;
}

std::string attrs_text(const Attrs& attrs) {
  std::string text;
  for (const auto& [name, value] : attrs.entries) {
    if (!text.empty()) text += ", ";
    text += name + "=" + attr_text(value);
  }
  return text.empty() ? "" : " {" + text + "}";
}

std::string operands_text(const std::vector<ValueId>& ids, const std::vector<Value>& values) {
  std::string text;
  for (const ValueId id : ids) {
    if (!text.empty()) text += ", ";
    text += id.valid() ? values[static_cast<size_t>(id.index)].name : "_";
  }
  return text;
}

std::string value_line(const Value& value) {
  std::string line = fmt::format("  value {}: {} {}", value.name, name_of(value.role), to_string(value.type));
  const std::string placements = to_string(value.placements);
  return line + (placements.empty() ? "" : " " + placements) + "\n";
}

}  // namespace

std::string op_text(const Op& op, const std::vector<Value>& values) {
  return fmt::format("{} = {}({}){}", operands_text(op.outputs, values), op.kind,
                     operands_text(op.inputs, values), attrs_text(op.attrs));
}

std::string to_text(const Graph& graph) {
  std::string text = "graph " + graph.name + "\n";
  for (const Value& value : graph.values) text += value_line(value);
  for (const Op& op : graph.ops) text += "  op " + op_text(op, graph.values) + "\n";
  return text + "  return " + operands_text(graph.outputs, graph.values) + "\nend\n";
}

std::string to_text(const Code& code) {
  std::string text = "code " + code.name + "\n";
  for (const Value& value : code.values) text += value_line(value);
  for (const Op& op : code.prepare) text += "  prepare " + op_text(op, code.values) + "\n";
  for (const Op& op : code.forward) text += "  forward " + op_text(op, code.values) + "\n";
  for (size_t i = 0; i < code.backward.size(); ++i)
    text += fmt::format("  backward.{} {}\n", code.parts[i] == Part::weight ? "weight" : "input",
                        op_text(code.backward[i], code.values));
  return text + "end\n";
}

}  // namespace trireme
