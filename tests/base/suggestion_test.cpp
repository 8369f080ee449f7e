// What a message says of a name that is not known.
#include "base/suggestion.h"

#include <gtest/gtest.h>

namespace trireme {
namespace {

TEST(DidYouMean, TheNearestOrAllThatThereAre) {
  EXPECT_EQ(did_you_mean("trian", {"train", "eval"}, "there are"), "did you mean train?");
  EXPECT_EQ(did_you_mean("elephant", {"train", "eval"}, "there are"), "there are train, eval");
}

}  // namespace
}  // namespace trireme
