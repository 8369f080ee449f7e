// What an argument of `trireme ckpt` means: the checkpoints of a run, or one of them, in a folder or in S3.
#pragma once
#include <memory>
#include <string>
#include <vector>

#include "io/checkpoint/checkpoint.h"
#include "io/store/byte_store.h"

namespace trireme::cli {

struct CheckpointPlace {
  std::unique_ptr<ByteStore> store;  // of checkpoints
  std::string name;                  // of the one that is meant; "": all of them
};

// A run, its folder of checkpoints, one checkpoint, or s3://bucket/prefix[/step-...]. UserError when a folder
// is none of these.
CheckpointPlace checkpoint_place(const std::string& argument);

// Where a copy into `argument` goes: into the store in S3; into a folder that has checkpoints, or is called
// so; else into the checkpoints/ of a run, which need not be there yet.
std::unique_ptr<ByteStore> place_for_copies(const std::string& argument);

}  // namespace trireme::cli
