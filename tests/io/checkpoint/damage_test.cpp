// Damage of every kind is found and named, and the run falls back to the newest checkpoint that is whole.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/error.h"
#include "io/checkpoint/checkpoint.h"
#include "io/checkpoint/index.h"
#include "io/store/directory_store.h"
#include "small_state.h"

namespace trireme {
namespace {
using test::ScratchFolder;
using test::slurp;
using test::spill;
using testing::HasSubstr;
using testing_checkpoint::difference;
using testing_checkpoint::SmallState;
namespace fs = std::filesystem;

constexpr size_t kWidth = 4;  // small, so that every single byte can be tried

// Steps 1 and 2; the tests damage step 2.
class Damage : public testing::Test {
 protected:
  Damage() {
    for (const int64_t step : {1, 2}) {
      const SmallState state(step, kWidth);
      save_checkpoint(*store_, state.meta, state.pieces(), {});
    }
  }

  std::string file(const std::string& name) const { return folder_ / ("step-00000002/" + name); }

  // Verify must fault step 2, and the fallback must be step 1 with the reason told; returns the reason.
  std::string reason() const {
    const VerifyReport report = verify_checkpoint(*store_, "step-00000002", {.threads = 2});
    if (report.faults.empty()) return "verify found nothing";
    std::string told;
    const auto found = newest_good(*store_, {.threads = 2}, [&](const std::string& why) { told += why; });
    if (!found || found->meta().step != 1) return "no fallback to step 1";
    const std::string differs = difference(*found, kWidth);
    return differs.empty() ? told : differs;
  }

  ScratchFolder folder_;
  std::unique_ptr<ByteStore> store_ = open_directory_store(folder_.path());
};

const std::vector<std::string> kFiles{"rank-00000.safetensors", "index.json", "COMMITTED"};

TEST_F(Damage, AnyFlippedByte) {
  for (const std::string& name : kFiles) {
    const std::string whole = slurp(file(name));
    for (size_t i = 0; i < whole.size(); ++i) {
      std::string bytes = whole;
      bytes[i] = static_cast<char>(bytes[i] ^ (1 << (i % 8)));
      spill(file(name), bytes);
      ASSERT_THAT(reason(), HasSubstr("is damaged")) << name << " byte " << i;
    }
    spill(file(name), whole);
  }
  EXPECT_EQ(reason(), "verify found nothing");
}

TEST_F(Damage, AnyTruncationAndAnExtraByte) {
  for (const std::string& name : kFiles) {
    const std::string whole = slurp(file(name));
    for (size_t n = 0; n < whole.size(); ++n) {
      spill(file(name), whole.substr(0, n));
      ASSERT_THAT(reason(), HasSubstr("is damaged")) << name << " cut to " << n;
    }
    spill(file(name), whole + "x");
    ASSERT_THAT(reason(), HasSubstr("is damaged")) << name;
    spill(file(name), whole);
  }
}

TEST_F(Damage, TheReasonNamesFileAndTensor) {
  std::string bytes = slurp(file("rank-00000.safetensors"));
  bytes.back() = static_cast<char>(bytes.back() ^ 1);  // bf16 lies last
  spill(file("rank-00000.safetensors"), bytes);
  EXPECT_THAT(reason(),
              HasSubstr("step-00000002/rank-00000.safetensors is damaged: tensor params/b, bytes "));
}

TEST_F(Damage, MissingFilesAndEmptyFolder) {
  for (const std::string name : {"rank-00000.safetensors", "index.json"}) {
    fs::rename(file(name), folder_ / "aside");
    EXPECT_THAT(reason(), HasSubstr(name));
    fs::rename(folder_ / "aside", file(name));
  }
  fs::remove(file("COMMITTED"));
  EXPECT_THAT(reason(), HasSubstr("has no COMMITTED"));
  fs::remove_all(folder_ / "step-00000002");
  fs::create_directory(folder_ / "step-00000002");
  EXPECT_THAT(reason(), HasSubstr("has no COMMITTED"));
}

TEST_F(Damage, FoldersWhereFilesShouldBe) {
  for (const std::string& name : kFiles) {
    const std::string whole = slurp(file(name));
    fs::remove(file(name));
    fs::create_directory(file(name));
    EXPECT_THAT(reason(), HasSubstr("not a regular file")) << name;
    fs::remove(file(name));
    spill(file(name), whole);
  }
}

TEST_F(Damage, FilesOfAnotherCheckpoint) {
  spill(file("rank-00000.safetensors"), slurp(folder_ / "step-00000001/rank-00000.safetensors"));
  EXPECT_THAT(reason(), HasSubstr("is damaged: tensor"));
}

TEST_F(Damage, ARenamedFolder) {
  fs::rename(folder_ / "step-00000001", folder_ / "step-00000003");
  const VerifyReport report = verify_checkpoint(*store_, "step-00000003");
  ASSERT_EQ(report.faults.size(), 1u);
  EXPECT_THAT(report.faults[0], HasSubstr("holds step 1"));
  // Nor is it taken where only headers are looked at; the next older one is.
  std::string told;
  const auto found =
      newest_good(*store_, {}, [&](const std::string& why) { told += why; }, {.trust = Trust::index});
  ASSERT_TRUE(found);
  EXPECT_EQ(found->meta().step, 2);
  EXPECT_THAT(told, HasSubstr("step-00000003 holds step 1"));
}

// An index with a right checksum and wrong content: written by a broken or hostile program.
TEST_F(Damage, ASenselessIndexIsRefusedWithoutReadingPastAnything) {
  const std::string whole = slurp(file("index.json"));
  const auto refused = [&](const std::string& from, const std::string& to) {
    std::string json = whole;
    const size_t at = json.find(from);
    EXPECT_NE(at, std::string::npos) << from;
    json.replace(at, from.size(), to);
    spill(file("index.json"), json);
    spill(file("COMMITTED"), committed_text(json));
    return reason();
  };
  EXPECT_THAT(refused("\"version\": 1", "\"version\": 2"),
              HasSubstr("format version 2; this build reads version 1"));
  EXPECT_THAT(refused("\"version\": 1", "\"version\": \"1\""),
              HasSubstr("version = \"1\" is not an integer"));
  EXPECT_THAT(refused("trireme-checkpoint", "other"), HasSubstr("not the index of a checkpoint"));
  EXPECT_THAT(refused("xxh3-128", "md5"), HasSubstr("not xxh3-128"));
  EXPECT_THAT(refused("\"step\": 2", "\"step\": -2"), HasSubstr("step = -2"));
  EXPECT_THAT(refused("\"step\": 2", "\"step\": 18446744073709551615"), HasSubstr("step = "));
  EXPECT_THAT(refused("\"name\":\"rank", "\"name\":\"../rank"), HasSubstr("is no name for a file"));
  EXPECT_THAT(refused("\"file\":0", "\"file\":1"), HasSubstr("not listed"));
  EXPECT_THAT(refused("\"dtype\":\"f64\"", "\"dtype\":\"f32\""), HasSubstr("bytes and elements disagree"));
  EXPECT_THAT(refused("\"name\":\"params/w\"", "\"name\":\"params/b\""), HasSubstr("params/b stands twice"));
  EXPECT_THAT(refused("\"checksum_block_bytes\": 1048576", "\"checksum_block_bytes\": 8"),
              HasSubstr("wrong number of checksums"));
  EXPECT_THAT(refused("\"checksum_block_bytes\": 1048576", "\"checksum_block_bytes\": 0"),
              HasSubstr("checksum_block_bytes = 0 is not a multiple of 8"));
  EXPECT_THAT(refused("\"shape\":[8]", "\"shape\":[9223372036854775807]"), HasSubstr("overflows"));
  EXPECT_THAT(refused("\"data_position\": ", "\"data_position\": 50000000000000000"),
              HasSubstr("is more than any run comes to"));
  EXPECT_THAT(refused("\"skipped_steps\": ", "\"skipped_steps\": 99"), HasSubstr("of 2 steps"));
  EXPECT_THAT(refused("{", "["), HasSubstr("is not JSON"));
  EXPECT_THAT(refused("\"pieces\"", "\"pieced\""), HasSubstr("no pieces"));
}

TEST_F(Damage, AnIndexOfAbsurdDepthOrWidthIsRefusedAtOnce) {
  const auto reason_of = [&](const std::string& counts, const std::string& step) {
    std::string json = R"({"format": "trireme-checkpoint", "version": 1, "checksum": "xxh3-128", )";
    json += R"("data_position": 0, "tokens_seen": 0, "skipped_steps": 0, "step": )" + step;
    json += ", \"counts\": {" + counts + "}}";
    spill(file("index.json"), json);
    spill(file("COMMITTED"), committed_text(json));
    return reason();
  };
  EXPECT_THAT(reason_of("", std::string(1000000, '[') + std::string(1000000, ']')),
              HasSubstr("step = array is not an integer"));
  std::string counts = "\"a\": 0";
  for (int i = 0; i < 300000; ++i) counts += ",\"" + std::to_string(i) + "\": 0";
  const auto start = std::chrono::steady_clock::now();
  EXPECT_THAT(reason_of(counts, "2"), HasSubstr("no config"));
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(10));
}

TEST_F(Damage, NothingIsWholeAtAll) {
  fs::remove(file("COMMITTED"));
  spill(folder_ / "step-00000001/index.json", "{}");
  int told = 0;
  EXPECT_FALSE(newest_good(*store_, {}, [&](const std::string&) { ++told; }));
  EXPECT_EQ(told, 2);
}

}  // namespace
}  // namespace trireme
