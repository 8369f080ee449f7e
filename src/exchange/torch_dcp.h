// PyTorch's distributed checkpoints (torch.distributed.checkpoint, "torch-dcp"; docs/torch-dcp.md): a folder
// of .metadata and __RANK_N.distcp files, as torchtitan and FSDP write it, or of the safetensors that torch's
// HuggingFaceStorageWriter leaves before they are consolidated. Names are kept as they are in it.
#pragma once
#include <functional>
#include <string>

#include "exchange/foreign_tensors.h"
#include "exchange/torch_save.h"

namespace trireme {

struct TorchDcpOptions {
  // By default every byte of every tensor is read and held against its checksum, so that damage is found
  // before anything is used.
  ElementCheck check = ElementCheck::verify;
  // Hears a line for each kind of entry that is left out (no tensors, an optimizer's, other dtypes), with how
  // many and the first, and a line when there are no checksums to check.
  std::function<void(const std::string&)> on_note;
};

// Whether a folder looks like one of these: finished or not.
bool is_torch_dcp(const std::string& dir);

// The tensors of F32, BF16, F16 and F64 that are no optimizer's. UserError when `dir` is no such folder;
// EnvError, with file and tensor, for one that is unfinished, damaged, or of a form that is not read
// (docs/torch-dcp.md).
ForeignTensors read_torch_dcp(const std::string& dir, const TorchDcpOptions& options = {});

// Called by read_torch_dcp where there is no .metadata: the safetensors of HuggingFaceStorageWriter, whose
// headers say where in its tensor each entry lies. They have no checksums.
ForeignTensors read_dcp_safetensors(const std::string& dir, const TorchDcpOptions& options);

}  // namespace trireme
