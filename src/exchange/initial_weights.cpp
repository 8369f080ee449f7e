// Parts of our own checkpoints are read as a resumed run reads them; those of others run by run.
#include "exchange/initial_weights.h"

#include <algorithm>

#include "base/error.h"
#include "config/run_spec.h"
#include "exchange/same_model.h"

namespace trireme {

namespace {

// Names and shapes; optimizer state and the like may be there besides.
void require_params(const SavedRun& run, const std::map<std::string, ParamSpec>& params) {
  std::map<std::string, Shape> stored;
  for (const StoredTensor& tensor : run.reader.tensors())
    if (tensor.name.starts_with("params/") && tensor.dtype == DType::f32)
      stored[tensor.name.substr(7)] = tensor.shape;
  for (const auto& [name, param] : params) {
    const auto it = stored.find(name);
    if (it == stored.end())
      fail_user("{} has no tensor params/{} [{}], which the model needs", run.reader.location(), name,
                to_string(param.shape));
    if (it->second != param.shape)
      fail_user("{}: params/{} is [{}], but the model needs [{}]", run.reader.location(), name,
                to_string(it->second), to_string(param.shape));
  }
  for (const auto& [name, shape] : stored)
    if (params.count(name) == 0)
      fail_user("{} has a tensor params/{} [{}] that the model has no place for", run.reader.location(), name,
                to_string(shape));
}

}  // namespace

InitialWeights::InitialWeights(const std::string& from, const ModelSpec& spec, const OnNote& on_note) {
  for (ParamSpec& param : build_model(spec, {.batch = 1, .seq_len = 1}).params)
    params_[param.name] = std::move(param);
  const WeightSource source = source_of(from);
  if (source != WeightSource::trireme) {
    foreign_ = std::make_unique<MappedWeights>(open_foreign(source, from, spec, on_note));
    return;
  }
  ours_ = std::make_unique<SavedRun>(open_saved_run(from));
  const CheckpointReader& reader = ours_->reader;
  const RunSpec saved = parse_config(reader.meta().config_toml, reader.location());
  require_same_model(saved, reader.location(), spec);
  if (saved.model.rope_layout != spec.rope_layout)
    fail_user(
        "model.rope_layout = {}, but {} was trained with {}, and its queries and keys are made for that",
        name_of_value(spec.rope_layout), reader.location(), name_of_value(saved.model.rope_layout));
  require_params(*ours_, params_);
}

InitialWeights::~InitialWeights() = default;

void InitialWeights::read(const std::string& param, int64_t first, std::span<float> values) const {
  BoxPart part = whole_of(params_.at(param).shape);
  part.first = first;
  part.last = first + static_cast<int64_t>(values.size());
  read(param, part, values);
}

void InitialWeights::read(const std::string& param, const BoxPart& part, std::span<float> values) const {
  const ParamSpec& spec = params_.at(param);
  const std::vector<BoxRun> runs = overlap_of(part, whole_of(spec.shape));
  if (foreign_) {
    for (const BoxRun& run : runs)
      foreign_->read(param, run.to,
                     values.subspan(static_cast<size_t>(run.from), static_cast<size_t>(run.count)));
    return;
  }
  const WantedPart wanted{part, std::as_writable_bytes(values)};
  ours_->reader.read("params/" + param, DType::f32, spec.shape, std::span(&wanted, 1));
  if (spec.use.role != ParamRole::router_state) return;
  const int64_t load = count(spec.shape) / 2;  // from here on, row 1
  for (const BoxRun& run : runs)
    for (int64_t i = std::max(int64_t{0}, load - run.to); i < run.count; ++i)
      values[static_cast<size_t>(run.from + i)] = 0;
}

}  // namespace trireme
