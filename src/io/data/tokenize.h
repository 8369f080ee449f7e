// Text files to token shards on all cores. The shards are the same whatever the number of threads. What
// encodes is the caller's: this pipeline knows texts and ids, not tokenizers.
#pragma once
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "io/data/text_chunks.h"

namespace trireme {

struct TokenizeOptions {
  std::vector<std::string> files;  // read in this order
  RecordRules rules;
  std::string json_key = "text";
  bool strip_carriage_return = false;  // drop a '\r' at a document's end: lines of Windows files

  std::string out;      // PREFIX of the shard
  std::string val_out;  // PREFIX of the validation shard; "" = none
  double val_fraction =
      0;  // of the documents, each chosen by a number drawn from (seed, its place in the input)
  uint64_t seed = 1;

  int64_t vocab = 0;            // of the ids that the encoder gives, and of eot
  std::optional<uint32_t> eot;  // put behind each document
  int threads = 0;              // 0: all cores
  int64_t chunk_bytes = 1 << 20;
};

// Appends the ids of a document. Each thread has one of its own.
using EncodeFunction = std::function<void(std::string_view text, std::vector<uint32_t>& ids)>;

struct Reject {
  std::string path;
  int64_t line;
  std::string reason;
};

// records = documents + empty + rejected.
struct TokenizeReport {
  int64_t bytes = 0;       // read, unpacked
  int64_t text_bytes = 0;  // encoded: the documents' own
  int64_t records = 0;
  int64_t documents = 0;  // written, validation's among them
  int64_t tokens = 0;     // likewise, eot counted
  int64_t val_documents = 0, val_tokens = 0;
  int64_t empty = 0;            // texts of no bytes: nothing is written for them
  int64_t rejected = 0;         // lines that are no JSON object with the key
  std::vector<Reject> rejects;  // the first of them, kShownRejects at most
};

constexpr int64_t kShownRejects = 20;

// `progress` (may be empty) is called after each chunk, on the calling thread. UserError: no document at all,
// or none for one of the two shards. EnvError: a file cannot be read or written. After an error no shard is
// left behind or changed.
TokenizeReport tokenize_files(const TokenizeOptions& options,
                              const std::function<EncodeFunction()>& make_encoder,
                              const std::function<void(const TokenizeReport&)>& progress);

}  // namespace trireme
