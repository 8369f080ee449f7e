// Runs with drawn weights, and what stands in a run or in a folder of files.
#pragma once
#include <map>
#include <string>
#include <vector>

#include "base/error.h"
#include "config/run_spec.h"
#include "model/model.h"
#include "scratch_folder.h"

namespace trireme {

// Sections [model] and [moe] of a small model, by name: each family in the forms that differ in the map.
const std::map<std::string, std::string>& model_texts();

// A whole config of it.
std::string config_text(const std::string& model);
RunSpec spec_of(const std::string& model);

// distinct: no two elements of a parameter alike. gentle: such that logits depend on all of them.
enum class Draw : uint8_t { distinct, gentle };
std::vector<ParamSpec> params_of(const ModelSpec& spec);

// A run's folder with one checkpoint, of step 3.
void save_drawn(const std::string& run, const RunSpec& spec, Draw draw = Draw::distinct);

using Tensors = std::map<std::string, std::vector<float>>;
// A router's load is 0, and so is the bias that only sigmoids have, as it is after an import.
Tensors drawn_tensors(const ModelSpec& spec, Draw draw = Draw::distinct);
Tensors saved_tensors(const std::string& run);  // params/ of its newest checkpoint, without the prefix

std::map<std::string, std::string> files_in(const std::string& folder);  // bytes by name

// The message of the UserError that it throws, or "no error".
template <class Call>
std::string refusal(const Call& call) {
  try {
    call();
  } catch (const UserError& error) {
    return error.what();
  }
  return "no error";
}

}  // namespace trireme
