// [data]: which token shards are read and how they are cut into sequences. Read by src/io/data/ by way
// of src/train/. Paths are relative to where the command runs; globs are expanded by the reader.
#pragma once
#include <string>
#include <vector>

#include "config/field.h"

namespace trireme {

// stream: windows of seq_len + 1 over the tokens, whatever the documents. document: attention and
// positions stop at document boundaries, and no token predicts the next document's first.
enum class Packing : uint8_t { stream, document };
std::span<const std::string_view> names_of_values(Packing);

// One set of a mixture. A plain list of paths in the config is a single set with weight 1.
struct DataSet {
  std::vector<std::string> paths;  // globs, at least one
  double weight = 1.0;             // share of the sequences, relative to the other sets' weights; 0: none
  bool operator==(const DataSet&) const = default;
};

template <template <class> class As>
struct DataKeys {
  As<std::vector<DataSet>> train{};
  As<std::vector<std::string>> val{};  // globs; empty: no validation
  As<int64_t> seq_len{};               // T, tokens
  As<Packing> packing{};
  std::optional<std::string> tokenizer;  // tokenizer.json, for samples and bits per byte
  As<int64_t> seed{};                    // of the sample order
  As<bool> log_samples{};                // write each step's sample ids
};

using DataSpec = DataKeys<Plain>;
using RawData = DataKeys<Maybe>;

}  // namespace trireme
