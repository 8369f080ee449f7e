// The list of every key of a config, section by section: the one place (with the headers of the sections)
// that says a key's name, unit, default, range and meaning. Visitors in parse, print, diff, resolve and
// reference walk it; nothing else lists keys.
//
// A visitor is called as visit(member, Field, [default]): the member is a Maybe<T> in a RawConfig, a T in a
// RunSpec (std::optional<T> in both where absence is kept). The default is given here when it is a plain
// value.
#pragma once
#include "config/data_fields.h"
#include "config/model_fields.h"
#include "config/moe_fields.h"
#include "config/optimizer_fields.h"
#include "config/parallel_fields.h"
#include "config/run_fields.h"

namespace trireme {

// Calls section(name, meaning, walk) for each section in order; walk(visit) walks its fields.
template <class Config, class Section>
void visit_sections(Config& c, Section&& section) {
  section("model", "the shape of the network", [&](auto&& visit) { model_fields(c.model, visit); });
  section("moe", "layers whose feed-forward part is a choice of experts",
          [&](auto&& visit) { moe_fields(c.model, visit); });
  section("data", "what is read, and how it is cut into sequences",
          [&](auto&& visit) { data_fields(c.data, visit); });
  section("batch", "the batch of an optimizer step", [&](auto&& visit) { batch_fields(c.batch, visit); });
  section("parallel", "how the run is spread over ranks",
          [&](auto&& visit) { parallel_fields(c.parallel, visit); });
  section("optimizer", "how weights are updated",
          [&](auto&& visit) { optimizer_fields(c.optimizer, visit); });
  section("lr", "how the learning rate varies over the steps", [&](auto&& visit) { lr_fields(c.lr, visit); });
  section("precision", "what products are computed in",
          [&](auto&& visit) { precision_fields(c.precision, visit); });
  section("checkpoint", "when the run is saved",
          [&](auto&& visit) { checkpoint_fields(c.checkpoint, visit); });
  section("eval", "validation", [&](auto&& visit) { eval_fields(c.eval, visit); });
  section("run", "name, place, length and machine of the run",
          [&](auto&& visit) { run_fields(c.run, visit); });
}

// Calls visit(section name, member, Field, [default]) for every key of a RunSpec or RawConfig.
template <class Config, class Visit>
void visit_keys(Config& c, Visit&& visit) {
  visit_sections(c, [&](std::string_view section, std::string_view, auto&& walk) {
    walk([&](auto& member, const Field& field, const auto&... fallback) {
      visit(section, member, field, fallback...);
    });
  });
}

}  // namespace trireme
