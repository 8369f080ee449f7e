// Defaults, derived values and checks, section by section, on the config as written; then the plain spec is
// taken from it.
#include "config/resolve.h"

#include <fmt/ranges.h>

#include <any>

#include "base/error.h"
#include "config/fields.h"
#include "config/presets.h"
#include "config/resolve_sections.h"
#include "config/toml_text.h"

namespace trireme {
namespace {

using Values = std::map<std::string, std::any>;  // key -> T, of the keys that are set

template <class Section, class Walk>
Values values_of(Section& keys, Walk&& walk) {
  Values values;
  walk(keys, [&](auto& member, const Field& f, const auto&...) {
    if (member) values[std::string(f.key)] = *member;
  });
  return values;
}

// Keys that are not written come from `base`. A rope_scaling.kind of one's own drops all of the base's
// scaling.
void fill_from(RawModel& model, RawModel base) {
  if (model.rope_scaling.kind) base.rope_scaling = {};
  const auto fill = [](auto&& walk, RawModel& to, RawModel& from) {
    const Values values = values_of(from, walk);
    walk(to, [&](auto& member, const Field& f, const auto&...) {
      const auto found = values.find(std::string(f.key));
      if (!member && found != values.end())
        member = std::any_cast<typename std::decay_t<decltype(member)>::value_type>(found->second);
    });
  };
  fill([](auto& m, auto&& visit) { model_fields(m, visit); }, model, base);
  fill([](auto& m, auto&& visit) { moe_fields(m, visit); }, model, base);
}

void check_range(const RawConfig& raw, const std::string& key, double value, const Range& range) {
  const bool low = range.min_open ? value <= range.min : value < range.min;
  const bool high = range.max_open ? value >= range.max : value > range.max;
  if (!low && !high) return;
  fail_key(raw, key, "must be {}", range_text(range));
}

void check_ranges(const RawConfig& raw) {
  visit_keys(raw, [&](std::string_view section, const auto& member, const Field& f, const auto&...) {
    using T = typename std::decay_t<decltype(member)>::value_type;
    const std::string key = fmt::format("{}.{}", section, f.key);
    if (!member) return;
    if constexpr (std::is_same_v<T, int64_t> || std::is_same_v<T, double>) {
      check_range(raw, key, static_cast<double>(*member), f.range);
    } else if constexpr (std::is_same_v<T, std::vector<DataSet>>) {
      for (const DataSet& set : *member) check_range(raw, key, set.weight, f.range);
    } else if constexpr (std::is_same_v<T, std::vector<int64_t>>) {
      for (const int64_t number : *member) check_range(raw, key, static_cast<double>(number), f.range);
    }
  });
}

// The defaults that the list of fields gives as plain values.
void give_defaults(RawConfig& raw) {
  visit_keys(raw, [](std::string_view, auto& member, const Field&, const auto&... fallback) {
    if (!member) ((member = fallback), ...);
  });
}

template <class T>
void take(T& member, const std::any& value) {
  member = std::any_cast<T>(value);
}
template <class T>
void take(std::optional<T>& member, const std::any& value) {
  member = std::any_cast<T>(value);
}
template <class T>
constexpr bool kMayBeAbsent = false;
template <class T>
constexpr bool kMayBeAbsent<std::optional<T>> = true;

RunSpec settle(RawConfig& raw) {
  Values values;
  visit_keys(raw, [&](std::string_view section, auto& member, const Field& f, const auto&...) {
    if (member) values[fmt::format("{}.{}", section, f.key)] = *member;
  });
  RunSpec spec;
  visit_keys(spec, [&](std::string_view section, auto& member, const Field& f, const auto&...) {
    const std::string key = fmt::format("{}.{}", section, f.key);
    const auto found = values.find(key);
    if (found != values.end()) return take(member, found->second);
    const bool absent_ok = kMayBeAbsent<std::decay_t<decltype(member)>> || !f.applies;
    CHECK(absent_ok, "resolve left {} without a value", key);
  });
  return spec;
}

// A key that was written but that the other settings leave without a meaning is refused; a default is zeroed.
void refuse_idle_keys(const RawConfig& raw, RunSpec& spec) {
  visit_keys(spec, [&](std::string_view section, auto& member, const Field& f, const auto&...) {
    if (f.applies) return;
    const std::string key = fmt::format("{}.{}", section, f.key);
    if (raw.where.count(key) != 0) fail_key(raw, key, "is only used with {}; remove it", f.only_for);
    member = {};
  });
}

void start_from_shape(RawConfig& raw, const std::optional<RawModel>& hf) {
  RawModel& model = raw.model;
  if (model.preset && model.hf)
    fail_key(raw, "model.preset", "and model.hf both give a shape; remove one of them");
  std::optional<RawModel> base = hf;
  if (model.preset) {
    base = model_preset(*model.preset);
    if (!base) {
      const std::string near = nearest(*model.preset, preset_names());
      fail_key(raw, "model.preset", "is not a preset{}; there are {}",
               near.empty() ? "" : fmt::format(" (did you mean {}?)", near), fmt::join(preset_names(), ", "));
    }
  }
  if (!base) return;
  if (model.family && *model.family != *base->family)
    fail_key(
        raw, "model.family", "does not fit {}, which is of family {}; remove it",
        model.preset ? "model.preset = " + toml_text(*model.preset) : "model.hf = " + toml_text(*model.hf),
        name_of_value(*base->family));
  fill_from(model, *base);
}

}  // namespace

RunSpec resolve(RawConfig raw, const std::optional<RawModel>& hf) {
  CHECK(hf.has_value() == (raw.model.hf.has_value() && !raw.model.preset),
        "resolve needs the shape that model.hf names");
  start_from_shape(raw, hf);
  check_ranges(raw);
  give_defaults(raw);
  resolve_model(raw);
  resolve_moe(raw);
  resolve_run(raw);
  resolve_data(raw);
  resolve_parallel(raw);
  resolve_batch(raw);
  resolve_block_axes(raw);
  resolve_lr(raw);
  resolve_eval(raw);
  RunSpec spec = settle(raw);
  refuse_idle_keys(raw, spec);
  if (spec.lr.kind == LrKind::constant) {  // what a schedule that reads them anyway would need
    spec.lr.decay_steps = spec.run.steps;
    spec.lr.min_ratio = 1.0;
  }
  check_ranges(raw);
  return spec;
}

}  // namespace trireme
