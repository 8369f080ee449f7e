// A hardware file from any bytes gives a Hardware or a UserError, and a Hardware's text reads back to itself.
// The bytes follow a whole file, or stand alone where they begin with '!'.
#include <cstdint>
#include <string>
#include <string_view>

#include "base/error.h"
#include "hardware/catalog.h"
#include "hardware/read.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view input(reinterpret_cast<const char*>(data), size);
  const bool alone = !input.empty() && input[0] == '!';
  const std::string text = alone ? std::string(input.substr(1))
                                 : std::string(trireme::built_in_hardware()[0].text) + std::string(input);
  try {
    const trireme::Hardware hardware = trireme::parse_hardware(text, "a.toml");
    const std::string again = trireme::to_toml(hardware);
    CHECK(trireme::parse_hardware(again, "again.toml") == hardware, "{}", again);
  } catch (const trireme::UserError&) {
  }
  return 0;
}
