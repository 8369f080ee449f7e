// A checkpoint that was saved under any layout loads under any other: the state is the same to the byte, and
// the run goes on as the one that it is a part of.
#include <gtest/gtest.h>

#include "dist/layout_run.h"
#include "dist/parity_forms.h"
#include "io/checkpoint/checkpoint.h"
#include "io/store/directory_store.h"
#include "scratch_folder.h"

namespace trireme::test {
namespace {

constexpr int64_t kSaved = 3, kSteps = 8;

std::map<std::string, std::vector<float>> state_of(const ByteStore& store, int64_t step) {
  const CheckpointReader reader(store, checkpoint_name(step));
  std::map<std::string, std::vector<float>> state;
  for (const StoredTensor& tensor : reader.tensors()) {
    std::vector<float>& values = state[tensor.name];
    values.resize(static_cast<size_t>(count(tensor.shape)));
    reader.read(tensor.name, tensor.dtype, tensor.shape, std::as_writable_bytes(std::span(values)));
  }
  return state;
}

// By layout, the folder of its own checkpoint of step kSaved, and its run from there to kSteps.
struct Saved {
  Layout layout;
  std::unique_ptr<ByteStore> store;
};

class Matrix {
 public:
  Matrix(const RunForm& form, const std::vector<Layout>& layouts) : form_(form) {
    whole_ = run_layout(form, {}, {0, kSteps});
    for (const Layout& layout : layouts) {
      SCOPED_TRACE(name_of(layout));
      Saved saved{layout, open_directory_store(folder_ / std::to_string(saved_.size()))};
      const Trace trace = run_layout(form, layout, {.begin = 0, .end = kSaved, .to = saved.store.get()});
      EXPECT_EQ(state_of(*saved.store, kSaved), trace.state);
      saved_.push_back(std::move(saved));
    }
  }

  // Every one of them, under every other: what it is, what follows, and what it is when it is saved again.
  template <class Expect>
  void expect(const Expect& same) const {
    for (const Saved& from : saved_)
      for (const Saved& to : saved_) {
        SCOPED_TRACE(name_of(from.layout) + " -> " + name_of(to.layout));
        expect_unchanged(from, to.layout);
        const Trace rest =
            run_layout(form_, to.layout, {.begin = kSaved, .end = kSteps, .from = from.store.get()});
        Trace expected = whole_;
        expected.loss.erase(expected.loss.begin(), expected.loss.begin() + kSaved);
        expected.grad_norm.erase(expected.grad_norm.begin(), expected.grad_norm.begin() + kSaved);
        expected.skipped.erase(expected.skipped.begin(), expected.skipped.begin() + kSaved);
        same(rest, expected);
      }
  }

 private:
  void expect_unchanged(const Saved& from, const Layout& layout) const {
    const ScratchFolder folder;
    const auto store = open_directory_store(folder / "again");
    (void)run_layout(form_, layout,
                     {.begin = kSaved, .end = kSaved, .from = from.store.get(), .to = store.get()});
    EXPECT_EQ(state_of(*store, kSaved), state_of(*from.store, kSaved));
  }

  RunForm form_;
  ScratchFolder folder_;
  Trace whole_;
  std::vector<Saved> saved_;
};

// Within these layouts nothing changes a bit.
TEST(Reshard, DataParallelAndPipelinesToTheBit) {
  Matrix({.family = "gpt2", .micro = 1}, {{},
                                          {.shard = 4, .zero = 3},
                                          {.replicate = 2, .shard = 2, .zero = 1},
                                          {.shard = 2, .zero = 2, .pp = 2},
                                          {.shard = 1, .pp = 2, .schedule = "zb_h1"}})
      .expect(expect_same);
}

TEST(Reshard, InsideLayers) {
  Matrix(gpt2_form(), {{},
                       {.shard = 4, .zero = 3},
                       {.shard = 2, .pp = 2},
                       {.pp = 2, .tp = 2},
                       {.tp = 4},
                       {.zero = 1, .cp = 2}})
      .expect(expect_close);
}

TEST(Reshard, Experts) {
  Matrix(mixtral_form(), {{},
                          {.shard = 4, .zero = 3, .ep = 4},
                          {.shard = 2, .zero = 1, .tp = 2, .ep = 2, .etp = 2},
                          {.shard = 2, .pp = 2}})
      .expect(expect_close);
}

}  // namespace
}  // namespace trireme::test
