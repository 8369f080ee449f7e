// The S3 store's promises, against a real server.
#include "io/store/s3_store.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <thread>

#include "base/error.h"
#include "base/random.h"
#include "io/store/open_store.h"
#include "io/store/s3_client.h"
#include "s3/objects.h"
#include "s3/s3_server.h"

namespace trireme {
namespace {
using test::failure;
using test::put;
using test::random_bytes;
using test::S3Server;
using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;

const Marker kMarker{.name = "DONE", .content = "yes\n"};

std::unique_ptr<ByteStore> fresh_store() {
  return open_store(S3Server::fresh_place(), S3Server::shared().options());
}

// This server has folders, and lists a removed one for a while.
void expect_gone(const ByteStore& store, const std::string& folder) {
  EXPECT_FALSE(store.exists(folder));
  EXPECT_TRUE(store.list(folder).empty());
}

TEST(S3Store, PublishesAWholeFolder) {
  const auto store = fresh_store();
  EXPECT_EQ(store->staging("step-1"), "step-1");
  EXPECT_FALSE(store->exists("step-1"));
  EXPECT_TRUE(store->list("").empty());
  put(*store, "step-1/data", "one");
  put(*store, "step-10/data", "ten");
  EXPECT_TRUE(store->exists("step-1"));
  EXPECT_TRUE(store->exists("step-1/data"));
  EXPECT_FALSE(store->exists("step-1/DONE"));
  EXPECT_FALSE(store->exists("step"));  // only the beginning of a name
  store->publish("step-1", kMarker);
  EXPECT_THAT(store->list(""), ElementsAre("step-1", "step-10"));
  EXPECT_THAT(store->list("step-1"), ElementsAre("DONE", "data"));
  EXPECT_EQ(read_text(*store, "step-1/data", 3), "one");
  EXPECT_EQ(read_text(*store, "step-1/DONE", 100), "yes\n");

  store->remove("step-1");
  store->remove("step-1");
  expect_gone(*store, "step-1");
  EXPECT_TRUE(store->exists("step-10/data"));
}

TEST(S3Store, WritingIntoAPublishedFolderTakesItsMarkerAwayFirst) {
  const std::string place = S3Server::fresh_place();
  put(*open_store(place, S3Server::shared().options()), "step-1/data", "one");
  const auto store = open_store(place, S3Server::shared().options());
  store->publish("step-1", kMarker);
  const auto sink = store->create("step-1/data");
  EXPECT_FALSE(store->exists("step-1/DONE"));
  sink->write(std::as_bytes(std::span("two", 3)));
  sink->finish();
  store->publish("step-1", kMarker);
  EXPECT_EQ(read_text(*store, "step-1/data", 3), "two");
  put(*store, "step-1/data", "three");  // by the same store once more
  EXPECT_FALSE(store->exists("step-1/DONE"));
}

TEST(S3Store, NamesWithOddCharacters) {
  const auto store = fresh_store();
  const std::vector<std::string> names = {"a b+c=d",          "percent%41",  "q?x=1&y",
                                          "semi;colon,comma", "tilde~'()*!", "\xc3\xa4\xe2\x82\xac",
                                          "quote\"<>&amp;",   "at@dollar$"};
  for (const std::string& name : names) {
    put(*store, "odd/" + name, name);
    EXPECT_EQ(read_text(*store, "odd/" + name, 100), name);
    EXPECT_TRUE(store->exists("odd/" + name)) << name;
  }
  std::vector<std::string> sorted = names;
  std::sort(sorted.begin(), sorted.end());
  EXPECT_EQ(store->list("odd"), sorted);
  store->remove("odd");
  expect_gone(*store, "odd");
}

TEST(S3Store, LargeObjectsGoInPartsAndReadInAnyRange) {
  const auto store = fresh_store();
  const std::string content = random_bytes(17'000'001);
  const auto sink = store->create("large");
  const auto bytes = std::as_bytes(std::span(content));
  for (size_t at = 0, step = 1; at < bytes.size(); at += step, step = step * 3 + 1)
    sink->write(bytes.subspan(at, std::min(step, bytes.size() - at)));
  EXPECT_FALSE(store->exists("large"));
  sink->finish();

  const auto source = store->open("large");
  ASSERT_EQ(source->size_bytes(), 17'000'001);
  EXPECT_TRUE(read_text(*store, "large", 1 << 30) == content);
  const RandomStream random(3, "ranges");
  std::vector<std::thread> readers;
  for (uint64_t reader = 0; reader < 4; ++reader) {
    readers.emplace_back([&, reader] {
      for (uint64_t i = reader * 50; i < reader * 50 + 50; ++i) {
        const size_t offset = random.bits(2 * i) % content.size();
        const size_t size = std::min<size_t>(random.bits(2 * i + 1) % 3'000'000, content.size() - offset);
        std::string part(size, '\0');
        source->read(static_cast<int64_t>(offset), std::as_writable_bytes(std::span(part)));
        EXPECT_EQ(std::memcmp(part.data(), content.data() + offset, size), 0) << offset << " " << size;
      }
    });
  }
  for (std::thread& reader : readers) reader.join();
  std::byte beyond[4];
  EXPECT_THAT(failure([&] { source->read(16'999'999, beyond); }),
              HasSubstr("large ends at byte 17000001, 2 bytes too early"));
}

TEST(S3Store, EmptyObjects) {
  const auto store = fresh_store();
  put(*store, "empty", "");
  EXPECT_EQ(store->open("empty")->size_bytes(), 0);
  EXPECT_EQ(read_text(*store, "empty", 0), "");
}

TEST(S3Store, AnAbandonedUploadLeavesNothing) {
  const std::string place = S3Server::fresh_place();
  const auto store = open_store(place, S3Server::shared().options());
  const std::string content = random_bytes(12'000'000);
  store->create("gone")->write(std::as_bytes(std::span(content)));
  EXPECT_TRUE(store->list("").empty());
  S3Client client(parse_s3_url(place), S3Server::shared().options());
  const std::string uploads =
      client.call({.purpose = "list", .method = "GET", .key = "", .query = {{"uploads", ""}}}).body;
  EXPECT_THAT(uploads, testing::Not(HasSubstr(parse_s3_url(place).prefix)));
}

TEST(S3Store, ListsOfMoreThanAPage) {
  const auto store = fresh_store();
  std::vector<std::thread> writers;
  for (int writer = 0; writer < 8; ++writer) {
    writers.emplace_back([&, writer] {
      for (int i = writer; i < 1010; i += 8) put(*store, fmt::format("many/{:04}", i), "");
    });
  }
  for (std::thread& writer : writers) writer.join();
  const std::vector<std::string> names = store->list("many");
  ASSERT_EQ(names.size(), 1010u);
  EXPECT_EQ(names.front(), "0000");
  EXPECT_EQ(names.back(), "1009");
  store->remove("many");
  expect_gone(*store, "many");
}

TEST(S3Store, RefusalsSayWhatToDo) {
  const S3Options right = S3Server::shared().options();
  const auto store = fresh_store();
  EXPECT_THAT(failure([&] { store->open("none"); }),
              AllOf(HasSubstr("cannot read s3://bucket/place-"), HasSubstr("/none (http://127.0.0.1:"),
                    HasSubstr("status 404"), HasSubstr("look at the name")));
  put(*store, "five", "12345");
  EXPECT_THAT(failure([&] { read_text(*store, "five", 4); }),
              HasSubstr("five has 5 bytes; at most 4 make sense"));

  S3Options options = right;
  options.secret_key = "wrong";
  EXPECT_THAT(failure([&] { open_store("s3://bucket/a", options)->list(""); }),
              AllOf(HasSubstr("status 403 SignatureDoesNotMatch"),
                    HasSubstr("AWS_SECRET_ACCESS_KEY is not the one of key TESTKEY (from the tests)")));
  options = right;
  options.access_key = "NOBODY";
  EXPECT_THAT(failure([&] { open_store("s3://bucket/a", options)->list(""); }),
              AllOf(HasSubstr("InvalidAccessKeyId"), HasSubstr("the store knows no key NOBODY")));
  options.access_key = "READER";
  options.secret_key = "other";
  EXPECT_THAT(failure([&] { put(*open_store("s3://bucket/a", options), "x", "y"); }),
              AllOf(HasSubstr("cannot write s3://bucket/a/x"), HasSubstr("AccessDenied"),
                    HasSubstr("lacks a right: s3:ListBucket for bucket")));
  EXPECT_THAT(failure([&] { open_store("s3://no-such-bucket/a", right)->list(""); }),
              AllOf(HasSubstr("cannot list s3://no-such-bucket"), HasSubstr("status 404 NoSuchBucket"),
                    HasSubstr("make the bucket no-such-bucket first")));
  options = right;
  options.access_key = "";
  EXPECT_THROW(
      try { open_store("s3://bucket/a", options); } catch (const UserError& error) {
        EXPECT_THAT(error.what(), HasSubstr("s3://bucket/a needs credentials: set AWS_ACCESS_KEY_ID"));
        throw;
      },
      UserError);
}

TEST(S3Store, AnObjectReplacedWhileItIsReadIsNoMixture) {
  const auto store = fresh_store();
  put(*store, "object", random_bytes(5 << 20));
  const auto source = store->open("object");
  std::byte some[16];
  source->read(0, some);
  put(*store, "object", random_bytes((5 << 20) + 1).substr(1));
  EXPECT_THAT(failure([&] { source->read(4 << 20, some); }),
              HasSubstr("was replaced while it was being read"));
}

}  // namespace
}  // namespace trireme
