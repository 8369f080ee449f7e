// One rank is run once per form, its layouts after it.
#include "dist/parity_forms.h"

#include <gtest/gtest.h>

namespace trireme::test {

void expect_parity(const RunForm& form, const std::vector<Layout>& layouts) {
  SCOPED_TRACE(form.family + "\n" + form.more);
  const Layout alone{.lanes = 1};
  const Trace one = run_layout(form, alone), three = run_layout(form, alone, {0, 3, {}});
  ASSERT_EQ(one.loss.size(), 10u);
  EXPECT_LT(one.loss.back(), one.loss.front()) << "it learns";
  for (Layout layout : layouts) {
    layout.lanes = layout.replicate * layout.shard;
    SCOPED_TRACE(name_of(layout));
    expect_close(run_layout(form, layout), one);
    expect_close_weights(run_layout(form, layout, {0, 3, {}}), three);
  }
}

}  // namespace trireme::test
