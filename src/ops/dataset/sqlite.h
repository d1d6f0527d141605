// SQLite's library, loaded when a program first asks for it: only SqlDataset needs it.
#pragma once

#include <memory>
#include <string>

#include "core/status.h"

namespace weft::ops::data {

// One query. Column numbers are those of the result.
class SqlQuery {
 public:
  // Unimplemented where the library is not installed.
  static core::Result<std::unique_ptr<SqlQuery>> open(const std::string& database, const std::string& query);
  ~SqlQuery();
  // False: there are no more rows.
  core::Result<bool> step();
  int num_columns() const;
  int64_t number(int column) const;
  double real(int column) const;
  std::string text(int column) const;

 private:
  SqlQuery() = default;
  void* database_ = nullptr;
  void* statement_ = nullptr;
  std::string query_;
};

}  // namespace weft::ops::data
