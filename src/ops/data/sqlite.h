// SQLite's library, loaded when a program first asks for it: SqlDataset reads, CreateSummaryDbWriter writes databases.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "core/status.h"

namespace weft_engine::ops {

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

// A database to write into; not for several threads at once.
class SqlDatabase {
 public:
  struct Blob {
    std::string bytes;
  };
  using Value = std::variant<std::monostate, int64_t, double, std::string, Blob>;
  // Made if it is not there.
  static core::Result<std::unique_ptr<SqlDatabase>> open(const std::string& database);
  ~SqlDatabase();
  core::Status run(const std::string& statement, const std::vector<Value>& values = {});
  // The first row of a query, its first column as a number; none if there is no row.
  core::Result<std::optional<int64_t>> find(const std::string& query, const std::vector<Value>& values = {});
  int64_t last_rowid() const;

 private:
  SqlDatabase() = default;
  core::Result<bool> execute(const std::string& statement, const std::vector<Value>& values, int64_t* number);
  void* database_ = nullptr;
};

}  // namespace weft_engine::ops
