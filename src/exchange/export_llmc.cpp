// Tensors one behind the other.
#include "exchange/export_llmc.h"

#include <array>

#include "config/run_spec.h"
#include "exchange/llmc_file.h"
#include "exchange/staged_path.h"
#include "exchange/weight_files.h"

namespace trireme {

ExportReport export_llmc(const SavedRun& run, const std::string& file, int32_t version) {
  const CheckpointReader& reader = run.reader;
  const ModelSpec spec = parse_config(reader.meta().config_toml, reader.location()).model;
  const LlmcHeader header = llmc_header_of(spec, version);
  const NameMap map = llmc_name_map(spec, header.padded_vocab);
  const DType dtype = version == 5 ? DType::bf16 : DType::f32;
  std::vector<TensorPlace> places;
  int64_t at = kLlmcHeaderBytes;
  for (const ForeignParam& param : map.foreign) {
    places.push_back({0, at, dtype});
    at += count(param.shape) * size_of(dtype);
  }
  StagedPath staged(file, Staged::file);
  const std::vector<std::byte> head = llmc_header_bytes(header);
  write_weight_files(reader, map, places, std::array{WeightFile{staged.path(), head, at}});
  staged.publish();
  return {.files = 1, .tensors = static_cast<int64_t>(map.foreign.size()), .bytes = at - kLlmcHeaderBytes};
}

}  // namespace trireme
