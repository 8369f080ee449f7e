// Saving by several ranks at once: behind the steps as well as in front of them, on disks that are slow or
// fail for one of them.
#include "train/saver.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <thread>

#include "base/error.h"
#include "compile/compile.h"
#include "device/cpu/cpu_device.h"
#include "dist/layout_run.h"
#include "dist/parity_forms.h"
#include "io/store/directory_store.h"
#include "scratch_folder.h"
#include "train/weights.h"

namespace trireme::test {
namespace {

using testing::HasSubstr;
using testing::SizeIs;

// A directory in which something happens before an object is made.
class HookedStore final : public ByteStore {
 public:
  HookedStore(const std::string& folder, std::function<void(const std::string&)> before)
      : inner_(open_directory_store(folder)), before_(std::move(before)) {}

  std::unique_ptr<ByteSink> create(const std::string& path) override {
    before_(path);
    return inner_->create(path);
  }
  std::unique_ptr<ByteSource> open(const std::string& path) const override { return inner_->open(path); }
  bool exists(const std::string& path) const override { return inner_->exists(path); }
  std::vector<std::string> list(const std::string& folder) const override { return inner_->list(folder); }
  std::string staging(const std::string& folder) const override { return inner_->staging(folder); }
  void publish(const std::string& folder, const Marker& marker) override { inner_->publish(folder, marker); }
  void remove(const std::string& folder) override { inner_->remove(folder); }
  std::string locate(const std::string& path) const override { return inner_->locate(path); }

 private:
  std::unique_ptr<ByteStore> inner_;
  std::function<void(const std::string&)> before_;
};

// Runs body(link, engine, saver) on every rank of a layout, with drawn weights.
template <class Body>
void on_ranks(const Layout& layout, ByteStore& store, const SaveOptions& options, const Body& body) {
  const RunSpec spec = spec_of(gpt2_form(), layout);
  run_ranks({.mesh = mesh_of(spec), .timeout_s = 1, .threads = 1}, [&](RankLink& link) {
    const Compiled compiled = compile(spec, {.rank = link.rank(), .threads = 1});
    const auto device = make_cpu_device({.threads = 1});
    Engine engine(compiled.program, *device, link.connect(compiled.program));
    initialize_weights(engine, compiled.model, 3, 1);
    Saver saver(link, engine, store, options);
    return link.guarded([&] {
      body(link, engine, saver);
      return 0;
    });
  });
}

void fill(Engine& engine, float value) {
  for (size_t g = 0; g < engine.program().groups.size(); ++g)
    for (float& weight : engine.shard(GroupId(static_cast<int64_t>(g)), ParamState::master)) weight = value;
}

std::map<std::string, std::string> files_of(const std::string& folder) {
  std::map<std::string, std::string> files;
  for (const auto& entry : std::filesystem::directory_iterator(folder))
    files[entry.path().filename().string()] = slurp(entry.path().string());
  return files;
}

TEST(Saver, BehindTheStepsAndInFrontOfThemGiveTheSameFiles) {
  for (const Layout& layout : {Layout{}, Layout{.shard = 2, .zero = 3, .pp = 2}, Layout{.cp = 2}}) {
    SCOPED_TRACE(name_of(layout));
    const ScratchFolder folder;
    std::map<std::string, std::string> files[2];
    for (const auto behind : {Saver::Behind::no, Saver::Behind::yes}) {
      const std::string place = folder / (behind == Saver::Behind::yes ? "behind" : "before");
      const auto store = open_directory_store(place);
      on_ranks(layout, *store, {}, [&](RankLink&, Engine& engine, Saver& saver) {
        saver.save({.step = 7}, behind);
        fill(engine, -1);  // what the next step does
        EXPECT_THAT(saver.take_news(), SizeIs(1));
      });
      files[behind == Saver::Behind::yes ? 1 : 0] = files_of(place + "/step-00000007");
    }
    EXPECT_EQ(files[0].size(), 2u + static_cast<size_t>(layout.ranks()));
    EXPECT_TRUE(files[0] == files[1]);
  }
}

TEST(Saver, TheLoopGoesOnWhileADiskIsSlow) {
  const ScratchFolder folder;
  std::atomic<bool> held = true;
  HookedStore store(folder.path(), [&](const std::string& path) {
    // Longer than ranks wait for each other otherwise.
    for (int i = 0; held && path.ends_with("rank-00001.safetensors") && i < 200; ++i)
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
  });
  on_ranks({.shard = 2, .zero = 1}, store, {}, [&](RankLink& link, Engine& engine, Saver& saver) {
    saver.save({.step = 1}, Saver::Behind::yes);
    fill(engine, 1);
    EXPECT_FALSE(saver.has_news());
    EXPECT_TRUE(list_checkpoints(store).empty());
    link.meet("the test");
    saver.save({.step = 2}, Saver::Behind::yes);  // waits for the first
    EXPECT_THAT(list_checkpoints(store), SizeIs(testing::Ge(1u)));
    EXPECT_GT(saver.blocked_s(), 1);
    held = false;
    fill(engine, 2);
    const std::vector<SaveNews> news = saver.take_news();
    EXPECT_THAT(news, SizeIs(2));
    for (const SaveNews& one : news) EXPECT_EQ(one.failure, "");
    EXPECT_FALSE(saver.has_news());
    EXPECT_TRUE(saver.take_news().empty());
  });
  EXPECT_THAT(list_checkpoints(store), SizeIs(2));
  EXPECT_TRUE(verify_checkpoint(store, "step-00000001").faults.empty());
  EXPECT_TRUE(verify_checkpoint(store, "step-00000002").faults.empty());
}

// Whichever rank, and whichever of the files: all ranks hear the same, and the next save succeeds.
TEST(Saver, WhatFailsOnOneRankFailsOnAll) {
  for (const char* file : {"rank-00000.safetensors", "rank-00002.safetensors", "index.json"}) {
    SCOPED_TRACE(file);
    const ScratchFolder folder;
    std::atomic<bool> full = false;
    HookedStore store(folder.path(), [&](const std::string& path) {
      if (full && path.ends_with(file)) fail_env("cannot write {}: No space left on device", path);
    });
    on_ranks({.shard = 2, .zero = 1, .pp = 2}, store, {.keep = {.newest = 1}},
             [&](RankLink& link, Engine&, Saver& saver) {
               saver.save({.step = 1}, Saver::Behind::yes);
               EXPECT_THAT(saver.take_news(), SizeIs(1));
               link.meet("the test");
               full = true;
               link.meet("the test");
               saver.save({.step = 2}, Saver::Behind::yes);
               const std::vector<SaveNews> news = saver.take_news();
               ASSERT_THAT(news, SizeIs(1));
               EXPECT_THAT(news[0].failure, testing::AllOf(HasSubstr("step-00000002 is not saved"),
                                                           HasSubstr(file), HasSubstr("No space left"),
                                                           HasSubstr("earlier checkpoints are untouched")));
               link.meet("the test");
               EXPECT_EQ(store.list(""), std::vector<std::string>{"step-00000001"});
               full = false;
               link.meet("the test");
               saver.save({.step = 3}, Saver::Behind::yes);
               EXPECT_EQ(saver.take_news().at(0).failure, "");
             });
    EXPECT_EQ(store.list(""), std::vector<std::string>{"step-00000003"});
  }
}

// Ranks on hosts whose folders are not the same.
TEST(Saver, FilesThatTheLeaderDoesNotSeeAreNoCheckpoint) {
  const ScratchFolder folder;
  const auto here = open_directory_store(folder / "here"), there = open_directory_store(folder / "there");
  const RunSpec spec = spec_of(gpt2_form(), {.shard = 2, .zero = 1});
  run_ranks({.mesh = mesh_of(spec), .timeout_s = 5, .threads = 1}, [&](RankLink& link) {
    const Compiled compiled = compile(spec, {.rank = link.rank(), .threads = 1});
    const auto device = make_cpu_device({.threads = 1});
    Engine engine(compiled.program, *device, link.connect(compiled.program));
    Saver saver(link, engine, link.leads() ? *here : *there, {});
    saver.save({.step = 1}, Saver::Behind::no);
    EXPECT_THAT(saver.take_news().at(0).failure,
                testing::AllOf(HasSubstr("rank-00001.safetensors"), HasSubstr("one shared file system")));
    return 0;
  });
  EXPECT_TRUE(list_checkpoints(*here).empty());
}

}  // namespace
}  // namespace trireme::test
