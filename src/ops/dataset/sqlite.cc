#include "ops/dataset/sqlite.h"

#include <dlfcn.h>

#include <type_traits>

namespace weft::ops::data {

using namespace weft::core;  // NOLINT

namespace {

// SQLite's C interface (sqlite.org/c3ref), as far as it is used here.
constexpr int kOk = 0, kRow = 100, kDone = 101;
constexpr int kReadWrite = 2, kCreate = 4;

struct Library {
  int (*open_v2)(const char*, void**, int, const char*);
  int (*close_v2)(void*);
  const char* (*errmsg)(void*);
  int (*prepare_v2)(void*, const char*, int, void**, const char**);
  int (*step)(void*);
  int (*finalize)(void*);
  int (*column_count)(void*);
  int64_t (*column_int64)(void*, int);
  double (*column_double)(void*, int);
  const void* (*column_blob)(void*, int);
  int (*column_bytes)(void*, int);
};

// Null where it is not installed.
const Library* library() {
  static const Library* const loaded = []() -> const Library* {
    void* handle = dlopen("libsqlite3.so.0", RTLD_NOW | RTLD_LOCAL);
    if (!handle) return nullptr;
    static Library l;
    bool all = true;
    auto find = [&](auto& function, const char* name) {
      function = reinterpret_cast<std::remove_reference_t<decltype(function)>>(dlsym(handle, name));
      all &= function != nullptr;
    };
    find(l.open_v2, "sqlite3_open_v2");
    find(l.close_v2, "sqlite3_close_v2");
    find(l.errmsg, "sqlite3_errmsg");
    find(l.prepare_v2, "sqlite3_prepare_v2");
    find(l.step, "sqlite3_step");
    find(l.finalize, "sqlite3_finalize");
    find(l.column_count, "sqlite3_column_count");
    find(l.column_int64, "sqlite3_column_int64");
    find(l.column_double, "sqlite3_column_double");
    find(l.column_blob, "sqlite3_column_blob");
    find(l.column_bytes, "sqlite3_column_bytes");
    return all ? &l : nullptr;
  }();
  return loaded;
}

}  // namespace

Result<std::unique_ptr<SqlQuery>> SqlQuery::open(const std::string& database, const std::string& query) {
  const Library* l = library();
  if (!l) return unimplemented("SqlDataset needs SQLite's library, libsqlite3.so.0, which is not installed");
  std::unique_ptr<SqlQuery> q(new SqlQuery);
  q->query_ = query;
  if (l->open_v2(database.c_str(), &q->database_, kReadWrite | kCreate, nullptr) != kOk)
    return invalid_argument("Sqlite::Open(", database, ") failed: ", q->database_ ? l->errmsg(q->database_) : "out of memory");
  const int code = l->prepare_v2(q->database_, query.c_str(), -1, &q->statement_, nullptr);
  if (code != kOk) return Status(Code::kUnknown, cat("Prepare() failed: [", code, "] ", l->errmsg(q->database_), ": ", query));
  if (!q->statement_) return invalid_argument("SqlDataset got an empty query");
  return q;
}

SqlQuery::~SqlQuery() {
  if (statement_) library()->finalize(statement_);
  if (database_) library()->close_v2(database_);
}

Result<bool> SqlQuery::step() {
  const int code = library()->step(statement_);
  if (code == kRow) return true;
  if (code == kDone) return false;
  return Status(Code::kUnknown, cat("Step() failed: [", code, "] ", library()->errmsg(database_), ": ", query_));
}

int SqlQuery::num_columns() const { return library()->column_count(statement_); }
int64_t SqlQuery::number(int column) const { return library()->column_int64(statement_, column); }
double SqlQuery::real(int column) const { return library()->column_double(statement_, column); }

std::string SqlQuery::text(int column) const {
  const void* bytes = library()->column_blob(statement_, column);
  const int n = library()->column_bytes(statement_, column);
  return bytes && n > 0 ? std::string(static_cast<const char*>(bytes), size_t(n)) : std::string();
}

}  // namespace weft::ops::data
