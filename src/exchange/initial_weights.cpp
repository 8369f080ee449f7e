// Of our own checkpoints whole tensors are read, verified; the last one is kept, since a parameter is asked
// for in parts.
#include "exchange/initial_weights.h"

#include <algorithm>
#include <mutex>

#include "base/error.h"
#include "config/run_spec.h"
#include "exchange/same_model.h"

namespace trireme {

struct InitialWeights::Ours {
  explicit Ours(SavedRun opened) : run(std::move(opened)) {}

  SavedRun run;
  std::map<std::string, ParamSpec> params;
  std::mutex mutex;  // of what follows
  std::string name;
  std::shared_ptr<const std::vector<float>> values;  // also of the threads that copy from it

  // The whole parameter, verified.
  std::shared_ptr<const std::vector<float>> whole(const std::string& param) {
    const std::lock_guard lock(mutex);
    if (values && name == param) return values;
    const Shape& shape = params.at(param).shape;
    auto read = std::make_shared<std::vector<float>>(static_cast<size_t>(count(shape)));
    run.reader.read("params/" + param, DType::f32, shape, std::as_writable_bytes(std::span(*read)));
    name = param;
    values = std::move(read);
    return values;
  }
};

namespace {

// Names and shapes; optimizer state and the like may be there besides.
void require_params(const SavedRun& run, const std::map<std::string, ParamSpec>& params) {
  std::map<std::string, Shape> stored;
  for (const StoredTensor& tensor : run.reader.tensors())
    if (tensor.name.starts_with("params/")) stored[tensor.name.substr(7)] = tensor.shape;
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
  const WeightSource source = source_of(from);
  if (source != WeightSource::trireme) {
    foreign_ = std::make_unique<MappedWeights>(open_foreign(source, from, spec, on_note));
    return;
  }
  ours_ = std::make_unique<Ours>(open_saved_run(from));
  for (ParamSpec& param : build_model(spec, {.batch = 1, .seq_len = 1}).params)
    ours_->params[param.name] = std::move(param);
  const CheckpointReader& reader = ours_->run.reader;
  const RunSpec saved = parse_config(reader.meta().config_toml, reader.location());
  require_same_model(saved, reader.location(), spec);
  if (saved.model.rope_layout != spec.rope_layout)
    fail_user(
        "model.rope_layout = {}, but {} was trained with {}, and its queries and keys are made for that",
        name_of_value(spec.rope_layout), reader.location(), name_of_value(saved.model.rope_layout));
  require_params(ours_->run, ours_->params);
}

InitialWeights::~InitialWeights() = default;

void InitialWeights::read(const std::string& param, int64_t first, std::span<float> values) const {
  if (foreign_) return foreign_->read(param, first, values);
  const auto whole = ours_->whole(param);
  std::copy_n(whole->begin() + first, values.size(), values.begin());
  const ParamSpec& spec = ours_->params.at(param);
  if (spec.use.role != ParamRole::router_state) return;
  const int64_t load = count(spec.shape) / 2;  // from here on, row 1
  for (size_t i = 0; i < values.size(); ++i)
    if (first + static_cast<int64_t>(i) >= load) values[i] = 0;
}

}  // namespace trireme
