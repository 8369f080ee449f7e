// One line of JSON to the text in it.
#pragma once
#include <string>
#include <string_view>

namespace trireme {

// Puts the string under the top-level `key` into `text`. Returns "" or, when the line is no JSON object with
// such a string, the reason in one short line. Of a repeated key the last counts.
std::string extract_text(std::string_view line, const std::string& key, std::string& text);

}  // namespace trireme
