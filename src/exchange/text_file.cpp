// By way of the calls that name what failed.
#include "exchange/text_file.h"

#include <span>

#include "io/store/posix_file.h"

namespace trireme {

void write_text_file(const std::string& path, std::string_view text) {
  const FileDescriptor file = create_to_write(path);
  write_all(file.get(), std::as_bytes(std::span(text)), path);
  sync_file(file.get(), path);
}

}  // namespace trireme
