// print and parse are inverse: structures come back equal, texts come back byte by byte.
#include <gtest/gtest.h>

#include <limits>

#include "ir/small_program.h"
#include "ir/text.h"

namespace trireme {
namespace {

Graph small_graph() {
  Graph graph;
  graph.name = "gpt2.layer";
  const ValueId x = add_value(graph, {"x", {DType::bf16, {4, 64, 64}}, ValueRole::input, {}});
  const ValueId scalar = add_value(graph, {"s", {DType::f64, {}}, ValueRole::state, {}});
  Value y{"y", {DType::f32, {4, 64, 64}}, ValueRole::local, {}};
  y.placements.axes = {Placement{Placement::Kind::shard, 2}, Placement{Placement::Kind::partial, 0},
                       Placement{Placement::Kind::shard, 0}};
  const ValueId out = add_value(graph, y);
  graph.ops.push_back({"mix", {}, {x, ValueId(), scalar, ValueId()}, {ValueId(), out}});
  graph.ops.push_back({"source", {}, {}, {}});
  graph.outputs = {out, x};
  return graph;
}

TEST(RoundTrip, AGraphWithAbsentOperandsAndPlacements) {
  const Graph graph = small_graph();
  const std::string text = to_text(graph);
  EXPECT_EQ(text,
            "graph gpt2.layer\n"
            "  value x: input bf16[4,64,64]\n"
            "  value s: state f64[]\n"
            "  value y: local f32[4,64,64] tp=shard(2) cp=partial ep=shard(0)\n"
            "  op _, y = mix(x, _, s, _)\n"
            "  op  = source()\n"
            "  return y, x\n"
            "end\n");
  EXPECT_EQ(parse_graph(text), graph);
}

TEST(RoundTrip, AGraphWithoutOutputs) {
  Graph graph;
  graph.name = "empty";
  EXPECT_EQ(parse_graph(to_text(graph)), graph);
}

TEST(RoundTrip, EveryRoleHasANameOfItsOwn) {
  Graph graph;
  graph.name = "roles";
  for (int r = 0; r <= static_cast<int>(ValueRole::local); ++r)
    add_value(graph, {"v" + std::to_string(r), {DType::u8, {1}}, static_cast<ValueRole>(r), {}});
  EXPECT_EQ(parse_graph(to_text(graph)), graph);
}

// What is written after "a=" for a value.
std::string text_of(const AttrValue& value) {
  Graph graph;
  graph.name = "g";
  graph.ops.push_back({"op", {{{"a", value}}}, {}, {}});
  const std::string text = to_text(graph);
  EXPECT_EQ(parse_graph(text), graph) << text;
  const size_t begin = text.find("{a=") + 3;
  return text.substr(begin, text.find("}\n") - begin);
}

TEST(RoundTrip, AttributesKeepTheirTypeAndValue) {
  EXPECT_EQ(text_of(int64_t{0}), "0");
  EXPECT_EQ(text_of(int64_t{-7}), "-7");
  EXPECT_EQ(text_of(std::numeric_limits<int64_t>::min()), "-9223372036854775808");
  EXPECT_EQ(text_of(std::numeric_limits<int64_t>::max()), "9223372036854775807");
  EXPECT_EQ(text_of(1.0), "1.0");
  EXPECT_EQ(text_of(-2.0), "-2.0");
  EXPECT_EQ(text_of(1e-05), "1e-05");
  EXPECT_EQ(text_of(-0.1), "-0.1");
  EXPECT_EQ(text_of(1e300), "1e+300");
  EXPECT_EQ(text_of(500000.0), "500000.0");
  EXPECT_EQ(text_of(0.1 + 0.2), "0.30000000000000004");
  EXPECT_EQ(text_of(std::numeric_limits<double>::denorm_min()), "5e-324");
  EXPECT_EQ(text_of(std::numeric_limits<double>::infinity()), "inf");
  EXPECT_EQ(text_of(-std::numeric_limits<double>::infinity()), "-inf");
  EXPECT_EQ(text_of(std::string("forward")), "\"forward\"");
  EXPECT_EQ(text_of(std::string()), "\"\"");
  EXPECT_EQ(text_of(std::string("1.0")), "\"1.0\"");
  EXPECT_EQ(text_of(std::string("a, b=2} \"c\" \\")), "\"a, b=2} \\\"c\\\" \\\\\"");
}

TEST(RoundTrip, NegativeZeroStaysNegative) { EXPECT_EQ(text_of(-0.0), "-0.0"); }

TEST(RoundTrip, CodeWithAllItsLists) {
  const Program program = parse_program(kSmallProgram);
  const Code& code = program.codes.at(0);
  EXPECT_EQ(code.parts, (std::vector{Part::input, Part::weight}));
  EXPECT_EQ(code.prepare.size(), 1U);
  EXPECT_EQ(code.forward.size(), 2U);
  EXPECT_EQ(std::get<std::string>(*code.forward[1].attrs.find("text")), "a, \"b\" {c} = \\");
  EXPECT_FALSE(code.forward[0].inputs[2].valid());
  EXPECT_EQ(parse_code(to_text(code)), code);
}

TEST(RoundTrip, AProgramByteByByte) { EXPECT_EQ(to_text(parse_program(kSmallProgram)), kSmallProgram); }

TEST(RoundTrip, AProgramsParts) {
  const Program p = parse_program(kSmallProgram);
  EXPECT_EQ(p.name, "a run");
  EXPECT_EQ(p.rank, 3);
  EXPECT_EQ(p.threads, 2);
  EXPECT_EQ(p.scalars, BufferId(3));
  EXPECT_FALSE(p.result.valid());
  EXPECT_EQ(p.params.at(1).shape, Shape{});
  EXPECT_TRUE(p.params.at(0).decay);
  EXPECT_EQ(p.groups.at(0).moment1, BufferId(1));
  EXPECT_FALSE(p.groups.at(0).moment2.valid());
  EXPECT_EQ(p.layouts.at(0).workspace_bytes[static_cast<size_t>(Section::forward)], 128);
  EXPECT_EQ(p.layouts.at(0).scratch[static_cast<size_t>(Section::forward)], (std::vector<int64_t>{0, 64}));
  EXPECT_EQ(p.units.at(0).bound.at(3), (Location{BufferId(2), 128}));
  EXPECT_FALSE(p.units.at(0).bound.at(0).buffer.valid());
  const Action& action = p.timelines.at(0).actions.at(2);
  EXPECT_EQ(action.stream, Stream::comm);
  EXPECT_EQ(action.waits, (std::vector{ActionId(0), ActionId(1)}));
  EXPECT_EQ(action.micro_batch, 1);
  EXPECT_EQ(action.output_grads, (std::vector{Location{BufferId(3), 64}}));
  EXPECT_EQ(p.mesh, (Mesh{.pp = 2, .dp_replicate = 2, .dp_shard = 4}));
  EXPECT_EQ(p.comms.at(2), (CommGroup{"3>11", 4, {3, 11}}));
  const Transfer& sent = p.timelines.at(0).actions.at(4).transfers.at(0);
  EXPECT_EQ(sent.comm, CommId(2));
  EXPECT_EQ(sent.from, (Location{BufferId(3), 64}));
  EXPECT_FALSE(sent.to.buffer.valid());
  EXPECT_EQ(parse_program(to_text(p)), p);
}

TEST(Names, ValuesThatShareANameGetDistinctOnes) {
  std::vector<Value> values(5);
  const char* given[] = {"dx", "dx", "dx.2", "dx", "y"};
  for (size_t i = 0; i < values.size(); ++i) values[i].name = given[i];
  make_names_unique(values);
  const char* expected[] = {"dx", "dx.2", "dx.2.2", "dx.3", "y"};
  for (size_t i = 0; i < values.size(); ++i) EXPECT_EQ(values[i].name, expected[i]);
}

TEST(Sections, SplitPartsKeepTheOrderOfTheList) {
  Code code;
  for (const char* kind : {"a", "b", "c", "d"}) code.backward.push_back({kind, {}, {}, {}});
  code.parts = {Part::weight, Part::input, Part::weight, Part::input};
  const auto kinds = [&](Section section) {
    std::string text;
    for (const Op* op : ops_of(code, section)) text += op->kind;
    return text;
  };
  EXPECT_EQ(kinds(Section::backward), "abcd");
  EXPECT_EQ(kinds(Section::backward_input), "bd");
  EXPECT_EQ(kinds(Section::backward_weight), "ac");
  EXPECT_EQ(kinds(Section::forward), "");
}

}  // namespace
}  // namespace trireme
