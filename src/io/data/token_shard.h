// A shard file of token ids, opened and checked, whatever its format.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "io/data/shard_layout.h"
#include "io/files/mapped_file.h"

namespace trireme {

// layout's pointers are into the mappings, which stay put when the struct moves.
struct TokenShard {
  std::string path;
  ShardLayout layout;
  MappedFile data;
  MappedFile index;  // Megatron's .idx, datatrove's .ds.index
};

// How the format is found, in this order (docs/data.md):
//   X.idx            Megatron, ids in X.bin        X.u16, X.u32   ids alone
//   X.ds             datatrove, needs X.ds.index   otherwise      Megatron if the name with .idx in place of
//                    its extension is a Megatron index, else llm.c by its magic number
// UserError: no known format, or the parser's complaint. EnvError: the file cannot be read.
TokenShard open_shard(const std::string& path);

// What reading a whole shard finds.
struct ShardReport {
  int64_t documents = -1;  // by the index or by `eot`; -1 = unknown
  int64_t empty_documents = 0;
  int64_t shortest = 0, longest = 0;  // document lengths in tokens
  int64_t smallest_id = 0, largest_id = 0;
  int64_t eot_count = 0;
};

// Reads every id and every document boundary. eot: < 0 = unknown.
ShardReport scan_shard(const TokenShard& shard, int64_t eot);

// The shards of a list of names and globs: expand_files without companion files (.idx beside its .bin;
// .ds.index, .ds.metadata and .ds.loss beside their .ds).
std::vector<std::string> expand_shards(const std::vector<std::string>& patterns, const std::string& key);

}  // namespace trireme
