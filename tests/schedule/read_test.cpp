// Schedule files in both forms, and every way in which one is wrong.
#include "schedule/read.h"

#include <gtest/gtest.h>

#include <random>

#include "base/error.h"
#include "schedule/catalog.h"

namespace trireme {
namespace {

std::string message(std::string_view text, const ScheduleInput* run = nullptr) {
  try {
    const Schedule schedule = read_schedule(text, "s.txt");
    if (run) require_shape(schedule, "s.txt", *run);
  } catch (const UserError& error) {
    return error.what();
  }
  return "";
}

TEST(ScheduleRead, TextWithNotesAndBlanks) {
  const Schedule schedule =
      read_schedule("# two ranks\n\n  0F0\t0F1+0B0 0B1   # the first\r\n1F0 1I0 1W0 1F1 1B1\n", "s.txt");
  EXPECT_EQ(to_text(schedule.table), "0F0 0F1+0B0 0B1\n1F0 1I0 1W0 1F1 1B1\n");
  EXPECT_EQ(schedule.placement, (StagePlacement{2, {{0, 1}}}));
  EXPECT_EQ(schedule.micro_batches, 2);
  EXPECT_TRUE(schedule.split_backward);
  EXPECT_FALSE(read_schedule("0F0 0B0", "s.txt").split_backward);
}

TEST(ScheduleRead, CsvWithEmptyCells) {
  const Schedule schedule =
      read_schedule("0F0,(0F1;0B0)OVERLAP_F_B,,0B1\r\n,1F0,1I0,1W0,1F1,1B1\r\n", "s.csv");
  EXPECT_EQ(to_text(schedule.table), "0F0 0F1+0B0 0B1\n1F0 1I0 1W0 1F1 1B1\n");
}

TEST(ScheduleRead, StagesWhereTheRowsHaveThem) {
  EXPECT_EQ(read_schedule("0F0 2F0 2B0 0B0\n1F0 1B0\n", "s.txt").placement, (StagePlacement{2, {{0, 1, 0}}}));
}

TEST(ScheduleRead, CellsThatAreNoStep) {
  const std::string no_step =
      " is no step; write stage, kind and micro-batch as in 0F3, the kind being F, B, I or W";
  EXPECT_EQ(message("0F0 0B0\n1F0 1X0\n"), "s.txt line 2 cell 2: \"1X0\"" + no_step);
  EXPECT_EQ(message("0F0,,0B0\n,1F0,F0\n"), "s.txt line 2 cell 3: \"F0\"" + no_step);
  for (const char* cell : {"0", "0F", "F", "0F1x", "0f0", "-1F0", "0F-1", "0FF0", "0F1+", "+0F1", "0 F"})
    EXPECT_NE(message(cell).find(no_step), std::string::npos) << cell;
  EXPECT_EQ(message("0F99999999999"),
            "s.txt line 1 cell 1: \"0F99999999999\" has a number that is too large");
  EXPECT_EQ(message("0F0,0SEND_F0,"),
            "s.txt line 1 cell 2: \"0SEND_F0\" is communication, which Trireme adds itself; give the compute "
            "steps only");
  EXPECT_EQ(message("(0F0;0B1)OVERLAP"),
            "s.txt line 1 cell 1: \"(0F0;0B1)OVERLAP\" is no pair; write (0F1;1B0)OVERLAP_F_B or 0F1+1B0");
  EXPECT_EQ(message("0F0+0B1+0F1"), "s.txt line 1 cell 1: \"0F0+0B1+0F1\" has more than two steps at once");
  EXPECT_EQ(message(std::string(100, 'z')),
            "s.txt line 1 cell 1: \"" + std::string(40, 'z') + "...\"" + no_step);
  EXPECT_EQ(message("0F0 \x01\xff"), "s.txt line 1 cell 2: \"??\"" + no_step);
}

TEST(ScheduleRead, TablesThatCannotRun) {
  EXPECT_EQ(message(""), "s.txt has no step; write a line of steps such as 0F0 0B0 for each rank");
  EXPECT_EQ(message("# nothing\n\n"),
            "s.txt has no step; write a line of steps such as 0F0 0B0 for each rank");
  EXPECT_EQ(message("0F0,0B0\n,,\n"), "s.txt line 2: rank 1 has no step");
  EXPECT_EQ(message("0F0 0B0\n2F0 2B0\n"), "s.txt: stage 2 is there but no stage 1");
  EXPECT_EQ(message("0F1 0B1\n"), "s.txt: micro-batch 1 is there but no micro-batch 0");
  EXPECT_EQ(message("2000000000F2000000000\n"), "s.txt: stage 2000000000 is there but no stage 0");
  EXPECT_EQ(message("0F0 0B0 0F1 0B1\n1F0 1B0\n"),
            "s.txt: 2 stages and 2 micro-batches need 4 forwards, there are 3");
  EXPECT_EQ(message("0F0 0B0 1F0 1B0\n1F0 1B0\n"),
            "s.txt: 1F0 is on rank 1 but stage 1 is on rank 0; a stage has one rank");
  EXPECT_EQ(message("0F0\n"), "s.txt: stage 0 micro-batch 0 is not finished");
  EXPECT_EQ(message("0F0 0B0 0F1 0B1\n1F0 1F1 1B0 1B1\n"),
            "s.txt: deadlock: rank 0 at step 1 (0B0) waits for 1B0 on rank 1; rank 1 at step 1 (1F1) waits "
            "for 0F1 on "
            "rank 0");
}

TEST(ScheduleRead, ShapeOfTheRun) {
  const std::string text = "0F0 2F0 2B0 0B0\n1F0 3F0 3B0 1B0\n";
  ScheduleInput run{2, 2, 1};
  EXPECT_EQ(message(text, &run), "");
  run = {2, 2, 4};
  EXPECT_EQ(message(text, &run),
            "s.txt is for 1 micro-batches per step but the run has 4; change the file, batch.sequences or "
            "batch.micro");
  run = {2, 1, 1};
  EXPECT_EQ(message(text, &run),
            "s.txt has 4 stages but parallel.pp = 2 x parallel.virtual_stages = 1 are 2; make them equal");
  run = {4, 1, 1};
  EXPECT_EQ(message(text, &run), "s.txt has lines for 2 ranks but parallel.pp = 4; make them equal");
}

// A file that was cut off or spoilt in one byte is read or refused, and nothing else.
TEST(ScheduleRead, SpoiltFiles) {
  std::mt19937 random(7);
  for (const ScheduleDef& def : schedules()) {
    const ScheduleInput run{2, def.least_stages_per_rank, 4};
    const std::string sound = to_text(def.make(run).table);
    EXPECT_EQ(message(sound, &run), "");
    for (size_t length = 0; length < sound.size() - 1; ++length)
      EXPECT_NE(message(std::string_view(sound).substr(0, length), &run), "") << def.name << length;
    for (int i = 0; i < 300; ++i) {
      std::string spoilt = sound;
      spoilt[random() % spoilt.size()] = "0129FBIW+,;()# \n\xff"[random() % 17];
      message(spoilt);
    }
  }
}

// Many stages and many micro-batches that share no step take no table of their product.
TEST(ScheduleRead, HostileNumbersTakeNoMemory) {
  std::string text;
  for (int i = 0; i < 40000; ++i) text += fmt::format("{}F0 0B{} ", i, i);
  EXPECT_EQ(message(text),
            "s.txt: 40000 stages and 40000 micro-batches need 1600000000 forwards, there are 40000");
}

}  // namespace
}  // namespace trireme
