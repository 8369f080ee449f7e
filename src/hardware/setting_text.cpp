// One message for all that is not what its key wants.
#include "hardware/setting_text.h"

#include "base/error.h"

namespace trireme {

void fail_value(const Setting& setting, const std::string& expected) {
  fail_user("{}: {} = {} is not {}", setting.where, setting.path, setting.value.text, expected);
}

const std::string& text_of(const Setting& setting) {
  const std::string* text = std::get_if<std::string>(&setting.value.value);
  if (text == nullptr) fail_value(setting, "a string; put it in quotes");
  if (text->empty()) fail_value(setting, "a text; write what it is");
  return *text;
}

}  // namespace trireme
