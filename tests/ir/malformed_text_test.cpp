// A text that is no IR gives a UserError with the line, whatever it holds: never a crash, an abort or a
// Program whose numbers refer to nothing.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/error.h"
#include "ir/small_program.h"
#include "ir/text.h"

namespace trireme {
namespace {

using testing::HasSubstr;

std::string replaced(std::string_view text, std::string_view from, std::string_view to) {
  std::string copy(text);
  const size_t at = copy.find(from);
  EXPECT_NE(at, std::string::npos) << from;
  return copy.replace(at, from.size(), to);
}

template <class Parse>
std::string complaint(const Parse& parse, const std::string& text) {
  try {
    parse(text);
  } catch (const UserError& error) {
    return error.what();
  }
  return "no complaint";
}

struct Damage {
  std::string_view from, to, message;
};

constexpr Damage kGraphDamage[] = {
    {"graph g", "graph", "line 1: a word is missing"},
    {"graph g", "graph g g", "line 1: 'g' is too much"},
    {"graph g", "code g", "line 1: 'graph NAME' is missing"},
    {"value x:", "value x", "line 2: ':' is missing"},
    {"value x:", "value :", "line 2: '' is no name"},
    {"value x:", "value _:", "line 2: '_' is no name"},
    {"value x:", "value a b:", "line 2: 'a b' is no name"},
    {"x: input", "x: inptu", "line 2: 'inptu' is no role"},
    {"x: input f32[2,4]", "x: input", "line 2: a word is missing"},
    {"f32[2,4]", "f16[2,4]", "line 2: 'f16' is no dtype"},
    {"f32[2,4]", "f32", "line 2: 'f32' is no type"},
    {"f32[2,4]", "f32[2,4", "line 2: 'f32[2,4' is no type"},
    {"f32[2,4]", "f32[2,,4]", "line 2: an entry of a list is empty"},
    {"f32[2,4]", "f32[2,4,]", "line 2: an entry of a list is empty"},
    {"f32[2,4]", "f32[-2,4]", "line 2: 'f32[-2,4]' has an extent that no tensor has"},
    {"f32[2,4]", "f32[4294967296,4294967296]", "has an extent that no tensor has"},
    {"f32[2,4]", "f32[99999999999999999999]", "line 2: '99999999999999999999' is no integer"},
    {"tp=shard(1)", "tp=shard(1) tp=partial", "line 3: tp is there twice"},
    {"tp=shard(1)", "tp=shard(-1)", "line 3: '-1' is no index"},
    {"tp=shard(1)", "tp=shard()", "line 3: '' is no integer"},
    {"tp=shard(1)", "tp=shard", "line 3: 'shard' is no placement"},
    {"tp=shard(1)", "dp=shard(1)", "line 3: 'dp=shard(1)' is no placement"},
    {"value y:", "value x:", "line 3: value 'x' is there twice"},
    {"y = ", "y ", "line 4: no value is called 'y norm(x"},
    {"y = ", "q = ", "line 4: no value is called 'q'"},
    {"y = ", "y, = ", "line 4: an entry of a list is empty"},
    {"norm(x", "(x", "line 4: '' is no name"},
    {"norm(x", "no rm(x", "line 4: 'no rm' is no name"},
    {"norm(x, _)", "norm x, _", "line 4: '(' is missing"},
    {"norm(x, _)", "norm(x, _", "line 4: ')' is missing"},
    {"norm(x, _)", "norm(x, _) 7", "line 4: '7 {eps="},
    {"eps=1e-05", "eps", "line 4: '=' is missing"},
    {"eps=1e-05", "eps=", "line 4: '' is no integer"},
    {"eps=1e-05", "eps=1e-0x", "line 4: '1e-0x' is no number"},
    {"eps=1e-05", "eps=1e999", "line 4: '1e999' is no number"},
    {"eps=1e-05", "eps=\"1e-05", "line 4: a quote is not closed"},
    {"eps=1e-05", "eps=1, eps=2", "line 4: attribute 'eps' is there twice"},
    {"eps=1e-05}", "eps=1e-05", "line 4: '}' is missing"},
    {"eps=1e-05}", "eps=\"a\"b}", "line 4: '}' is missing"},
    {"return y", "return y\n  return y", "line 6: 'return' does not belong"},
    {"return y", "return z", "line 5: no value is called 'z'"},
    {"end\n", "", "line 5: 'end' is missing"},
    {"end\n", "end\nend\n", "line 7: text after the end"},
    {"end\n", "end of it\n", "line 6: 'of it' is too much"},
};

TEST(MalformedText, GraphsSayWhatIsWrongInWhichLine) {
  constexpr std::string_view kText =
      "graph g\n"
      "  value x: input f32[2,4]\n"
      "  value y: local f32[2,4] tp=shard(1)\n"
      "  op y = norm(x, _) {eps=1e-05}\n"
      "  return y\n"
      "end\n";
  ASSERT_EQ(to_text(parse_graph(kText)), kText);
  for (const Damage& damage : kGraphDamage) {
    const std::string text = replaced(kText, damage.from, damage.to);
    EXPECT_THAT(complaint(parse_graph, text), HasSubstr(damage.message)) << text;
  }
}

constexpr Damage kProgramDamage[] = {
    {"program \"a run\"", "program a run", "line 1: a quoted text is missing"},
    {"rank=3", "rank=-1", "line 1: '-1' is no index"},
    {"rank=3", "rank=4294967296", "line 1: '4294967296' is no index"},
    {"rank=3", "rnak=3", "line 1: rank=... is missing"},
    {"pp=2 dp_replicate=2 dp_shard=4", "pp=1 dp_replicate=2 dp_shard=1",
     "line 1: no rank 3 among 1 x 2 x 1 x 1 x 1 with 1 x 1 for experts"},
    {"dp_shard=4", "dp_shard=0", "line 1: no rank 3 among 2 x 2 x 0 x 1 x 1 with 1 x 1 for experts"},
    {"dp_shard=4", "dp_shard=1073741824",
     "line 1: no rank 3 among 2 x 2 x 1073741824 x 1 x 1 with 1 x 1 for experts"},
    {"pp=2", "pp=0", "line 1: no rank 3 among 0 x 2 x 4"},
    {"pp=2", "pp=1073741824", "line 1: no rank 3 among 1073741824 x 2 x 4"},
    {"channel=1", "channel=-1", "line 2: '-1' is no index"},
    {"ranks=0,1,2,3", "ranks=", "line 2: comm dp_shard is without rank 3"},
    {"ranks=0,1,2,3", "ranks=0,1,2", "line 2: comm dp_shard is without rank 3"},
    {"ranks=0,1,2,3", "ranks=0,3,1,3", "line 2: comm dp_shard has a rank twice"},
    {"ranks=3,11", "ranks=3,16", "line 4: no rank 16"},
    {"shard=512+512", "shard=512", "line 6: '512' is no shard"},
    {"shard=512+512", "shard=512+513", "line 6: shard 512+513 is not within 1024 elements"},
    {"shard=512+512", "shard=-1+512", "line 6: shard -1+512 is not within 1024 elements"},
    {"arena_bytes=4096", "arena_bytes=-4096", "line 1: arena_bytes is negative"},
    {"scalars=3", "scalars=7", "line 1: no buffer 7"},
    {"copy=1/2", "copy=2/2", "copy 2/2 is not one of 2 ranks of the pipeline"},
    {"copy=1/2", "copy=1/3", "copy 1/3 is not one of 2 ranks of the pipeline"},
    {"copy=1/2", "copy=1", "'1' is no copy"},
    {"master=0", "master=4294967296", "line 6: '4294967296' is no index"},
    {"group=0", "group=1", "line 7: no group 1"},
    {"group=0", "group=-1", "line 7: '-1' is no index"},
    {"shape=8,16", "shape=8,-16", "line 7: 'f32[8,-16]' has an extent that no tensor has"},
    {"decay=1", "decay=1 decay=0", "line 7: 'decay=0' is too much"},
    {"offsets=-1,-1,-1", "offsets=-1", "line 25: 7 offsets for 9 entries of the code"},
    {"scratch=0,64", "scratch=0", "line 27: 1 scratch offsets for 2 entries of the code"},
    {"layout.forward", "layout.backwards", "line 27: 'backwards' is unknown"},
    {"layout.forward", "layouts", "line 27: 'layouts' is no layout"},
    {"layout saved=64 held=64 offsets=-1,-1,-1,-1,0,-1,-1,-1,0\n", "", "code layer has no layout"},
    {"code=0", "code=1", "line 30: no code 1"},
    {"code=0", "code=4294967296", "line 30: '4294967296' is no index"},
    {" w=b0+64", " w", "line 30: 'w' has no '='"},
    {" w=b0+64", " w=", "line 30: '' is no location"},
    {" w=b0+64", " w=b0", "line 30: 'b0' is no location"},
    {" w=b0+64", " w=0+64", "line 30: '0' is no buffer"},
    {" w=b0+64", " w=b9+64", "line 30: no buffer 9"},
    {" w=b0+64", " w=b0+-64", "line 30: 'b0+-64' has a negative offset"},
    {" w=b0+64", " w=b0+64 w=b0+64", "line 30: the code has no value 'w' here"},
    {"timeline train", "timeline", "line 31: a word is missing"},
    {"action load compute mb=0", "action laod compute mb=0", "line 32: 'laod' is unknown"},
    {"action load compute mb=0", "action load compute", "line 32: no micro-batch -1"},
    {"action load compute mb=0", "action load compute mb=2", "line 32: no micro-batch 2"},
    {"mb=0 batch=b4", "mb=0 batch=", "line 32: '' is no buffer"},
    {"mb=0 batch=b4", "mb=0 batch", "line 32: 'batch' has no '='"},
    {"mb=0 batch=b4", "mb=0 batch=b4 batch=b4", "line 32: batch= is there twice"},
    {"unit=0 mb=0", "unit=1 mb=0", "line 33: no unit 1"},
    {"unit=0 mb=0", "mb=0", "line 33: unit=... is missing"},
    {"waits=0,1", "waits=0,2", "line 34: no earlier action 2"},
    {"waits=0,1", "waits=0,", "line 34: an entry of a list is empty"},
    {"waits=0,1", "wait=0", "line 34: 'wait' does not belong into an action"},
    {"reduce_scatter/", "reduce/", "line 35: 'reduce' is unknown"},
    {"all_reduce/1/", "all_reduce/3/", "line 35: no comm 3"},
    {"all_reduce/1/", "all_reduce/-1/", "line 35: '-1' is no index"},
    {"b3+64/_/8", "_/b3+64/8", "line 36: a send without its place"},
    {"b0+0/b1+512/128", "b0+0/_/128", "line 35: a reduce_scatter without its place"},
    {"/f32/b0+0", "/f23/b0+0", "line 35: 'f23' is no dtype"},
    {"b0+0/b1+512/128", "b0+0/b1+512", "line 35: a transfer has six parts"},
    {"b0+0/b1+512/128", "b0+0/b7+512/128", "line 35: no buffer 7"},
    {"b0+0/b1+512/128", "b0+0/b1+512/-1", "line 35: count is negative"},
    {"master master bytes=4096", "master mastre bytes=4096", "line 38: 'mastre' is unknown"},
    {"timeline=0 first=0 last=1", "timeline=2 first=0 last=1", "line 42: no timeline 2"},
    {"timeline=0 first=0 last=1", "timeline=0 first=0 last=5", "line 42: no action 5"},
    {"timeline=0 first=0 last=1", "timeline=0 first=2 last=1", "line 42: first and last are no span"},
    {"timeline=0 first=0 last=1", "timeline=0 first=-1 last=1", "line 42: first and last are no span"},
    {"timeline=0 first=0 last=1", "timeline=-1 first=0 last=1", "line 42: no action 0"},
    {"unit layers.0", "unti layers.0", "line 30: 'unti' does not belong into a program here"},
};

TEST(MalformedText, ProgramsSayWhatIsWrongInWhichLine) {
  for (const Damage& damage : kProgramDamage) {
    const std::string text = replaced(kSmallProgram, damage.from, damage.to);
    EXPECT_THAT(complaint(parse_program, text), HasSubstr(damage.message)) << damage.to;
  }
}

TEST(MalformedText, EntriesThatNeedAnEarlierOneSaySo) {
  const std::string head =
      "program \"p\" rank=0 pp=1 dp_replicate=1 dp_shard=1 cp=1 tp=1 ep=1 etp=1 threads=1 batch_bytes=0 "
      "arena_bytes=0 staging=-1 scalars=-1 "
      "result=-1\n";
  EXPECT_EQ(to_text(parse_program(head + "end\n")), head + "end\n");
  for (const char* entry : {"layout saved=0 held=0 offsets=", "action load compute mb=0"})
    EXPECT_THAT(complaint(parse_program, head + entry + "\nend\n"), HasSubstr("line 2")) << entry;
}

TEST(MalformedText, NothingIsNoIr) {
  for (const char* text : {"", "\n\n", "  ", "x"}) {
    EXPECT_THAT(complaint(parse_graph, text), HasSubstr("'graph NAME' is missing"));
    EXPECT_THAT(complaint(parse_code, text), HasSubstr("'code NAME' is missing"));
    EXPECT_THAT(complaint(parse_program, text), HasSubstr("'program NAME' is missing"));
  }
}

// Parses or refuses; what it takes must print, and parse back to the same.
void expect_safe(const std::string& text) {
  try {
    const std::string printed = to_text(parse_program(text));
    EXPECT_EQ(to_text(parse_program(printed)), printed);
  } catch (const UserError& error) {
    EXPECT_THAT(error.what(), HasSubstr("IR text line "));
  }
}

TEST(MalformedText, EveryPrefixIsRefused) {
  for (size_t n = 0; n + 1 < kSmallProgram.size(); ++n) {
    const std::string text(kSmallProgram.substr(0, n));
    // Without the last line break the text is still whole.
    EXPECT_NE(complaint(parse_program, text), "no complaint") << n;
  }
}

TEST(MalformedText, EveryByteMayBeReplacedDroppedOrDoubled) {
  constexpr std::string_view kBytes("\0\n \xff=,:+-_\"\\(){}[]09bnex.", 26);
  for (size_t i = 0; i < kSmallProgram.size(); ++i) {
    std::string text(kSmallProgram);
    for (const char c : kBytes) {
      text[i] = c;
      expect_safe(text);
    }
    text.assign(kSmallProgram);
    expect_safe(text.erase(i, 1));
    text.assign(kSmallProgram);
    expect_safe(text.insert(i, 1, text[i]));
  }
}

TEST(MalformedText, EveryLineMayBeDroppedOrDoubled) {
  for (size_t begin = 0; begin < kSmallProgram.size();) {
    const size_t end = kSmallProgram.find('\n', begin) + 1;
    std::string text(kSmallProgram);
    expect_safe(text.erase(begin, end - begin));
    text.assign(kSmallProgram);
    expect_safe(text.insert(begin, kSmallProgram.substr(begin, end - begin)));
    begin = end;
  }
}

}  // namespace
}  // namespace trireme
