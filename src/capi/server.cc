// Servers of a cluster. ServerDefs are read and checked as TensorFlow does it; the server itself needs a network between
// processes, which is not there yet, and says so.
#include <charconv>
#include <map>

#include "capi/internal.h"
#include "tensorflow/c/c_api_experimental.h"
#include "wire/message_view.h"
#include "wire/text_format.h"

using namespace weft::capi;  // NOLINT

namespace {

using weft::wire::MessageView;
using weft::wire::WireValue;

constexpr char kServerDef[] = "tensorflow.ServerDef";

Status no_network(const char* function) { return unimplemented(function, ": remote execution is not there yet"); }

// The value of a field, zero or empty if it is not set.
WireValue get(const MessageView& m, std::string_view field) {
  const auto def = m.def().find(field);
  const WireValue* v = def ? m.find(def.number()) : nullptr;
  return v ? *v : WireValue();
}

// The addresses of the job's tasks by index; nothing if the cluster has no such job.
Result<std::optional<std::map<int32_t, std::string>>> find_job(const MessageView& server, std::string_view name) {
  const auto& schema = weft::wire::Schema::builtin();
  WEFT_ASSIGN(MessageView cluster, MessageView::read(schema.find("tensorflow.ClusterDef"), get(server, "cluster").bytes));
  for (const auto& f : cluster.fields()) {
    for (const WireValue& v : cluster.values(f)) {
      WEFT_ASSIGN(MessageView job, MessageView::read(schema.find("tensorflow.JobDef"), v.bytes));
      if (get(job, "name").bytes != name) continue;
      std::map<int32_t, std::string> tasks;
      for (const auto& t : job.fields()) {
        if (!t.def.is_map()) continue;
        WEFT_ASSIGN(std::vector<MessageView> entries, weft::wire::read_map(t.def.message(), job.values(t)));
        for (const MessageView& e : entries) tasks[int32_t(get(e, "key").number)] = std::string(get(e, "value").bytes);
      }
      return std::optional(std::move(tasks));
    }
  }
  return std::optional<std::map<int32_t, std::string>>();
}

Status check_server_def(std::string_view bytes) {
  auto def = MessageView::read(weft::wire::Schema::builtin().find(kServerDef), bytes);
  if (!def.ok()) return invalid_argument("Could not parse provided bytes into a ServerDef protocol buffer");
  if (get(*def, "protocol").bytes != "grpc") {
    WEFT_ASSIGN(std::string text, weft::wire::binary_to_text(kServerDef, bytes));
    return not_found("No server factory registered for the given ServerDef: ", text,
                     "\nThe available server factories are: [ GRPC_SERVER ]");
  }
  const std::string_view name = get(*def, "job_name").bytes;
  const auto task = int32_t(get(*def, "task_index").number);
  WEFT_ASSIGN(auto job, find_job(*def, name));
  if (!job) return internal_error("Job \"", name, "\" was not defined in cluster");
  const auto found = job->find(task);
  if (found == job->end()) return internal_error("Task ", task, " was not defined in job \"", name, "\"");
  if (get(*def, "port").number == 0) {  // then the address tells it
    const std::string& address = found->second;
    const size_t colon = address.rfind(':');
    int port = -1;
    const char* end = address.data() + address.size();
    if (colon != address.npos && std::from_chars(address.data() + colon + 1, end, port).ptr != end) port = -1;
    if (port < 0 || colon + 1 == address.size()) return invalid_argument("Could not parse port for local server from \"", address, "\".");
  }
  return {};
}

}  // namespace

TF_Buffer* TFE_GetServerDef(const char* text_proto, TF_Status* status) {
  TF_Buffer* out = nullptr;
  guard(status, [&]() -> Status {
    WEFT_NOT_NULL(text_proto);
    auto bytes = weft::wire::text_to_binary(kServerDef, text_proto);
    if (!bytes.ok()) return internal_error("Invalid text proto for ServerDef: ", text_proto);
    out = new_buffer(*bytes);
    return {};
  });
  return out;
}

TF_Server* TF_NewServer(const void* proto, size_t proto_len, TF_Status* status) {
  guard(status, [&]() -> Status {
    if (proto_len) WEFT_NOT_NULL(proto);
    WEFT_RETURN_IF_ERROR(check_server_def({static_cast<const char*>(proto), proto_len}));
    return no_network("TF_NewServer");
  });
  return nullptr;
}
// No server is ever made, so these meet null.
void TF_ServerStart(TF_Server*, TF_Status* status) {
  guard(status, [] { return no_network("TF_ServerStart"); });
}
void TF_ServerStop(TF_Server*, TF_Status* status) {
  guard(status, [] { return no_network("TF_ServerStop"); });
}
void TF_ServerJoin(TF_Server*, TF_Status* status) {
  guard(status, [] { return no_network("TF_ServerJoin"); });
}
const char* TF_ServerTarget(TF_Server*) { return ""; }
void TF_DeleteServer(TF_Server*) {}
