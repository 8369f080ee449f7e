// Pickles of CPython's own opcodes, and every refusal.
#include "exchange/pickle.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>

#include "pickle_bytes.h"
#include "refusal.h"

namespace trireme {
namespace {
using namespace test;
using testing::AllOf;
using testing::HasSubstr;

constexpr std::array<std::string_view, 2> kClasses = {"torch.Size", "collections.OrderedDict"};

Pickle parse(const std::string& bytes, bool persistent_ids = false) {
  return parse_pickle(bytes_of(bytes), {.classes = kClasses, .persistent_ids = persistent_ids}, "f.pkl");
}

// As text, to compare with; the pickles of these tests are small trees.
std::string show(const Pickle& pickle, PickleId id) {
  const PickleValue& v = pickle.at(id);
  std::string items;
  for (const PickleId item : v.items) items += (items.empty() ? "" : " ") + show(pickle, item);
  switch (v.kind) {
    case PickleKind::integer:
      return std::to_string(v.integer);
    case PickleKind::boolean:
      return v.integer != 0 ? "true" : "false";
    case PickleKind::real:
      return fmt::format("{}", v.real);
    case PickleKind::text:
      return fmt::format("'{}'", v.text);
    case PickleKind::bytes:
      return fmt::format("b'{}'", v.text);
    case PickleKind::class_name:
      return std::string(v.text);
    case PickleKind::list:
      return "[" + items + "]";
    case PickleKind::tuple:
      return "(" + items + ")";
    case PickleKind::dict:
      return "{" + items + "}";
    case PickleKind::object:
      return "<" + items + ">";
    case PickleKind::persistent:
      return "@" + items;
    case PickleKind::none:
      return "none";
  }
  return "";
}

std::string shown(const std::string& bytes, bool persistent_ids = false) {
  const Pickle pickle = parse(bytes, persistent_ids);
  return show(pickle, pickle.root);
}

std::string refused(const std::string& bytes) {
  return refusal([&] {
    const std::vector<char> exact(bytes.begin(), bytes.end());  // a sanitizer sees any reading past it
    parse_pickle(std::as_bytes(std::span(exact)), {.classes = kClasses}, "f.pkl");
  });
}

TEST(Pickle, ReadsEveryOpcode) {
  EXPECT_EQ(shown(pickle("N")), "none");
  EXPECT_EQ(shown(pickle("\x88\x89\x86")), "(true false)");
  EXPECT_EQ(shown(pickle("K\xff")), "255");
  EXPECT_EQ(shown(pickle("M\x01\x02")), "513");
  EXPECT_EQ(shown(pickle("J\xfe\xff\xff\xff")), "-2");
  EXPECT_EQ(shown(pickle(std::string("\x8a\x00", 2))), "0");
  EXPECT_EQ(shown(pickle("\x8a\x01\xff")), "-1");
  EXPECT_EQ(shown(pickle(std::string("\x8a\x05\x00\x00\x00\x00\x01", 7))), "4294967296");
  EXPECT_EQ(shown(pickle(std::string("\x8b\x02\x00\x00\x00\x00\x80", 7))), "-32768");
  EXPECT_EQ(shown(pickle(integer(INT64_MIN))), std::to_string(INT64_MIN));
  EXPECT_EQ(shown(pickle(std::string("G\x3f\xf8\0\0\0\0\0\0", 9))), "1.5");
  EXPECT_EQ(shown(pickle("\x8c\x02hi")), "'hi'");
  EXPECT_EQ(shown(pickle(text("hi"))), "'hi'");
  EXPECT_EQ(shown(pickle(std::string("\x8d\x02\0\0\0\0\0\0\0hi", 11))), "'hi'");
  EXPECT_EQ(shown(pickle("C\x02hi")), "b'hi'");
  EXPECT_EQ(shown(pickle(std::string("B\x02\0\0\0hi", 7))), "b'hi'");
  EXPECT_EQ(shown(pickle(std::string("\x8e\x02\0\0\0\0\0\0\0hi", 11))), "b'hi'");
  EXPECT_EQ(shown(pickle("](K\1K\2eK\3a")), "[1 2 3]");
  EXPECT_EQ(shown(pickle(")\x85")), "(())");
  EXPECT_EQ(shown(pickle("K\1K\2K\3\x87")), "(1 2 3)");
  EXPECT_EQ(shown(pickle("(K\1K\2K\3K\4t")), "(1 2 3 4)");
  EXPECT_EQ(shown(pickle("}(K\1K\2uK\3K\4s")), "{1 2 3 4}");
  EXPECT_EQ(shown(pickle("K\1K\2"
                         "0")),
            "1");
  EXPECT_EQ(shown(pickle("K\1(K\2K\3"
                         "1")),
            "1");
  EXPECT_EQ(shown(pickle("K\1"
                         "2\x86")),
            "(1 1)");
  EXPECT_EQ(shown(pickle("](K\1q\5h\5e")), "[1 1]");
  EXPECT_EQ(shown(pickle(std::string("](K\1r\5\0\1\0j\5\0\1\0e", 15))), "[1 1]");
  EXPECT_EQ(shown(pickle(std::string("]\x94(K\1\x94h\1h\1e", 11))), "[1 1 1]");
  EXPECT_EQ(shown("\x80\x04\x95" + little_endian(2, 8) + "N."), "none");
}

TEST(Pickle, ClassesAreNamesAndCallsAreRecords) {
  EXPECT_EQ(shown(pickle(global("torch", "Size"))), "torch.Size");
  EXPECT_EQ(shown(pickle(text("torch") + text("Size") + "\x93")), "torch.Size");
  EXPECT_EQ(shown(pickle(call(global("torch", "Size"), {integer(1)}))), "<torch.Size (1)>");
  EXPECT_EQ(shown(pickle(object(global("torch", "Size"), record({{"a", "N"}})))),
            "<torch.Size () {'a' none}>");
  EXPECT_EQ(shown(pickle(global("collections", "OrderedDict") + ")R(" + text("a") + "Nu")), "{'a' none}");
  EXPECT_EQ(shown(pickle(text("id") + "Q"), /*persistent_ids=*/true), "@'id'");
}

TEST(Pickle, ForeignCodeIsRefusedByName) {
  const std::string attack = pickle(call(global("os", "system"), {text("touch /tmp/owned")}));
  EXPECT_EQ(refused(attack),
            "f.pkl: at byte 2, opcode 0x63: it names os.system, which is not of this format; nothing of it "
            "was run");
  EXPECT_THAT(refused(pickle(text("posix") + text("system") + "\x93")), HasSubstr("posix.system"));
  EXPECT_THAT(refused(pickle(global("builtins", "eval"))), HasSubstr("builtins.eval"));
  EXPECT_THAT(refused(pickle("(S'x'\nios\nsystem\n")), HasSubstr("opcode 0x53"));  // STRING
  EXPECT_THAT(refused(pickle("(ios\nsystem\n")), HasSubstr("opcode 0x69"));        // INST
  EXPECT_THAT(refused(pickle("\x82\x01")), HasSubstr("opcode 0x82"));              // EXT1
  EXPECT_THAT(refused(pickle(text("id") + "Q")), HasSubstr("a persistent id"));
}

TEST(Pickle, StructureIsChecked) {
  EXPECT_THAT(refused(""), HasSubstr("cut short"));
  EXPECT_THAT(refused("N."), HasSubstr("no pickle of protocol 2 to 5"));
  EXPECT_THAT(refused("\x80\x06N."), HasSubstr("no pickle of protocol 2 to 5"));
  EXPECT_THAT(refused("\x80\x02N"), HasSubstr("cut short"));
  EXPECT_THAT(refused(pickle("N") + "x"), HasSubstr("1 bytes follow the end"));
  EXPECT_THAT(refused(pickle("NN")), HasSubstr("1 values are left over"));
  EXPECT_THAT(refused(pickle("N(")), HasSubstr("nothing is on the stack"));
}

TEST(Pickle, WrongUsesOfTheStackAreRefused) {
  EXPECT_THAT(refused(pickle("")), HasSubstr("nothing is on the stack"));
  EXPECT_THAT(refused(pickle("N(0")), HasSubstr("nothing is on the stack"));
  EXPECT_THAT(refused(pickle("t")), HasSubstr("no mark"));
  EXPECT_THAT(refused(pickle("N\x87")), HasSubstr("too few values"));
  EXPECT_THAT(refused(pickle("N(N\x86")), HasSubstr("too few values"));
  EXPECT_THAT(refused(pickle("h\1")), HasSubstr("nothing was remembered as 1"));
  EXPECT_THAT(refused(pickle("q\1")), HasSubstr("nothing is on the stack"));
  EXPECT_THAT(refused(pickle("NNa")), HasSubstr("None instead of a list"));
  EXPECT_THAT(refused(pickle("NNNs")), HasSubstr("None instead of a dict"));
  EXPECT_THAT(refused(pickle("}(Nu")), HasSubstr("a key without a value"));
  EXPECT_THAT(refused(pickle("N)R")), HasSubstr("None instead of a class"));
  EXPECT_THAT(refused(pickle(global("torch", "Size") + "NR")), HasSubstr("None instead of a tuple"));
  EXPECT_THAT(refused(pickle("NNb")), HasSubstr("None instead of an object"));
  EXPECT_THAT(refused(pickle(global("torch", "Size") + ")RNbNb")), HasSubstr("state twice"));
  EXPECT_THAT(refused(pickle("NN\x93")), HasSubstr("None instead of a class's name"));
  EXPECT_THAT(refused(pickle(global("collections", "OrderedDict") + "(Nt" + "R")),
              HasSubstr("OrderedDict with"));
}

TEST(Pickle, LengthsAreHeldAgainstWhatIsThere) {
  for (const char* opcode : {"X", "B"})
    EXPECT_THAT(refused(pickle(opcode + little_endian(0xffffffff, 4) + "x")),
                HasSubstr("4294967295 bytes are announced"));
  for (const char* opcode : {"\x8d", "\x8e"})
    EXPECT_THAT(refused(pickle(opcode + little_endian(UINT64_MAX, 8) + "x")),
                HasSubstr("18446744073709551615 bytes are announced"));
  EXPECT_THAT(refused(pickle("\x95" + little_endian(UINT64_MAX, 8) + "N")), HasSubstr("a frame of"));
  EXPECT_THAT(refused(pickle("\x8a\x09" + std::string(9, 'x'))), HasSubstr("an integer of 9 bytes"));
  EXPECT_THAT(refused(pickle("\x8b" + little_endian(0x7fffffff, 4))),
              HasSubstr("an integer of 2147483647 bytes"));
  EXPECT_THAT(refused("\x80\x02"
                      "ctorch"),
              HasSubstr("a name without an end"));
}

// Nesting, sharing and cycles cost what the file costs: no recursion, and no copy of what is meant twice.
TEST(Pickle, DeepAndSharedValuesAreBounded) {
  EXPECT_THAT(refused(pickle(std::string(1'000'000, '('))), HasSubstr("more than 1000 open marks"));
  const Pickle deep = parse(pickle("N" + std::string(3'000'000, '\x85')));
  EXPECT_EQ(deep.values.size(), 3'000'001u);
  std::string bomb = "]q" + std::string(1, '\0');  // each list has the one before ten times
  for (int level = 0; level < 100; ++level) {
    bomb += "](";
    for (int i = 0; i < 10; ++i) bomb += std::string("h") + static_cast<char>(level);
    bomb += std::string("eq") + static_cast<char>(level + 1);
  }
  EXPECT_THAT(refused(pickle(bomb)), HasSubstr("100 values are left over"));
  EXPECT_EQ(parse(pickle("]q\1h\1a")).values.size(), 1u);  // a list that has itself
  EXPECT_THAT(refused(pickle("Nr\xff\xff\xff\xff")), "accepted");
}

TEST(Pickle, CutAnywhereIsRefused) {
  const std::string whole = "\x80\x04\x95" + little_endian(40, 8) + text("torch") + text("Size") + "\x93" +
                            tuple({integer(1), text("a")}) + "R.";
  parse(whole);
  for (size_t size = 0; size < whole.size(); ++size)
    EXPECT_NE(refused(whole.substr(0, size)), "accepted") << size;
}

}  // namespace
}  // namespace trireme
