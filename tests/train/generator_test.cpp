// Logits with a KV cache are those of the training graph: in chunks or one token at a time, and their loss
// over a row is the evaluation's.
#include "train/generator.h"

#include <gtest/gtest.h>

#include <unistd.h>
#include <cmath>

#include <array>
#include <filesystem>

#include "base/error.h"
#include "base/random.h"
#include "io/store/directory_store.h"
#include "train/machine.h"
#include "train/saver.h"
#include "train/weights.h"

namespace trireme {
namespace {

constexpr int64_t kContext = 160;  // two and a half chunks of the prompt

RunSpec spec_of(const std::string& model) {
  return parse_config("[model]\n" + model +
                          "\nlayers = 2\nwidth = 64\nheads = 4\nvocab = 257\ncontext = 160\n"
                          "[data]\ntrain = [\"unused.bin\"]\n[batch]\nsequences = 1\nmicro = 1\n"
                          "[optimizer]\nlr = 1e-3\n[precision]\ncompute = \"fp32\"\n"
                          "[run]\nname = \"a\"\nsteps = 1\ndevice = \"cpu\"\nthreads = 1\n",
                      "test");
}

// A checkpoint with weights large enough that every token matters.
class SavedModel {
 public:
  explicit SavedModel(const RunSpec& spec)
      : folder_(std::filesystem::temp_directory_path() / ("trireme-generator-" + std::to_string(::getpid()))),
        store_(open_directory_store(folder_.string())) {
    const Compiled compiled = compile(spec, {.threads = 1});
    const auto device = open_device(spec, 1);
    Engine engine(compiled.program, *device);
    initialize_weights(engine, compiled.model, 5, 1);
    for (size_t i = 0; i < compiled.model.params.size(); ++i) {
      if (compiled.model.params[i].shape.size() < 2) continue;
      const StatePiece piece =
          engine.state_pieces(ParamId(static_cast<int64_t>(i)), ParamState::master).at(0);
      for (float& value : piece.values) value *= 6;
    }
    run_ranks({}, [&](RankLink& link) {
      Saver saver(link, engine, *store_, {});
      saver.save({}, Saver::Behind::no);
      EXPECT_EQ(saver.take_news().at(0).failure, "");
      return 0;
    });
  }
  ~SavedModel() { std::filesystem::remove_all(folder_); }

  CheckpointReader reader() const { return CheckpointReader(*store_, checkpoint_name(0)); }

 private:
  std::filesystem::path folder_;
  std::unique_ptr<ByteStore> store_;
};

std::vector<uint32_t> some_tokens(int64_t count) {
  std::vector<uint32_t> ids;
  const RandomStream random(3, "test/tokens");
  for (int64_t i = 0; i < count; ++i)
    ids.push_back(static_cast<uint32_t>(random.uniform(static_cast<uint64_t>(i)) * 257));
  return ids;
}

// Nats of row[1..] given what stands before, by the engine's "eval" timeline.
double evaluation_loss(const RunSpec& spec, const CheckpointReader& reader,
                       const std::vector<uint32_t>& row) {
  const Compiled compiled =
      compile(spec, {.purpose = Purpose::evaluation, .threads = 1, .eval_micro_batches = 1});
  const auto device = open_device(spec, 1);
  Engine engine(compiled.program, *device);
  restore_state(engine, reader);
  std::vector<int32_t> tokens(row.begin(), row.end()), targets(row.begin() + 1, row.end());
  targets.push_back(-1);
  BatchArrays arrays;
  for (const BatchField& field : compiled.program.batch)
    arrays.push_back(field.name == "tokens" ? tokens.data() : targets.data());
  engine.run(*find_timeline(compiled.program, "eval"), std::array{arrays});
  double sums[2] = {};
  engine.read_buffer(compiled.program.result, sums, sizeof sums);
  return sums[0];
}

double nats(std::span<const float> logits, uint32_t target) {
  double top = logits[0], sum = 0;
  for (const float logit : logits) top = std::max<double>(top, logit);
  for (const float logit : logits) sum += std::exp(logit - top);
  return std::log(sum) + top - logits[target];
}

class GeneratorTest : public testing::TestWithParam<const char*> {};

TEST_P(GeneratorTest, AgreesWithTheTrainingGraphAndWithItself) {
  const RunSpec spec = spec_of(GetParam());
  const SavedModel saved(spec);
  const CheckpointReader reader = saved.reader();
  const std::vector<uint32_t> row = some_tokens(kContext);

  Generator one_by_one(spec, reader, 1);
  double loss = 0;
  std::vector<std::vector<float>> logits;  // after each token
  for (size_t i = 0; i < row.size(); ++i) {
    const auto now = one_by_one.feed(std::span(&row[i], 1));
    logits.emplace_back(now.begin(), now.end());
    if (i + 1 < row.size()) loss += nats(now, row[i + 1]);
  }
  const double expected = evaluation_loss(spec, reader, row);
  EXPECT_GT(expected / static_cast<double>(kContext), 5.8);  // worse than a uniform guess, so that it bites
  EXPECT_NEAR(loss, expected, 1e-5 * expected);

  // 64 and 128 are whole chunks; the others end one token at a time.
  for (const size_t length : {1, 63, 64, 65, 128, 130, 160}) {
    Generator chunked(spec, reader, 1);
    const auto now = chunked.feed(std::span(row).first(length));
    ASSERT_EQ(chunked.length(), static_cast<int64_t>(length));
    for (size_t v = 0; v < now.size(); ++v)
      ASSERT_NEAR(now[v], logits[length - 1][v], 2e-4) << length << " " << v;
  }
  EXPECT_THROW(one_by_one.feed(std::span(row).first(1)), UserError);
}

INSTANTIATE_TEST_SUITE_P(
    Models, GeneratorTest,
    testing::Values(
        "family = \"gpt2\"", "family = \"llama\"\nkv_heads = 2\nqk_norm = true",
        "family = \"llama\"\ntie_embeddings = true\nwindow = 50\nattn_softcap = 20.0\nlogit_softcap = 30.0"));

}  // namespace
}  // namespace trireme
