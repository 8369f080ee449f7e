// Small configs of every form that a program takes: family, dtype, packing.
#pragma once
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "compile/compile.h"

namespace trireme::test {

struct Form {
  std::string family = "gpt2", compute = "bf16", packing = "stream";
  int64_t layers = 2, sequences = 4, micro = 2;
  std::string more;  // [model] keys
};

inline RunSpec spec_of(const Form& form) {
  return parse_config(
      fmt::format(
          "[model]\nfamily = \"{}\"\nlayers = {}\nwidth = 64\nheads = 4\nvocab = 257\ncontext = 32\n{}\n"
          "[data]\ntrain = [\"unused.bin\"]\nseq_len = 32\npacking = \"{}\"\n"
          "[batch]\nsequences = {}\nmicro = {}\n[optimizer]\nlr = 1e-3\n"
          "[precision]\ncompute = \"{}\"\n[run]\nname = \"a run\"\nsteps = 10\n",
          form.family, form.layers, form.more, form.packing, form.sequences, form.micro, form.compute),
      "form");
}

inline std::vector<Form> all_forms() {
  std::vector<Form> forms;
  for (const char* family : {"gpt2", "llama"})
    for (const char* compute : {"bf16", "fp32"})
      for (const char* packing : {"stream", "document"})
        for (const char* tie : {"tie_embeddings = true", "tie_embeddings = false"})
          forms.push_back({.family = family, .compute = compute, .packing = packing, .more = tie});
  forms.push_back({.family = "llama", .more = "kv_heads = 2\nqk_norm = true\nhead_dim = 32"});
  forms.push_back({.family = "gpt2", .more = "bias = false\nactivation = \"relu2\""});
  return forms;
}

inline std::string name_of(const Form& form) {
  return form.family + "/" + form.compute + "/" + form.packing + "/" + form.more;
}

inline const std::vector<CompileOptions>& all_purposes() {
  static const std::vector<CompileOptions> purposes = {
      {.purpose = Purpose::training, .threads = 2},
      {.purpose = Purpose::training, .threads = 1, .eval_micro_batches = 3},
      {.purpose = Purpose::evaluation, .threads = 2, .eval_micro_batches = 2},
      {.purpose = Purpose::generation, .threads = 2, .prefill_tokens = 8},
  };
  return purposes;
}

// Calls `check` with every program, a trace of its form in every failure.
template <class Check>
void for_all_programs(const Check& check) {
  for (const Form& form : all_forms())
    for (const CompileOptions& options : all_purposes()) {
      SCOPED_TRACE(fmt::format("{}, purpose {}", name_of(form), static_cast<int>(options.purpose)));
      check(compile(spec_of(form), options), form, options);
    }
}

}  // namespace trireme::test
