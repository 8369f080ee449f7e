// The build's own words, set by src/CMakeLists.txt.
#include "cli/version.h"

#include <fmt/format.h>

#include "device/cpu/isa.h"

namespace trireme::cli {

std::string version_text() {
  std::string text = fmt::format("trireme {} ({})\nbuilt with {}, {}", TRIREME_VERSION, TRIREME_COMMIT,
                                 TRIREME_COMPILER, TRIREME_BUILD_TYPE);
  if (std::string_view(TRIREME_SANITIZE) != "") text += fmt::format(", -fsanitize={}", TRIREME_SANITIZE);
  return text + fmt::format("\ndevices: cpu ({} here), null", name_of(detect_isa()));
}

}  // namespace trireme::cli
