#pragma once

#include <sys/stat.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>

namespace mkp {

// A folder of files that lives as long as its test.
class TempFolder {
 public:
  TempFolder() : path_((std::filesystem::temp_directory_path() / "mkp-test-XXXXXX").string()) {
    if (mkdtemp(path_.data()) == nullptr) std::abort();
  }
  ~TempFolder() { std::filesystem::remove_all(path_); }
  TempFolder(const TempFolder&) = delete;
  TempFolder& operator=(const TempFolder&) = delete;

  std::string path(const std::string& name) const { return path_ + "/" + name; }
  const std::string& path() const { return path_; }

  // Readable for its owner alone, unless told otherwise. Returns its path.
  std::string write(const std::string& name, std::string_view text, mode_t mode = 0600) const {
    const std::string file = path(name);
    std::filesystem::create_directories(std::filesystem::path(file).parent_path());
    std::ofstream(file) << text;
    chmod(file.c_str(), mode);
    return file;
  }
  std::string write_program(const std::string& name, std::string_view text) const {
    return write(name, text, 0700);
  }
  void remove(const std::string& name) const { std::filesystem::remove(path(name)); }

 private:
  std::string path_;
};

}  // namespace mkp
