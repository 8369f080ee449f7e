// Ranks as threads: every collective, communicators that run beside each other, and failures.
#include "comm/local/local_world.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <stdexcept>

#include "comm/collective_checks.h"
#include "comm/rank_threads.h"

namespace trireme {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

class LocalRanks : public testing::TestWithParam<int> {};
INSTANTIATE_TEST_SUITE_P(Ranks, LocalRanks, testing::Range(1, 9));

TEST_P(LocalRanks, EveryCollectiveGivesTheNaiveResult) {
  const int ranks = GetParam();
  LocalWorld world({.ranks = ranks, .timeout_s = 60});
  const auto errors = run_ranks(world, ranks, [&](int rank) {
    const auto comm = world.communicator(all_ranks(ranks), rank, 0);
    ASSERT_EQ(comm->rank(), rank);
    ASSERT_EQ(comm->size(), ranks);
    EXPECT_EQ(check_everything(*comm, 100'003), "");
  });
  for (const std::string& error : errors) EXPECT_EQ(error, "");
}

TEST(Local, MembersInAnotherOrderAndPartsOfTheWorld) {
  LocalWorld world({.ranks = 6, .timeout_s = 60});
  const std::vector<std::vector<int>> groups = {{4, 0, 2}, {5, 1, 3}};
  const auto errors = run_ranks(world, 6, [&](int rank) {
    const auto& members = groups[static_cast<size_t>(rank % 2)];
    const auto comm = world.communicator(members, rank, 7);
    EXPECT_EQ(members[static_cast<size_t>(comm->rank())], rank);
    EXPECT_EQ(check_everything(*comm, 5001), "");
  });
  for (const std::string& error : errors) EXPECT_EQ(error, "");
}

TEST(Local, ConcurrentCommunicatorsOverTheSameRanksDoNotMix) {
  constexpr int kRanks = 4;
  LocalWorld world({.ranks = kRanks, .timeout_s = 60});
  const auto errors = run_ranks(world, kRanks, [&](int rank) {
    const auto compute = world.communicator(all_ranks(kRanks), rank, 0);
    const auto stream = world.communicator(all_ranks(kRanks), rank, 1);
    std::string wrong;
    std::thread beside([&] {
      for (int64_t turn = 0; turn < 40 && wrong.empty(); ++turn)
        wrong = check_reduce_scatter(*stream, DType::f32, turn * 37) + check_all_gather(*stream, turn * 91);
    });
    for (int64_t turn = 0; turn < 40; ++turn) {
      EXPECT_EQ(check_messages(*compute, turn * 64), "");
      EXPECT_EQ(check_all_reduce(*compute, DType::f64, 3), "");
    }
    beside.join();
    EXPECT_EQ(wrong, "");
  });
  for (const std::string& error : errors) EXPECT_EQ(error, "");
}

TEST(Local, CommunicatorsMayBeMadeAgain) {
  LocalWorld world({.ranks = 2, .timeout_s = 60});
  const auto errors = run_ranks(world, 2, [&](int rank) {
    for (int turn = 0; turn < 5; ++turn)
      EXPECT_EQ(check_all_reduce(*world.communicator(all_ranks(2), rank, 0), DType::f32, 100), "");
  });
  for (const std::string& error : errors) EXPECT_EQ(error, "");
}

TEST(LocalFailure, ARankThatThrowsEndsAllOthersWithItsMessage) {
  constexpr int kRanks = 5;
  LocalWorld world({.ranks = kRanks, .timeout_s = 60});
  const auto start = Clock::now();
  const auto errors = run_ranks(world, kRanks, [&](int rank) {
    const auto comm = world.communicator(all_ranks(kRanks), rank, 0);
    std::vector<float> data(5000, 1.0f);
    for (int step = 0;; ++step) {
      if (rank == 3 && step == 10) throw std::runtime_error("the disk is full");
      comm->all_reduce(data.data(), 5000, DType::f32, "gradients of block 2");
    }
  });
  EXPECT_LT(seconds_since(start), 10.0);
  for (const size_t rank : {0u, 1u, 2u, 4u})
    EXPECT_THAT(errors[rank], AllOf(HasSubstr("rank 3 failed: the disk is full"),
                                    HasSubstr("gradients of block 2"), HasSubstr("waited")));
}

TEST(LocalFailure, AlsoRanksThatShareNoCommunicatorWithItAndThoseThatWaitForMessages) {
  LocalWorld world({.ranks = 4, .timeout_s = 60});
  const auto errors = run_ranks(world, 4, [&](int rank) {
    if (rank == 0) throw std::runtime_error("out of memory");
    if (rank == 1) {
      const auto comm = world.communicator(all_ranks(2), rank, 0);
      float x = 0;
      comm->recv(&x, 4, 0, "activations");
    }
    const auto comm = world.communicator(std::vector<int>{2, 3}, rank, 0);
    for (;;) comm->barrier("start");
  });
  EXPECT_THAT(errors[1], HasSubstr("rank 0 failed: out of memory"));
  EXPECT_THAT(errors[1], HasSubstr("receive of activations"));
  EXPECT_THAT(errors[2], HasSubstr("rank 0 failed: out of memory"));
  EXPECT_THAT(errors[3], HasSubstr("rank 0 failed: out of memory"));
}

TEST(LocalFailure, RanksThatDoNotComeAreNamedWithinTheTimeout) {
  LocalWorld world({.ranks = 4, .timeout_s = 0.5});
  const auto start = Clock::now();
  const auto errors = run_ranks(world, 4, [&](int rank) {
    const auto comm = world.communicator(all_ranks(4), rank, 0);
    comm->barrier("start");
    if (rank == 1 || rank == 2) return;
    float x = 1;
    comm->all_reduce(&x, 1, DType::f32, "grad norm");
  });
  EXPECT_LT(seconds_since(start), 5.0);
  for (const size_t rank : {0u, 3u})
    EXPECT_THAT(errors[rank], AllOf(HasSubstr("ranks 1, 2"), HasSubstr("reduce-scatter of grad norm"),
                                    HasSubstr("within 0.5 s"), HasSubstr("run.timeout_s")));
}

TEST(LocalFailure, ASenderWhoseMessageNobodyTakesNamesTheReceiver) {
  LocalWorld world({.ranks = 2, .timeout_s = 0.3});
  const auto errors = run_ranks(world, 2, [&](int rank) {
    const auto comm = world.communicator(all_ranks(2), rank, 0);
    const float x = 1;
    if (rank == 0) comm->send(&x, 4, 1, "activations of micro-batch 3");
  });
  EXPECT_THAT(errors[0], AllOf(HasSubstr("rank 1 did not come"), HasSubstr("activations of micro-batch 3")));
}

TEST(LocalFailure, LaterCallsThrowToo) {
  LocalWorld world({.ranks = 1, .timeout_s = 60});
  const auto comm = world.communicator(all_ranks(1), 0, 0);
  world.fail(0, {kEnvironment, "first"});
  world.fail(0, {kEnvironment, "second"});
  for (int turn = 0; turn < 2; ++turn) {
    try {
      comm->barrier("end");
      FAIL();
    } catch (const PeerFailed& error) {
      EXPECT_THAT(error.what(), HasSubstr("first"));
      EXPECT_EQ(error.ranks, std::vector<int>{0});
    }
  }
}

// A rank's buffers stay while peers read them: were they freed early, the sanitizers would say so.
TEST(LocalFailure, BuffersOutliveTheirReaders) {
  constexpr int kRanks = 3;
  for (int turn = 0; turn < 30; ++turn) {
    LocalWorld world({.ranks = kRanks, .timeout_s = 60});
    run_ranks(world, kRanks, [&](int rank) {
      const auto comm = world.communicator(all_ranks(kRanks), rank, 0);
      if (rank == 2) {
        std::this_thread::sleep_for(std::chrono::microseconds(turn * 20));
        throw std::runtime_error("gone");
      }
      const auto pair = world.communicator(std::vector<int>{0, 1}, rank, 0);
      for (;;) {
        std::vector<float> data(50'000, 1.0f);
        pair->all_reduce(data.data(), 50'000, DType::f32, "gradients");
      }
    });
  }
}

TEST(LocalBug, CallsThatDifferAbort) {
  const auto differ = [] {
    LocalWorld world({.ranks = 2, .timeout_s = 5});
    run_ranks(world, 2, [&](int rank) {
      const auto comm = world.communicator(all_ranks(2), rank, 0);
      std::vector<float> data(8);
      comm->all_reduce(data.data(), 7 + rank, DType::f32, "x");
    });
  };
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_DEATH(differ(), "rank . calls reduce-scatter of ., rank . calls reduce-scatter of .");
}

}  // namespace
}  // namespace trireme
