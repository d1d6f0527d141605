#include "wire/file.h"

#include "api/unwrap.h"
#include "weft/data.h"

namespace weft::data {

std::string read_file(const std::string& path) {
  std::string bytes;
  api::check(wire::read_file(path, bytes));
  return bytes;
}

void write_file(const std::string& path, std::string_view bytes) { api::check(wire::write_file(path, bytes)); }

bool file_exists(const std::string& path) { return wire::file_exists(path); }

}  // namespace weft::data
