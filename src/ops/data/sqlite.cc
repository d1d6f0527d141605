#include "ops/data/sqlite.h"

#include <dlfcn.h>

#include <climits>
#include <type_traits>

namespace weft_engine::ops {

using namespace weft_engine::core;  // NOLINT

namespace {

// SQLite's C interface (sqlite.org/c3ref), as far as it is used here.
constexpr int kOk = 0, kRow = 100, kDone = 101;
constexpr int kTooBig = 18;
constexpr int kReadWrite = 2, kCreate = 4, kUri = 64;

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
  int (*bind_int64)(void*, int, int64_t);
  int (*bind_double)(void*, int, double);
  int (*bind_text)(void*, int, const char*, int, void (*)(void*));
  int (*bind_blob)(void*, int, const void*, int, void (*)(void*));
  int64_t (*last_insert_rowid)(void*);
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
    find(l.bind_int64, "sqlite3_bind_int64");
    find(l.bind_double, "sqlite3_bind_double");
    find(l.bind_text, "sqlite3_bind_text");
    find(l.bind_blob, "sqlite3_bind_blob");
    find(l.last_insert_rowid, "sqlite3_last_insert_rowid");
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

Result<std::unique_ptr<SqlDatabase>> SqlDatabase::open(const std::string& database) {
  const Library* l = library();
  if (!l) return unimplemented("CreateSummaryDbWriter needs SQLite's library, libsqlite3.so.0, which is not installed");
  std::unique_ptr<SqlDatabase> d(new SqlDatabase);
  if (l->open_v2(database.c_str(), &d->database_, kReadWrite | kCreate | kUri, nullptr) != kOk)
    return invalid_argument("Sqlite::Open(", database, ") failed: ", d->database_ ? l->errmsg(d->database_) : "out of memory");
  return d;
}

SqlDatabase::~SqlDatabase() {
  if (database_) library()->close_v2(database_);
}

Result<bool> SqlDatabase::execute(const std::string& statement, const std::vector<Value>& values, int64_t* number) {
  const Library* l = library();
  void* s = nullptr;
  auto failed = [&](const char* what, int code) {
    return Status(Code::kUnknown, cat(what, "() failed: [", code, "] ", l->errmsg(database_), ": ", statement));
  };
  if (int code = l->prepare_v2(database_, statement.c_str(), -1, &s, nullptr); code != kOk) return failed("Prepare", code);
  const std::unique_ptr<void, int (*)(void*)> owner(s, l->finalize);
  for (size_t i = 0; i < values.size(); ++i) {
    // The values outlive the statement: nothing is copied.
    const int at = int(i) + 1;
    int code = kOk;
    if (const auto* n = std::get_if<int64_t>(&values[i])) code = l->bind_int64(s, at, *n);
    if (const auto* x = std::get_if<double>(&values[i])) code = l->bind_double(s, at, *x);
    if (const auto* t = std::get_if<std::string>(&values[i]))
      code = t->size() > INT_MAX ? kTooBig : l->bind_text(s, at, t->data(), int(t->size()), nullptr);
    if (const auto* b = std::get_if<Blob>(&values[i]))
      code = b->bytes.size() > INT_MAX ? kTooBig : l->bind_blob(s, at, b->bytes.data(), int(b->bytes.size()), nullptr);
    if (code != kOk) return failed("Bind", code);
  }
  const int code = l->step(s);
  if (code != kRow && code != kDone) return failed("Step", code);
  if (code == kRow && number) *number = l->column_int64(s, 0);
  return code == kRow;
}

Status SqlDatabase::run(const std::string& statement, const std::vector<Value>& values) { return execute(statement, values, nullptr).status(); }

Result<std::optional<int64_t>> SqlDatabase::find(const std::string& query, const std::vector<Value>& values) {
  int64_t number = 0;
  WEFT_ASSIGN(bool row, execute(query, values, &number));
  return row ? std::optional<int64_t>(number) : std::nullopt;
}

int64_t SqlDatabase::last_rowid() const { return library()->last_insert_rowid(database_); }

}  // namespace weft_engine::ops
