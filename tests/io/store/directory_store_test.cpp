// The directory store's own promises.
#include "io/store/directory_store.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include "base/error.h"
#include "scratch_folder.h"

namespace trireme {
namespace {
using test::ScratchFolder;
using test::slurp;
using test::spill;
using testing::ElementsAre;
using testing::HasSubstr;
namespace fs = std::filesystem;

void put(ByteStore& store, const std::string& path, const std::string& text) {
  const auto sink = store.create(path);
  sink->write(std::as_bytes(std::span(text)));
  sink->finish();
}

const Marker kMarker{.name = "DONE", .content = "yes\n"};

TEST(DirectoryStore, PublishesAWholeFolder) {
  const ScratchFolder folder;
  const auto store = open_directory_store(folder / "a/b");
  EXPECT_EQ(store->staging("step-1"), ".tmp-step-1");
  EXPECT_EQ(store->staging("x/step-1"), "x/.tmp-step-1");
  put(*store, ".tmp-step-1/data", "one");
  EXPECT_FALSE(store->exists("step-1"));
  store->publish("step-1", kMarker);
  EXPECT_THAT(store->list(""), ElementsAre("step-1"));
  EXPECT_THAT(store->list("step-1"), ElementsAre("DONE", "data"));
  EXPECT_EQ(read_text(*store, "step-1/data", 3), "one");
  EXPECT_EQ(read_text(*store, "step-1/DONE", 100), "yes\n");

  put(*store, ".tmp-step-1/other", "two");
  store->publish("step-1", kMarker);  // in the place of the first
  EXPECT_THAT(store->list(""), ElementsAre("step-1"));
  EXPECT_THAT(store->list("step-1"), ElementsAre("DONE", "other"));

  store->remove("step-1");
  store->remove("step-1");
  EXPECT_TRUE(store->list("").empty());
}

TEST(DirectoryStore, RemovesDespiteTheLeftoverOfAKilledRemoval) {
  const ScratchFolder folder;
  const auto store = open_directory_store(folder.path());
  put(*store, "step-1/data", "one");
  put(*store, ".tmp-step-1/data", "half gone");
  store->remove("step-1");
  EXPECT_TRUE(store->list("").empty());
}

template <class Call>
std::string failure(Call&& call) {
  try {
    call();
  } catch (const EnvError& error) {
    return error.what();
  }
  return "no failure";
}

TEST(DirectoryStore, FailuresNameThePath) {
  const ScratchFolder folder;
  const auto store = open_directory_store(folder.path());
  put(*store, "five", "12345");
  EXPECT_THAT(failure([&] { store->open("none"); }),
              HasSubstr("cannot open " + folder.path() + "/none: No such"));
  EXPECT_THAT(failure([&] { put(*store, "five", ""); }), HasSubstr("five: File exists"));
  EXPECT_THAT(failure([&] { put(*store, "five/six", ""); }),
              HasSubstr("five is a file; a folder must be there"));
  EXPECT_THAT(failure([&] { read_text(*store, "five", 4); }),
              HasSubstr("five has 5 bytes; at most 4 make sense"));
  std::byte bytes[4];
  EXPECT_THAT(failure([&] { store->open("five")->read(3, bytes); }),
              HasSubstr("five ends at byte 5, 2 bytes too early"));
  EXPECT_THAT(failure([&] { store->publish("x", kMarker); }), HasSubstr(".tmp-x: No such"));
  EXPECT_EQ(slurp(folder / "five"), "12345");
}

TEST(DirectoryStore, APipeInPlaceOfAFileDoesNotHang) {
  const ScratchFolder folder;
  ASSERT_EQ(::mkfifo((folder / "pipe").c_str(), 0600), 0);
  const auto store = open_directory_store(folder.path());
  EXPECT_THAT(failure([&] { store->open("pipe"); }), HasSubstr("pipe is not a regular file"));
}

}  // namespace
}  // namespace trireme
