// The parts of resolve, one per section: each derives what is absent and checks the section against the ones
// before it. They run in resolve's order, after ranges are checked and plain defaults given.
#pragma once
#include <fmt/core.h>

#include <string>

#include "config/raw_config.h"

namespace trireme {

void resolve_model(RawConfig& raw);
void resolve_moe(RawConfig& raw);  // needs model
void resolve_run(RawConfig& raw);
void resolve_data(RawConfig& raw);  // needs model, run
void resolve_parallel(RawConfig& raw);
void resolve_batch(RawConfig& raw);       // needs data, run, parallel
void resolve_block_axes(RawConfig& raw);  // needs model, data, batch, parallel
void resolve_lr(RawConfig& raw);          // needs run
void resolve_eval(RawConfig& raw);        // needs data

// "a.toml:12: model.width = 100 " and what is wrong with it, with no place for a value that was derived or
// defaulted.
[[noreturn]] void fail_at(const RawConfig& raw, const std::string& key, const std::string& wrong);
template <class... A>
[[noreturn]] void fail_key(const RawConfig& raw, const std::string& key, fmt::format_string<A...> wrong,
                           A&&... args) {
  fail_at(raw, key, fmt::format(wrong, std::forward<A>(args)...));
}
[[noreturn]] void fail_missing(const RawConfig& raw, const std::string& key, const std::string& example);

std::string range_text(const Range& range);  // "at least 1", "from 0 to below 1"

}  // namespace trireme
