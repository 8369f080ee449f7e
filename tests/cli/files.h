// Folders and files of a test.
#pragma once
#include <string>
#include <vector>

namespace trireme {

// A fresh folder, removed with all it holds when it goes out of scope.
class TempFolder {
 public:
  TempFolder();
  TempFolder(const TempFolder&) = delete;
  TempFolder& operator=(const TempFolder&) = delete;
  ~TempFolder();

  const std::string& path() const { return path_; }
  std::string operator/(const std::string& name) const { return path_ + "/" + name; }

 private:
  std::string path_;
};

std::string read_bytes(const std::string& path);                      // "" when it cannot be read
void write_bytes(const std::string& path, const std::string& bytes);  // makes its folders
std::vector<std::string> lines_of(const std::string& text);           // without the newlines
// Names in a folder, sorted; none when it is not there.
std::vector<std::string> names_in(const std::string& folder);

}  // namespace trireme
