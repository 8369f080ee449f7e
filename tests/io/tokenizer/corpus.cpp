// See corpus.py, line by line.
#include "io/tokenizer/corpus.h"

#include <fstream>
#include <iterator>

namespace trireme::corpus {
namespace {

constexpr char kRunChars[] = {' ', '\n', '\t', '-', '=', 'a', '0', '.'};

std::string unescape(const std::string& line) {
  std::string out;
  for (size_t i = 0; i < line.size(); ++i) {
    if (line[i] != '\\') {
      out += line[i];
      continue;
    }
    switch (line[++i]) {
      case 'x':
        out += static_cast<char>(std::stoi(line.substr(i + 1, 2), nullptr, 16));
        i += 2;
        break;
      case 'n':
        out += '\n';
        break;
      case 'r':
        out += '\r';
        break;
      case 't':
        out += '\t';
        break;
      case '0':
        out += '\0';
        break;
      default:
        out += line[i];
    }
  }
  return out;
}

class SplitMix {
 public:
  explicit SplitMix(uint64_t seed) : state_(seed) {}
  uint64_t next() {
    uint64_t z = state_ += 0x9e3779b97f4a7c15u;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
    z = (z ^ z >> 27) * 0x94d049bb133111ebu;
    return z ^ z >> 31;
  }

 private:
  uint64_t state_;
};

void append_utf8(std::string& out, uint32_t code) {
  const auto tail = [&](int shift) { out += static_cast<char>(0x80 | (code >> shift & 0x3f)); };
  if (code < 0x80) {
    out += static_cast<char>(code);
  } else if (code < 0x800) {
    out += static_cast<char>(0xc0 | code >> 6);
    tail(0);
  } else if (code < 0x10000) {
    out += static_cast<char>(0xe0 | code >> 12);
    tail(6), tail(0);
  } else {
    out += static_cast<char>(0xf0 | code >> 18);
    tail(12), tail(6), tail(0);
  }
}

std::string code_points() {
  std::string out;
  for (uint32_t code = 1; code < 0x110000; code += code < 0x32400 ? 1 : 0x61) {
    if (code >= 0xd800 && code < 0xe000) continue;
    std::string c;
    append_utf8(c, code);
    out += "B" + c + "a" + c + " 7" + c + c + "cD" + c + "\n";
  }
  return out;
}

}  // namespace

std::string golden_folder() { return TRIREME_SOURCE_DIR "/tests/golden/tokenizer/"; }

std::string read_file(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

Fragments fragments() {
  Fragments result;
  std::vector<std::string>* kind = &result.valid;
  std::ifstream file(golden_folder() + "fragments.txt", std::ios::binary);
  for (std::string line; std::getline(file, line);) {
    if (line == "===not valid UTF-8===") {
      kind = &result.invalid;
    } else {
      kind->push_back(unescape(line));
    }
  }
  return result;
}

std::string mixed(uint64_t seed, size_t size, const std::vector<std::string>& parts) {
  SplitMix random(seed);
  std::string out;
  while (out.size() < size) {
    const uint64_t draw = random.next();
    if (draw % 16 == 0) {
      out.append((draw >> 16) % 60 + 1, kRunChars[(draw >> 8) % sizeof kRunChars]);
    } else {
      out += parts[(draw >> 8) % parts.size()];
    }
  }
  return out;
}

std::string letters(uint64_t seed, size_t size) {
  SplitMix random(seed);
  std::string out;
  while (out.size() < size) out += static_cast<char>('a' + random.next() % 26);
  return out;
}

std::map<std::string, std::vector<std::string>> documents() {
  const Fragments parts = fragments();
  std::vector<std::string> all = parts.valid;
  for (int twice = 0; twice < 2; ++twice) all.insert(all.end(), parts.invalid.begin(), parts.invalid.end());
  std::map<std::string, std::vector<std::string>> sets;
  for (uint64_t i = 0; i < 150; ++i) {
    sets["mixed"].push_back(mixed(1000 + i, 1 + i * 173, parts.valid));
    sets["bytes"].push_back(mixed(5000 + i, 1 + i * 97, all));
  }
  std::string line = mixed(7, 300'000, parts.valid);
  for (char& c : line) c = c == '\n' ? ' ' : c;
  sets["line"] = {line};
  sets["letters"] = {letters(11, 100'000)};
  sets["spaces"] = {std::string(100'001, ' ') + "x" + std::string(5000, '\n') + std::string(77, ' ')};
  sets["codes"] = {code_points()};
  return sets;
}

}  // namespace trireme::corpus
