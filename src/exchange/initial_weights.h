// The weights that model.init_from names, whatever they are: a run or a checkpoint of ours, a Hugging Face
// folder, a file of llm.c's, a torch-dcp folder. Called by the trainer in place of drawing them.
//
//   const InitialWeights weights(*spec.model.init_from, spec.model);
//   weights.read("layers.0.attn.qkv.weight", whole_of(shape), values);
#pragma once
#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <string>

#include "config/model.h"
#include "exchange/mapped_weights.h"
#include "exchange/saved_run.h"
#include "exchange/weight_source.h"

namespace trireme {

class InitialWeights {
 public:
  // UserError, by key or by tensor, when the weights are of another model; EnvError when they cannot be read.
  InitialWeights(const std::string& from, const ModelSpec& spec, const OnNote& on_note = {});
  ~InitialWeights();

  // Elements of a parameter, of which the checkpoint or file has them in whatever form. May be called from
  // several threads. A router's load is 0, its choosing bias what the source has.
  void read(const std::string& param, const BoxPart& part, std::span<float> values) const;
  // Those from `first` on of the whole parameter, row-major.
  void read(const std::string& param, int64_t first, std::span<float> values) const;

 private:
  std::map<std::string, ParamSpec> params_;
  std::unique_ptr<SavedRun> ours_;
  std::unique_ptr<MappedWeights> foreign_;
};

}  // namespace trireme
