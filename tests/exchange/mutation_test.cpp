// Every header that a source has, with bytes changed, cut off and put in, from counter-based random numbers:
// it opens, or it is refused with a message. Under the sanitizers this finds what the messages' tests do not.
#include <gtest/gtest.h>

#include "base/random.h"
#include "exchange/export_hf.h"
#include "exchange/export_llmc.h"
#include "exchange/import_run.h"
#include "exchange/initial_weights.h"
#include "exchange/saved_model.h"

namespace trireme {
namespace {

constexpr int kMutations = 120;

class Mutator {
 public:
  explicit Mutator(const std::string& name) : random_(5, "test/" + name) {}

  // One to three changes within the first `bytes` bytes.
  std::string change(std::string text, size_t bytes) {
    for (size_t changes = 1 + below(3); changes-- > 0 && !text.empty();) {
      const size_t at = below(std::min(bytes, text.size()));
      switch (below(5)) {
        case 0:
          text[at] = static_cast<char>(text[at] ^ (1 << below(8)));
          break;
        case 1:
          text[at] = static_cast<char>(below(256));
          break;
        case 2:
          text.erase(at, 1 + below(8));
          break;
        case 3:
          text.insert(at, kWords[below(std::size(kWords))]);
          break;
        default:
          if (below(4) == 0) text.resize(at);
          break;
      }
    }
    return text;
  }

 private:
  static constexpr std::string_view kWords[] = {"9",  "-", "99999999999", "null",    "[",    "]",   "{",
                                                "\"", ",", "1e400",       "\\u0000", "\xff", "0.5", "true"};
  size_t below(size_t n) { return static_cast<size_t>(random_.uniform(draw_++) * static_cast<double>(n)); }

  RandomStream random_;
  uint64_t draw_ = 0;
};

struct Case {
  std::string name, file;  // of the folder `name`; "" when that is the file
};

class Mutation : public ::testing::TestWithParam<Case> {
 protected:
  Mutation() {
    for (const std::string model : {"gpt2", "llama", "deepseek"}) {
      save_drawn(folder_ / (model + "-run"), spec_of(model_texts().at(model)));
      export_hf(open_saved_run(folder_ / (model + "-run")), folder_ / model, {.max_shard_bytes = 9000});
    }
    export_llmc(open_saved_run(folder_ / "gpt2-run"), folder_ / "llmc", 3);
  }
  test::ScratchFolder folder_;
};

TEST_P(Mutation, OpensOrIsRefused) {
  const std::string source = folder_ / GetParam().name;
  const std::string file = GetParam().file.empty() ? source : source + "/" + GetParam().file;
  const std::string bytes = test::slurp(file), run = folder_ / "back";
  const bool llmc = GetParam().file.empty();
  Mutator mutator(GetParam().name + file.substr(file.size() - 12));
  int refused = 0;
  for (int i = 0; i < kMutations; ++i) {
    test::spill(file, mutator.change(bytes, llmc ? 32 : 4096));
    try {
      import_run({.source = llmc ? WeightSource::llmc : WeightSource::hf, .from = source}, run);
      std::filesystem::remove_all(run);
    } catch (const UserError& error) {
      ++refused;
    } catch (const EnvError& error) {
      ++refused;
    }
    ASSERT_FALSE(std::filesystem::exists(run)) << "mutation " << i;
  }
  EXPECT_GT(refused, kMutations / 4);
}

INSTANTIATE_TEST_SUITE_P(Files, Mutation,
                         ::testing::Values(Case{"llmc", ""}, Case{"llama", "config.json"},
                                           Case{"deepseek", "config.json"},
                                           Case{"gpt2", "model.safetensors.index.json"},
                                           Case{"llama", "model-00002-of-00003.safetensors"}));

}  // namespace
}  // namespace trireme
