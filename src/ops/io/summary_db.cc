#include "ops/io/summary_db.h"

#include <cfloat>
#include <cstring>
#include <random>

#include "wire/event_file.h"
#include "wire/proto.h"
#include "wire/tensor_proto.h"

namespace weft_engine::ops {

using namespace weft_engine::core;  // NOLINT
using Value = SqlDatabase::Value;
using Blob = SqlDatabase::Blob;

namespace {

// TensorBoard's tables.
constexpr const char* kTables[] = {
    "CREATE TABLE IF NOT EXISTS Ids (id INTEGER PRIMARY KEY)",
    "CREATE TABLE IF NOT EXISTS Descriptions (id INTEGER PRIMARY KEY, description TEXT)",
    "CREATE TABLE IF NOT EXISTS Tensors (rowid INTEGER PRIMARY KEY, series INTEGER, step INTEGER, dtype INTEGER, computed_time REAL, shape TEXT, "
    "data BLOB)",
    "CREATE UNIQUE INDEX IF NOT EXISTS TensorSeriesStepIndex ON Tensors (series, step) WHERE series IS NOT NULL AND step IS NOT NULL",
    "CREATE TABLE IF NOT EXISTS TensorStrings (rowid INTEGER PRIMARY KEY, tensor_rowid INTEGER NOT NULL, idx INTEGER NOT NULL, data BLOB)",
    "CREATE UNIQUE INDEX IF NOT EXISTS TensorStringIndex ON TensorStrings (tensor_rowid, idx)",
    "CREATE TABLE IF NOT EXISTS Tags (rowid INTEGER PRIMARY KEY, run_id INTEGER, tag_id INTEGER NOT NULL, inserted_time DOUBLE, tag_name TEXT, "
    "display_name TEXT, "
    "plugin_name TEXT, plugin_data BLOB)",
    "CREATE UNIQUE INDEX IF NOT EXISTS TagIdIndex ON Tags (tag_id)",
    "CREATE UNIQUE INDEX IF NOT EXISTS TagRunNameIndex ON Tags (run_id, tag_name) WHERE run_id IS NOT NULL AND tag_name IS NOT NULL",
    "CREATE TABLE IF NOT EXISTS Runs (rowid INTEGER PRIMARY KEY, experiment_id INTEGER, run_id INTEGER NOT NULL, inserted_time REAL, started_time "
    "REAL, "
    "finished_time REAL, run_name TEXT)",
    "CREATE UNIQUE INDEX IF NOT EXISTS RunIdIndex ON Runs (run_id)",
    "CREATE UNIQUE INDEX IF NOT EXISTS RunNameIndex ON Runs (experiment_id, run_name) WHERE run_name IS NOT NULL",
    "CREATE TABLE IF NOT EXISTS Experiments (rowid INTEGER PRIMARY KEY, user_id INTEGER, experiment_id INTEGER NOT NULL, inserted_time REAL, "
    "started_time REAL, "
    "is_watching INTEGER, experiment_name TEXT)",
    "CREATE UNIQUE INDEX IF NOT EXISTS ExperimentIdIndex ON Experiments (experiment_id)",
    "CREATE UNIQUE INDEX IF NOT EXISTS ExperimentNameIndex ON Experiments (user_id, experiment_name) WHERE experiment_name IS NOT NULL",
    "CREATE TABLE IF NOT EXISTS Users (rowid INTEGER PRIMARY KEY, user_id INTEGER NOT NULL, inserted_time REAL, user_name TEXT, email TEXT)",
    "CREATE UNIQUE INDEX IF NOT EXISTS UserIdIndex ON Users (user_id)",
    "CREATE UNIQUE INDEX IF NOT EXISTS UserNameIndex ON Users (user_name) WHERE user_name IS NOT NULL",
    "CREATE UNIQUE INDEX IF NOT EXISTS UserEmailIndex ON Users (email) WHERE email IS NOT NULL",
    "CREATE TABLE IF NOT EXISTS Graphs (rowid INTEGER PRIMARY KEY, run_id INTEGER, graph_id INTEGER NOT NULL, inserted_time REAL, graph_def BLOB)",
    "CREATE UNIQUE INDEX IF NOT EXISTS GraphIdIndex ON Graphs (graph_id)",
    "CREATE UNIQUE INDEX IF NOT EXISTS GraphRunIndex ON Graphs (run_id) WHERE run_id IS NOT NULL",
    "CREATE TABLE IF NOT EXISTS Nodes (rowid INTEGER PRIMARY KEY, graph_id INTEGER NOT NULL, node_id INTEGER NOT NULL, node_name TEXT, op TEXT, "
    "device TEXT, node_def BLOB)",
    "CREATE UNIQUE INDEX IF NOT EXISTS NodeIdIndex ON Nodes (graph_id, node_id)",
    "CREATE UNIQUE INDEX IF NOT EXISTS NodeNameIndex ON Nodes (graph_id, node_name) WHERE node_name IS NOT NULL",
    "CREATE TABLE IF NOT EXISTS NodeInputs (rowid INTEGER PRIMARY KEY, graph_id INTEGER NOT NULL, node_id INTEGER NOT NULL, idx INTEGER NOT NULL, "
    "input_node_id INTEGER NOT NULL, input_node_idx INTEGER, is_control INTEGER)",
    "CREATE UNIQUE INDEX IF NOT EXISTS NodeInputsIndex ON NodeInputs (graph_id, node_id, idx)",
};

Value id_or_null(int64_t id) { return id ? Value(id) : Value(); }

std::string plugin_metadata(std::string_view plugin) {
  wire::ProtoWriter data, metadata;
  data.bytes(1, plugin);
  metadata.message(1, data);
  return metadata.take();
}

std::string shape_text(const Shape& shape) {
  std::string out;
  for (int i = 0; i < shape.rank(); ++i) out += cat(i ? "," : "", shape.dim(i));
  return out;
}

// [buckets, 3]: left edge, right edge, count.
Result<Tensor> histogram_tensor(std::string_view histogram) {
  std::vector<double> limits, counts;
  auto doubles = [](const wire::ProtoReader& r, std::vector<double>& out) {
    const std::string_view bytes = r.bytes();
    for (size_t at = 0; at + 8 <= bytes.size(); at += 8) {
      double v;
      std::memcpy(&v, bytes.data() + at, 8);
      out.push_back(v);
    }
  };
  wire::ProtoReader r(histogram);
  while (r.next()) {
    if (r.field() == 6) doubles(r, limits);
    if (r.field() == 7) doubles(r, counts);
  }
  if (!r.ok() || limits.size() != counts.size()) return data_loss("the histogram of a summary cannot be read");
  WEFT_ASSIGN(Tensor t, Tensor::allocate(DType::kDouble, Shape({int64_t(limits.size()), 3})));
  for (size_t i = 0; i < limits.size(); ++i) {
    t.data<double>()[i * 3] = i ? limits[i - 1] : DBL_MIN;
    t.data<double>()[i * 3 + 1] = limits[i];
    t.data<double>()[i * 3 + 2] = counts[i];
  }
  return t;
}

Tensor strings(const Shape& shape, const std::vector<std::string>& values) {
  std::vector<tstring> all;
  for (const std::string& v : values) all.emplace_back(v);
  return Tensor::of<tstring>(shape, all);
}

// An image or a clip: the encoded file is field 4 of either.
Result<Tensor> file_tensor(std::string_view message, bool image) {
  int64_t height = 0, width = 0;
  std::string encoded;
  wire::ProtoReader r(message);
  while (r.next()) {
    if (r.field() == 1) height = r.int64();
    if (r.field() == 2) width = r.int64();
    if (r.field() == 4) encoded = r.bytes();
  }
  if (!r.ok()) return data_loss("a summary cannot be read");
  if (!image) return strings(Shape({1, 2}), {encoded, ""});
  return strings(Shape({3}), {cat(width), cat(height), encoded});
}

}  // namespace

Result<std::unique_ptr<SummaryDb>> SummaryDb::open(const std::string& database, std::string experiment, std::string run, std::string user) {
  WEFT_ASSIGN(std::unique_ptr<SqlDatabase> db, SqlDatabase::open(database));
  std::unique_ptr<SummaryDb> made(new SummaryDb(std::move(db)));
  made->experiment_ = std::move(experiment);
  made->run_ = std::move(run);
  made->user_ = std::move(user);
  made->random_ = (uint64_t(std::random_device()()) << 32) ^ std::random_device()();
  WEFT_RETURN_IF_ERROR(made->make_tables());
  return made;
}

SummaryDb::~SummaryDb() {
  if (run_id_) (void)db_->run("UPDATE Runs SET finished_time = ? WHERE run_id = ?", {wire::wall_time_now(), run_id_});
}

Status SummaryDb::make_tables() {
  for (const char* statement : kTables) WEFT_RETURN_IF_ERROR(db_->run(statement));
  return {};
}

// Random, so that several writers rarely ask for the same.
Result<int64_t> SummaryDb::new_id() {
  constexpr int kTries = 64;
  Status last;
  for (int i = 0; i < kTries; ++i) {
    random_ = random_ * 6364136223846793005u + 1442695040888963407u;
    const int bits = i < 20 ? 23 : 47;
    const int64_t id = int64_t(random_ >> (64 - bits));
    if (id == 0) continue;
    last = db_->run("INSERT INTO Ids (id) VALUES (?)", {id});
    if (last.ok()) return id;
  }
  return last.ok() ? internal_error("no free identifier in the database") : last;
}

Status SummaryDb::begin(double time) {
  if (begun_) {
    if (time >= started_) return {};
    started_ = time;
    if (experiment_id_)
      WEFT_RETURN_IF_ERROR(
          db_->run("UPDATE Experiments SET started_time = ? WHERE experiment_id = ? AND started_time > ?", {time, experiment_id_, time}));
    return run_id_ ? db_->run("UPDATE Runs SET started_time = ? WHERE run_id = ?", {time, run_id_}) : Status();
  }
  const double now = wire::wall_time_now();
  if (!user_.empty()) {
    WEFT_ASSIGN(auto found, db_->find("SELECT user_id FROM Users WHERE user_name = ?", {user_}));
    if (found) user_id_ = *found;
    else {
      WEFT_ASSIGN(user_id_, new_id());
      WEFT_RETURN_IF_ERROR(db_->run("INSERT INTO Users (user_id, user_name, inserted_time) VALUES (?, ?, ?)", {user_id_, user_, now}));
    }
  }
  if (!experiment_.empty()) {
    WEFT_ASSIGN(auto found,
                db_->find("SELECT experiment_id FROM Experiments WHERE user_id IS ? AND experiment_name = ?", {id_or_null(user_id_), experiment_}));
    if (found) experiment_id_ = *found;
    else {
      WEFT_ASSIGN(experiment_id_, new_id());
      WEFT_RETURN_IF_ERROR(db_->run(
          "INSERT INTO Experiments (user_id, experiment_id, experiment_name, inserted_time, started_time, is_watching) VALUES (?, ?, ?, ?, ?, 0)",
          {id_or_null(user_id_), experiment_id_, experiment_, now, time}));
    }
  }
  if (!run_.empty()) {
    WEFT_ASSIGN(run_id_, new_id());
    WEFT_RETURN_IF_ERROR(db_->run("INSERT OR REPLACE INTO Runs (experiment_id, run_id, run_name, inserted_time, started_time) VALUES (?, ?, ?, ?, ?)",
                                  {id_or_null(experiment_id_), run_id_, run_, now, time}));
  }
  started_ = time;
  begun_ = true;
  return {};
}

Result<int64_t> SummaryDb::tag_id(double time, std::string_view tag, std::string_view metadata) {
  WEFT_RETURN_IF_ERROR(begin(time));
  if (auto it = tags_.find(tag); it != tags_.end()) return it->second;
  std::string plugin, content, display, description;
  wire::ProtoReader r(metadata);
  while (r.next()) {
    if (r.field() == 2) display = r.bytes();
    if (r.field() == 3) description = r.bytes();
    if (r.field() != 1) continue;
    wire::ProtoReader data(r.bytes());
    while (data.next()) {
      if (data.field() == 1) plugin = data.bytes();
      if (data.field() == 2) content = data.bytes();
    }
  }
  WEFT_ASSIGN(int64_t id, new_id());
  WEFT_RETURN_IF_ERROR(db_->run("INSERT INTO Descriptions (id, description) VALUES (?, ?)", {id, description}));
  WEFT_RETURN_IF_ERROR(db_->run(
      "INSERT OR REPLACE INTO Tags (run_id, tag_id, tag_name, inserted_time, display_name, plugin_name, plugin_data) VALUES (?, ?, ?, ?, ?, ?, ?)",
      {id_or_null(run_id_), id, std::string(tag), wire::wall_time_now(), display, plugin, Blob{content}}));
  tags_.emplace(tag, id);
  return id;
}

Status SummaryDb::write_locked(double time, int64_t step, std::string_view tag, const Tensor& tensor, std::string_view metadata) {
  if (tensor.dtype() == DType::kBool) return unimplemented("bool tensors unsupported on platform");
  if (tensor.dtype() != DType::kString && !is_simple(tensor.dtype()))
    return unimplemented("a summary of ", dtype_name(tensor.dtype()), " in a database");
  WEFT_ASSIGN(int64_t series, tag_id(time, tag, metadata));
  Value data;
  if (tensor.dtype() != DType::kString) data = Blob{std::string(tensor.data<char>(), tensor.byte_size())};
  else if (tensor.rank() == 0) data = Blob{tensor.data<tstring>()[0].str()};
  WEFT_RETURN_IF_ERROR(db_->run("INSERT OR REPLACE INTO Tensors (series, step, dtype, computed_time, shape, data) VALUES (?, ?, ?, ?, ?, ?)",
                                {series, step, int64_t(tensor.dtype()), time, shape_text(tensor.shape()), std::move(data)}));
  if (tensor.dtype() != DType::kString || tensor.rank() == 0) return {};
  const int64_t row = db_->last_rowid();
  for (int64_t i = 0; i < tensor.num_elements(); ++i)
    WEFT_RETURN_IF_ERROR(
        db_->run("INSERT OR REPLACE INTO TensorStrings (tensor_rowid, idx, data) VALUES (?, ?, ?)", {row, i, Blob{tensor.data<tstring>()[i].str()}}));
  return {};
}

Status SummaryDb::write(double time, int64_t step, std::string_view tag, const Tensor& tensor, std::string_view metadata) {
  std::lock_guard lock(mutex_);
  return write_locked(time, step, tag, tensor, metadata);
}

Status SummaryDb::write_scalar(double time, int64_t step, std::string_view tag, const Tensor& value) {
  return write(time, step, tag, value.reshaped(Shape()), plugin_metadata("scalars"));
}

Status SummaryDb::write_value(double time, int64_t step, std::string_view value) {
  std::string tag, metadata;
  const char* plugin = "";
  Tensor t;
  wire::ProtoReader r(value);
  while (r.next()) {
    if (r.field() == 1) tag = r.bytes();
    if (r.field() == 9) metadata = r.bytes();
    if (r.field() == 2) {
      t = Tensor::scalar(r.float32());
      plugin = "scalars";
    } else if (r.field() == 4 || r.field() == 6) {
      WEFT_ASSIGN(t, file_tensor(r.bytes(), r.field() == 4));
      plugin = r.field() == 4 ? "images" : "audio";
    } else if (r.field() == 5) {
      WEFT_ASSIGN(t, histogram_tensor(r.bytes()));
      plugin = "histograms";
    } else if (r.field() == 8) {
      WEFT_ASSIGN(t, wire::decode_tensor(r.bytes()));
    }
  }
  if (!r.ok()) return data_loss("a summary cannot be read");
  if (!t.valid()) return {};
  if (*plugin && metadata.empty()) metadata = plugin_metadata(plugin);
  return write_locked(time, step, tag, t, metadata);
}

Status SummaryDb::write_summary(double time, int64_t step, std::string_view summary) {
  std::lock_guard lock(mutex_);
  wire::ProtoReader r(summary);
  while (r.next()) {
    if (r.field() == 1) WEFT_RETURN_IF_ERROR(write_value(time, step, r.bytes()));
  }
  return r.ok() ? Status() : data_loss("a summary cannot be read");
}

// The node without what has columns of its own; inputs by the numbers of their nodes.
Status SummaryDb::write_node(int64_t graph, int64_t number, std::string_view node, const std::map<std::string, int64_t, std::less<>>& numbers) {
  std::string name, op, device;
  wire::ProtoWriter rest;
  int64_t index = 0;
  wire::ProtoReader r(node);
  while (r.next()) {
    if (r.field() == 1) name = r.bytes();
    else if (r.field() == 2) op = r.bytes();
    else if (r.field() == 4) device = r.bytes();
    else if (r.field() != 3) rest.bytes(r.field(), r.bytes());
    else {
      std::string_view input = r.bytes();
      const bool control = input.starts_with('^');
      if (control) input.remove_prefix(1);
      const size_t colon = input.rfind(':');
      int64_t output = 0;
      if (colon != std::string_view::npos) {
        for (char ch : input.substr(colon + 1)) output = ch >= '0' && ch <= '9' && output < INT32_MAX ? output * 10 + (ch - '0') : output;
      }
      auto it = numbers.find(input.substr(0, colon));
      if (it == numbers.end()) return data_loss("Could not find node: ", input);
      WEFT_RETURN_IF_ERROR(
          db_->run("INSERT INTO NodeInputs (graph_id, node_id, idx, input_node_id, input_node_idx, is_control) VALUES (?, ?, ?, ?, ?, ?)",
                   {graph, number, index++, it->second, output, int64_t(control)}));
    }
  }
  if (!r.ok()) return data_loss("a graph cannot be read");
  return db_->run("INSERT INTO Nodes (graph_id, node_id, node_name, op, device, node_def) VALUES (?, ?, ?, ?, ?, ?)",
                  {graph, number, name, op, device, Blob{rest.take()}});
}

Status SummaryDb::write_graph(double time, std::string_view graph_def) {
  std::lock_guard lock(mutex_);
  WEFT_RETURN_IF_ERROR(begin(time));
  std::map<std::string, int64_t, std::less<>> numbers;
  std::vector<std::string_view> nodes;
  wire::ProtoWriter rest;
  wire::ProtoReader r(graph_def);
  while (r.next()) {
    if (r.field() != 1) {
      if (r.type() == wire::WireType::kBytes) rest.bytes(r.field(), r.bytes());
      else rest.varint(r.field(), r.varint());
      continue;
    }
    wire::ProtoReader node(r.bytes());
    while (node.next()) {
      if (node.field() == 1) numbers.emplace(node.bytes(), int64_t(nodes.size()));
    }
    nodes.push_back(r.bytes());
  }
  if (!r.ok()) return data_loss("a graph cannot be read");
  WEFT_ASSIGN(int64_t id, new_id());
  WEFT_RETURN_IF_ERROR(db_->run("BEGIN TRANSACTION"));
  auto all = [&]() -> Status {
    for (size_t i = 0; i < nodes.size(); ++i) WEFT_RETURN_IF_ERROR(write_node(id, int64_t(i), nodes[i], numbers));
    return db_->run("INSERT OR REPLACE INTO Graphs (run_id, graph_id, inserted_time, graph_def) VALUES (?, ?, ?, ?)",
                    {id_or_null(run_id_), id, time, Blob{rest.take()}});
  };
  Status s = all();
  Status ended = db_->run(s.ok() ? "COMMIT TRANSACTION" : "ROLLBACK TRANSACTION");
  return s.ok() ? ended : s;
}

Status SummaryDb::write_event(std::string_view event) {
  double time = 0;
  int64_t step = 0;
  std::string_view summary, graph;
  wire::ProtoReader r(event);
  while (r.next()) {
    if (r.field() == 1) time = r.float64();
    if (r.field() == 2) step = r.int64();
    if (r.field() == 4) graph = r.bytes();
    if (r.field() == 5) summary = r.bytes();
  }
  if (!r.ok()) return data_loss("Bad tf.Event binary proto tensor string");
  if (!graph.empty()) WEFT_RETURN_IF_ERROR(write_graph(time, graph));
  return write_summary(time, step, summary);
}

}  // namespace weft_engine::ops
