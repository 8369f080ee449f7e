// The reference page from the list of fields.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "config/fields.h"
#include "config/presets.h"
#include "config/raw_config.h"
#include "config/resolve_sections.h"
#include "config/run_spec.h"
#include "config/toml_text.h"

namespace trireme {
namespace {

template <class T>
std::string type_text(const T& example) {
  if constexpr (std::is_same_v<T, bool>) {
    return "bool";
  } else if constexpr (std::is_same_v<T, int64_t>) {
    return "integer";
  } else if constexpr (std::is_same_v<T, double>) {
    return "number";
  } else if constexpr (std::is_same_v<T, std::string>) {
    return "string";
  } else if constexpr (std::is_same_v<T, std::vector<std::string>>) {
    return "list of strings";
  } else if constexpr (std::is_same_v<T, std::vector<int64_t>>) {
    return "list of integers";
  } else if constexpr (std::is_same_v<T, std::vector<DataSet>>) {
    return "list";
  } else {
    return fmt::format("`{}`", fmt::join(names_of_values(example), "` `"));
  }
}

constexpr std::string_view kIntro = R"(# Config reference

Made by `trireme config reference` from the field lists in `src/config/fields.h`.

A config is a TOML file. Every key below has a default except those marked required. On the command line
`--set section.key=value` overrides it: the value is TOML, or a bare word (`--set run.device=cpu`); later ones win, and a
list or table replaces the whole of the old one. Paths are relative to where the command runs. `trireme config show CONFIG`
prints every key as resolved; that text is a config itself and resolves to itself.

)";

constexpr std::string_view kShapes = R"(## Shapes from elsewhere

`model.preset` is one of {}.

`model.hf` reads the `config.json` of a GPT-2, Llama, Qwen3, Mixtral, Qwen3-MoE or DeepSeek-V3 model, in the form of transformers v4 (`rope_theta`,
`rope_scaling`) or v5 (`rope_parameters`). Whatever would change what the model computes and is not supported here is refused by
name, and so is a key that is not known: dropout other than 0, other activations, `dynamic` and `longrope` scaling, biases in
attention alone, a sliding window in some layers only. One exception: a GPT-2 file may state its dropouts as 0.1, the default of
its class, which are then taken as 0. A `rope_theta` that stands nowhere is 10000, the default of its class. A `router_aux_loss_coef` becomes `moe.aux_loss`, which is counted per layer
and with load fractions that add up to 1, where transformers takes all layers' tokens together and fractions that add up to `top_k`.
)";

}  // namespace

std::string config_reference() {
  std::string out(kIntro);
  RawConfig raw;
  visit_sections(raw, [&](std::string_view section, std::string_view meaning, auto&& walk) {
    out += fmt::format(
        "## [{}]: {}\n\n| key | type | unit | default | range | meaning |\n|---|---|---|---|---|---|\n",
        section, meaning);
    walk([&](auto& member, const Field& f, const auto&... fallback) {
      using T = typename std::decay_t<decltype(member)>::value_type;
      std::string by_default(f.by_default);
      ((by_default = "`" + toml_text(static_cast<T>(fallback)) + "`"), ...);
      const std::string only = f.only_for.empty() ? "" : fmt::format("; only for {}", f.only_for);
      const std::string_view of_each = std::is_same_v<T, std::vector<DataSet>>   ? "weight "
                                       : std::is_same_v<T, std::vector<int64_t>> ? "each "
                                                                                 : "";
      out += fmt::format("| `{}` | {} | {} | {} | {} | {}{} |\n", f.key, type_text(T{}), f.unit, by_default,
                         std::string(of_each) + range_text(f.range), f.meaning, only);
    });
    out += '\n';
  });
  return out + fmt::format(kShapes, fmt::join(preset_names(), ", "));
}

}  // namespace trireme
