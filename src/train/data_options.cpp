// Field by field.
#include "train/data_options.h"

#include "base/error.h"

namespace trireme {
namespace {

DataOptions shared_options(const RunSpec& spec, std::optional<uint32_t> eot) {
  DataOptions options;
  options.seq_len = spec.data.seq_len;
  options.vocab = spec.model.vocab;
  options.seed = static_cast<uint64_t>(spec.data.seed);
  options.packing = spec.data.packing == Packing::document ? RowPacking::document : RowPacking::stream;
  options.eot = eot;
  return options;
}

}  // namespace

DataOptions training_options(const RunSpec& spec, std::optional<uint32_t> eot) {
  DataOptions options = shared_options(spec, eot);
  options.key = "data.train";
  for (const DataSet& set : spec.data.train) options.sources.push_back({set.paths, set.weight});
  return options;
}

DataOptions validation_options(const RunSpec& spec, std::optional<uint32_t> eot) {
  if (spec.data.val.empty()) fail_user("data.val is empty: name the shards to validate on");
  DataOptions options = shared_options(spec, eot);
  options.key = "data.val";
  options.order = SampleOrder::fixed;
  options.sources.push_back({spec.data.val, 1.0});
  return options;
}

}  // namespace trireme
