// A temporary folder that is empty at the start and removed with the object.
#pragma once

#include <stdlib.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>

namespace weft_engine::testing {

struct Folder {
  std::string path;

  Folder() : path((std::filesystem::temp_directory_path() / "weft_XXXXXX").string()) {
    if (!::mkdtemp(path.data())) throw std::filesystem::filesystem_error("mkdtemp", path, std::make_error_code(std::errc::io_error));
  }
  Folder(const Folder&) = delete;
  ~Folder() { std::filesystem::remove_all(path); }

  size_t files() const { return size_t(std::distance(std::filesystem::directory_iterator(path), {})); }
  // Writes a file and gives its path.
  std::string put(const std::string& name, std::string_view contents) const {
    std::ofstream(path + "/" + name, std::ios::binary) << contents;
    return path + "/" + name;
  }
};

}  // namespace weft_engine::testing
