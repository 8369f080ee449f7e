// The texts of the tokenizer goldens; tests/golden/tokenizer/corpus.py makes the same bytes.
#pragma once
#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace trireme::corpus {

// The folder of the tokenizer goldens, with a slash at its end.
std::string golden_folder();

std::string read_file(const std::string& path);

// Fragments that are valid UTF-8, and those that are not.
struct Fragments {
  std::vector<std::string> valid, invalid;
};
Fragments fragments();

// At least `size` bytes of random fragments.
std::string mixed(uint64_t seed, size_t size, const std::vector<std::string>& parts);

// Lower-case letters only: one long piece.
std::string letters(uint64_t seed, size_t size);

// Set name -> documents.
std::map<std::string, std::vector<std::string>> documents();

}  // namespace trireme::corpus
