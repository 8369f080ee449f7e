// Copying a committed checkpoint from one store to another: every byte is read back and held against the
// checkpoint's own checksums before the copy is committed. Called by the mirror and by `trireme ckpt push`
// and `pull`.
#pragma once
#include <cstdint>
#include <stop_token>
#include <string>

#include "io/store/byte_store.h"

namespace trireme {

// When a copy of that name is committed there already, with the same index.
enum class IfThere : uint8_t {
  trust,      // it is left, if its sizes and headers are right: it was read back when it was made
  read_back,  // it is left, if every byte is right
};

struct CopyOptions {
  IfThere if_there = IfThere::trust;
  int threads = 4;  // that read back, and reads under way while copying; each holds a few MiB
  std::stop_token stop;
};

struct CopyReport {
  enum class Kind : uint8_t {
    copied,
    was_there,  // left as it is
  };
  Kind kind = Kind::copied;
  std::string location;    // of the copy, for messages
  int64_t bytes = 0;       // of the checkpoint
  int64_t kept_bytes = 0;  // of them, those that an earlier copy, cut short, had left and that are right
  double write_s = 0, verify_s = 0;
};

// EnvError when it cannot be read or written, or does not read back as it was written; then the copy is not
// committed, and a later call goes on from what is there. A copy of another checkpoint of the same name is
// replaced. Two copies to one place at once are the caller's mistake.
CopyReport copy_checkpoint(const ByteStore& from, const std::string& name, ByteStore& to,
                           const CopyOptions& options = {});

// "1.2 GB in 3.1 s (390 MB/s written, 800 MB/s read back)"
std::string describe(const CopyReport& report);
std::string size_text(int64_t bytes);  // "12.3 kB", "1.2 GB"

}  // namespace trireme
