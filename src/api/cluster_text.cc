// Clusters from text: JSON as TF_CONFIG has it, and the lists of nodes that Slurm gives.
#include <charconv>
#include <cstdlib>
#include <optional>
#include <tuple>

#include "api/unwrap.h"
#include "weft/cluster.h"
#include "wire/file.h"
#include "wire/text_util.h"

namespace weft {
namespace {

[[noreturn]] void fail(const std::string& text) { throw Error(Code::kInvalidArgument, text); }

// What JSON that describes a cluster can hold.
struct JsonValue {
  enum class Kind { null, text, number, list, object, other } kind = Kind::null;
  std::string text;
  double number = 0;
  std::vector<std::pair<std::string, JsonValue>> members;  // of an object; of a list, without names

  const JsonValue* find(std::string_view name) const {
    for (const auto& [key, value] : members) {
      if (kind == Kind::object && key == name) return &value;
    }
    return nullptr;
  }
};

class JsonReader {
 public:
  explicit JsonReader(std::string_view text) : s_(text) {}
  JsonValue read() {
    JsonValue v = value(0);
    if (peek() != '\0' || at_ < s_.size()) wrong("expected the end");
    return v;
  }

 private:
  [[noreturn]] void wrong(const std::string& why) const {
    size_t line = 1;
    for (size_t i = 0; i < std::min(at_, s_.size()); ++i) line += s_[i] == '\n';
    fail(core::cat("the cluster is not JSON: line ", line, ": ", why));
  }
  char peek() {
    while (at_ < s_.size() && (s_[at_] == ' ' || s_[at_] == '\t' || s_[at_] == '\n' || s_[at_] == '\r')) ++at_;
    return at_ < s_.size() ? s_[at_] : '\0';
  }
  bool take(char c) {
    if (peek() != c) return false;
    ++at_;
    return true;
  }
  void expect(char c) {
    if (!take(c)) wrong(core::cat("expected '", c, "'"));
  }
  JsonValue value(int depth) {
    constexpr int kDeepest = 32;
    if (depth > kDeepest) wrong("nested too deeply");
    JsonValue v;
    const char c = peek();
    if (c == '{' || c == '[') {
      v.kind = c == '{' ? JsonValue::Kind::object : JsonValue::Kind::list;
      const char end = c == '{' ? '}' : ']';
      ++at_;
      if (take(end)) return v;
      do {
        std::string key;
        if (c == '{') {
          if (peek() != '"') wrong("expected a name in quotes");
          key = string();
          expect(':');
        }
        v.members.emplace_back(std::move(key), value(depth + 1));
      } while (take(','));
      expect(end);
    } else if (c == '"') {
      v.kind = JsonValue::Kind::text;
      v.text = string();
    } else if (c == '-' || (c >= '0' && c <= '9')) {
      v.kind = JsonValue::Kind::number;
      const auto [end, error] = std::from_chars(s_.data() + at_, s_.data() + s_.size(), v.number);
      if (error != std::errc()) wrong("not a number");
      at_ = size_t(end - s_.data());
    } else {
      for (const std::string_view word : {"null", "true", "false"}) {
        if (s_.substr(at_, word.size()) != word) continue;
        at_ += word.size();
        v.kind = word == "null" ? JsonValue::Kind::null : JsonValue::Kind::other;
        return v;
      }
      wrong("expected a value");
    }
    return v;
  }
  std::string string() {
    std::string out;
    for (++at_; at_ < s_.size() && s_[at_] != '"'; ++at_) {
      if (s_[at_] != '\\') {
        out += s_[at_];
        continue;
      }
      constexpr std::string_view kNames = "\"\\/bfnrt", kMeans = "\"\\/\b\f\n\r\t";
      const size_t which = ++at_ < s_.size() ? kNames.find(s_[at_]) : kNames.npos;
      if (which == kNames.npos) wrong("an escape that no address or name of a job needs");
      out += kMeans[which];
    }
    if (at_ >= s_.size()) wrong("a text without its end");
    ++at_;
    return out;
  }
  std::string_view s_;
  size_t at_ = 0;
};

std::optional<int> whole(std::string_view text) {
  int value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || value < 0) return {};
  return value;
}

std::string text_of(const JsonValue& v, const std::string& what) {
  if (v.kind != JsonValue::Kind::text) fail(what + " must be a text");
  return v.text;
}

std::string variable(const char* name) {
  const char* value = std::getenv(name);
  return value ? value : "";
}

// "n[01-03,7],gpu1" in full, in order.
std::vector<std::string> expand_nodes(const std::string& list) {
  std::vector<std::string> out;
  constexpr size_t kMost = 100000;
  const auto wrong = [&]() { fail("SLURM_STEP_NODELIST is '" + list + "', which is no list of nodes"); };
  for (size_t at = 0; at < list.size();) {
    size_t end = at;
    for (int depth = 0; end < list.size() && (depth || list[end] != ','); ++end) depth += list[end] == '[' ? 1 : list[end] == ']' ? -1 : 0;
    const std::string item = list.substr(at, end - at);
    at = end + 1;
    const size_t open = item.find('['), close = item.find(']');
    if (item.empty() || (open == item.npos) != (close == item.npos) || (open != item.npos && close < open)) wrong();
    if (open == item.npos) {
      out.push_back(item);
      continue;
    }
    const std::string before = item.substr(0, open), after = item.substr(close + 1), inner = item.substr(open + 1, close - open - 1);
    if (after.find('[') != after.npos) wrong();
    for (size_t from = 0; from <= inner.size();) {
      const size_t comma = std::min(inner.find(',', from), inner.size());
      const std::string part = inner.substr(from, comma - from);
      from = comma + 1;
      const size_t dash = part.find('-');
      const auto low = whole(part.substr(0, dash)), high = dash == part.npos ? low : whole(part.substr(dash + 1));
      if (!low || !high || *high < *low || size_t(*high - *low) > kMost) wrong();
      const size_t width = std::min(dash, part.size());
      for (int i = *low; i <= *high; ++i) {
        std::string number = std::to_string(i);
        if (number.size() < width) number.insert(0, width - number.size(), '0');
        out.push_back(before + number + after);
        if (out.size() > kMost) wrong();
      }
    }
  }
  return out;
}

// "2(x3),1": how many tasks each node has.
std::vector<int> expand_counts(const std::string& text) {
  std::vector<int> out;
  const auto wrong = [&]() { fail("SLURM_STEP_TASKS_PER_NODE is '" + text + "', which is no list of numbers"); };
  for (size_t at = 0; at < text.size();) {
    const size_t comma = std::min(text.find(',', at), text.size());
    const std::string part = text.substr(at, comma - at);
    at = comma + 1;
    const size_t open = part.find("(x");
    const auto count = whole(part.substr(0, open));
    const auto times = open == part.npos ? std::optional<int>(1) : whole(part.substr(open + 2, part.size() - open - 3));
    if (!count || !times || *times > 100000) wrong();
    out.insert(out.end(), size_t(*times), *count);
  }
  return out;
}

Cluster from_slurm(int port) {
  const std::vector<std::string> nodes = expand_nodes(variable("SLURM_STEP_NODELIST"));
  const std::vector<int> counts = expand_counts(variable("SLURM_STEP_TASKS_PER_NODE"));
  if (nodes.size() != counts.size()) fail("SLURM_STEP_NODELIST and SLURM_STEP_TASKS_PER_NODE have different lengths");
  Cluster out;
  int task = 0;
  for (size_t i = 0; i < nodes.size(); ++i) {
    for (int k = 0; k < counts[i]; ++k) out.add("worker", task++, core::cat(nodes[i], ":", port + k));
  }
  out.job = "worker";
  out.task = whole(variable("SLURM_PROCID")).value_or(-1);
  return out;
}

// A process of Open MPI's mpirun. It tells its processes their numbers, but not where the others are: without a file that says it, all must be on this machine.
Cluster from_open_mpi(int port) {
  const auto number = [](const char* name) {
    const auto n = whole(variable(name));
    if (!n) fail(core::cat(name, " must be a whole number, got '", variable(name), "'"));
    return *n;
  };
  const int size = number("OMPI_COMM_WORLD_SIZE"), rank = number("OMPI_COMM_WORLD_RANK");
  Cluster out;
  if (const std::string file = variable("WEFT_CLUSTER_FILE"); !file.empty()) {
    out = Cluster::from_file(file);
  } else {
    if (number("OMPI_COMM_WORLD_LOCAL_SIZE") != size)
      fail("mpirun has started processes on several machines: WEFT_CLUSTER_FILE must name a file with their addresses, in the order of their ranks");
    for (int i = 0; i < size; ++i) out.add("worker", i, core::cat("localhost:", port + i));
  }
  std::vector<std::pair<std::string, int>> tasks;
  for (const auto& [job, of_job] : out.jobs()) {
    for (const auto& [task, address] : of_job) tasks.emplace_back(job, task);
  }
  if (int(tasks.size()) != size) fail(core::cat("mpirun has started ", size, " processes, and the cluster has ", tasks.size(), " tasks"));
  if (rank < 0 || rank >= size) fail(core::cat("OMPI_COMM_WORLD_RANK is ", rank, " of ", size));
  std::tie(out.job, out.task) = tasks[size_t(rank)];
  return out;
}

}  // namespace

Cluster::Cluster(std::initializer_list<std::pair<std::string, std::vector<std::string>>> jobs) {
  for (const auto& [name, addresses] : jobs) {
    for (size_t i = 0; i < addresses.size(); ++i) add(name, int(i), addresses[i]);
  }
}

void Cluster::add(const std::string& name, int index, const std::string& at) {
  if (name.empty()) fail("a job needs a name");
  if (index < 0) fail("the number of a task is not negative");
  const size_t colon = at.rfind(':');
  if (colon == at.npos || colon == 0 || !whole(at.substr(colon + 1)) || *whole(at.substr(colon + 1)) > 65535)
    fail("the address of task " + std::to_string(index) + " of job '" + name + "' must be host:port, got '" + at + "'");
  if (!jobs_[name].emplace(index, at).second) fail("job '" + name + "' has two tasks " + std::to_string(index));
}

const std::string& Cluster::address(const std::string& name, int index) const {
  if (const auto found = jobs_.find(name); found != jobs_.end()) {
    if (const auto at = found->second.find(index); at != found->second.end()) return at->second;
  }
  throw Error(Code::kNotFound, core::cat("the cluster has no task ", index, " of job '", name, "'"));
}

Cluster Cluster::from_json(std::string_view text) {
  const JsonValue all = JsonReader(text).read();
  if (all.kind != JsonValue::Kind::object) fail("a cluster is a JSON object: {\"worker\": [\"host:port\", ...]}");
  const JsonValue* inner = all.find("cluster");
  const JsonValue& jobs = inner ? *inner : all;
  if (jobs.kind != JsonValue::Kind::object) fail("\"cluster\" must be an object: {\"worker\": [\"host:port\", ...]}");
  Cluster out;
  for (const auto& [name, tasks] : jobs.members) {
    if (!inner && name == "task") continue;
    const std::string what = "an address of job '" + name + "'";
    if (tasks.kind == JsonValue::Kind::list) {
      for (size_t i = 0; i < tasks.members.size(); ++i) out.add(name, int(i), text_of(tasks.members[i].second, what));
    } else if (tasks.kind == JsonValue::Kind::object) {
      for (const auto& [index, at] : tasks.members) {
        const auto number = whole(index);
        if (!number) fail("job '" + name + "': the number of a task is '" + index + "'");
        out.add(name, *number, text_of(at, what));
      }
    } else {
      fail("job '" + name + "' must be a list of addresses");
    }
  }
  if (const JsonValue* self = inner ? all.find("task") : nullptr) {
    if (const JsonValue* type = self->find("type")) out.job = text_of(*type, "\"type\" of \"task\"");
    if (const JsonValue* index = self->find("index")) {  // a number, or its text, as some launchers write it
      const auto number = index->kind == JsonValue::Kind::text ? whole(index->text) : std::optional<int>(int(index->number));
      if (!number || *number < 0 || (index->kind == JsonValue::Kind::number && double(*number) != index->number))
        fail("\"index\" of \"task\" must be a whole number that is not negative");
      out.task = *number;
    }
  }
  return out;
}

Cluster Cluster::from_file(const std::string& path) {
  std::string text;
  api::check(wire::read_file(path, text, 64 << 20));
  try {
    return from_json(text);
  } catch (const Error& e) {
    throw Error(e.code(), path + ": " + e.what());
  }
}

Cluster Cluster::from_environment(int port) {
  if (const std::string text = variable("TF_CONFIG"); !text.empty()) {
    try {
      return from_json(text);
    } catch (const Error& e) {
      throw Error(e.code(), std::string("TF_CONFIG: ") + e.what());
    }
  }
  if (!variable("SLURM_STEP_NODELIST").empty()) return from_slurm(port);
  if (!variable("OMPI_COMM_WORLD_SIZE").empty()) return from_open_mpi(port);
  throw Error(Code::kNotFound, "the environment describes no cluster: none of TF_CONFIG, SLURM_STEP_NODELIST and OMPI_COMM_WORLD_SIZE is set");
}

std::string Cluster::to_json() const {
  std::string out = "{\"cluster\": {";
  const char* before = "";
  for (const auto& [name, tasks] : jobs_) {
    out += before;
    wire::append_json_string(out, name);
    // A list has no holes; what has them is written by number.
    const bool list = !tasks.empty() && tasks.rbegin()->first == int(tasks.size()) - 1;
    out += list ? ": [" : ": {";
    const char* comma = "";
    for (const auto& [index, at] : tasks) {
      out += comma;
      if (!list) out += "\"" + std::to_string(index) + "\": ";
      wire::append_json_string(out, at);
      comma = ", ";
    }
    out += list ? "]" : "}";
    before = ", ";
  }
  out += "}";
  if (!job.empty()) {
    out += ", \"task\": {\"type\": ";
    wire::append_json_string(out, job);
    out += ", \"index\": " + std::to_string(std::max(0, task)) + "}";
  }
  return out + "}";
}

}  // namespace weft
