#include "remote/data_service/messages.h"

#include "remote/messages.h"
#include "wire/tensor_proto.h"

namespace weft_engine::remote::data_service {

TransferServer decode_transfer_server(std::string_view bytes) {
  TransferServer out;
  ProtoReader r(bytes);
  while (r.next()) {
    if (r.field() == 1) out.protocol = r.string();
    if (r.field() == 2) out.address = r.string();
  }
  return out;
}

std::string encode_transfer_server(const TransferServer& server) {
  ProtoWriter w;
  w.bytes(1, server.protocol);
  w.bytes(2, server.address);
  return w.take();
}

Result<std::string> graph_of_dataset_def(std::string_view bytes) {
  std::string graph;
  WEFT_RETURN_IF_ERROR(read_message("DatasetDef", bytes, [&](ProtoReader& r) {
    if (r.field() == 1) graph += r.bytes();  // a message that comes twice is merged
  }));
  return graph;
}

std::string encode_dataset_def(std::string_view graph) {
  ProtoWriter w;
  w.bytes(1, graph);
  return w.take();
}

int decode_processing_mode(std::string_view bytes) {
  int mode = 0;
  ProtoReader r(bytes);
  while (r.next()) {
    if (r.field() == 1) mode = r.int32();
  }
  return mode;
}

std::string encode_processing_mode(int policy) {
  ProtoWriter w;
  if (policy) w.int64(1, policy);
  return w.take();
}

Result<TaskDef> decode_task_def(std::string_view bytes) {
  TaskDef t;
  WEFT_RETURN_IF_ERROR(read_message("TaskDef", bytes, [&](ProtoReader& r) -> Status {
    switch (r.field()) {
      case 1: {
        WEFT_ASSIGN(t.graph, graph_of_dataset_def(r.bytes()));
        break;
      }
      case 2: t.path = r.string(); break;
      case 3: t.dataset_id = r.string(); break;
      case 4: t.task_id = r.int64(); break;
      case 5: t.iteration_id = r.int64(); break;
      case 7: t.num_consumers = r.int64(); break;
      case 8: t.worker_address = r.string(); break;
      case 9: t.num_split_providers = r.int64(); break;
      case 10: t.mode = decode_processing_mode(r.bytes()); break;
      case 11: t.num_workers = r.int64(); break;
      case 12: t.worker_index = r.int64(); break;
      case 13: t.use_cross_trainer_cache = r.boolean(); break;
      default: break;
    }
    return {};
  }));
  return t;
}

std::string encode_task_def(const TaskDef& t) {
  ProtoWriter w;
  if (t.path.empty()) w.bytes(1, encode_dataset_def(t.graph));
  else w.bytes(2, t.path);
  w.bytes(3, t.dataset_id);
  w.int64(4, t.task_id);
  w.int64(5, t.iteration_id);
  if (t.num_consumers) w.int64(7, *t.num_consumers);
  w.bytes(8, t.worker_address);
  if (t.num_split_providers) w.int64(9, t.num_split_providers);
  w.bytes(10, encode_processing_mode(t.mode));
  if (t.num_workers) w.int64(11, t.num_workers);
  if (t.worker_index) w.int64(12, t.worker_index);
  if (t.use_cross_trainer_cache) w.boolean(13, true);
  return w.take();
}

Result<TaskInfo> decode_task_info(std::string_view bytes) {
  TaskInfo t;
  WEFT_RETURN_IF_ERROR(read_message("TaskInfo", bytes, [&](ProtoReader& r) {
    switch (r.field()) {
      case 1: t.worker_address = r.string(); break;
      case 2: t.task_id = r.int64(); break;
      case 3: t.iteration_id = r.int64(); break;
      case 5: t.starting_round = r.int64(); break;
      case 6: t.worker_tags.push_back(r.string()); break;
      case 7: t.worker_uid = r.int64(); break;
      case 8: t.transfer_servers.push_back(r.string()); break;
      default: break;
    }
  }));
  return t;
}

std::string encode_task_info(const TaskInfo& t) {
  ProtoWriter w;
  w.bytes(1, t.worker_address);
  w.int64(2, t.task_id);
  w.int64(3, t.iteration_id);
  if (t.starting_round) w.int64(5, t.starting_round);
  for (const std::string& tag : t.worker_tags) w.bytes(6, tag);
  if (t.worker_uid) w.int64(7, t.worker_uid);
  for (const std::string& server : t.transfer_servers) w.bytes(8, server);
  return w.take();
}

Result<GetElementRequest> decode_get_element(std::string_view bytes) {
  GetElementRequest q;
  WEFT_RETURN_IF_ERROR(read_message("GetElementRequest", bytes, [&](ProtoReader& r) {
    switch (r.field()) {
      case 1: q.task_id = r.int64(); break;
      case 2: q.consumer_index = r.int64(); break;
      case 3: q.round_index = r.int64(); break;
      case 4: q.skipped_previous_round = r.boolean(); break;
      case 5: q.allow_skip = r.boolean(); break;
      case 6: q.trainer_id = r.string(); break;
      default: break;
    }
  }));
  return q;
}

std::string encode_get_element(const GetElementRequest& q) {
  ProtoWriter w;
  w.int64(1, q.task_id);
  if (q.consumer_index) w.int64(2, *q.consumer_index);
  if (q.round_index) w.int64(3, *q.round_index);
  if (q.skipped_previous_round) w.boolean(4, true);
  if (q.allow_skip) w.boolean(5, true);
  if (!q.trainer_id.empty()) w.bytes(6, q.trainer_id);
  return w.take();
}

static Result<const op::DatasetServing*> serving() {
  const op::DatasetServing* s = op::dataset_serving.load();
  if (!s) return internal_error("nothing here makes datasets");
  return s;
}

Result<GetElementResult> decode_element(std::string_view bytes) {
  GetElementResult out;
  WEFT_ASSIGN(const op::DatasetServing* datasets, serving());
  const auto take = [&](Result<Tensor> t) {
    if (t.ok()) out.components.push_back(std::move(t).value());
    return t.status();
  };
  WEFT_RETURN_IF_ERROR(read_message("GetElementResponse", bytes, [&](ProtoReader& r) -> Status {
    switch (r.field()) {
      case 2: out.end_of_sequence = r.boolean(); break;
      case 3: return take(datasets->from_compressed(r.bytes()));
      case 4: out.skip = r.boolean(); break;
      case 5:
        return read_message("UncompressedElement", r.bytes(),
                            [&](ProtoReader& m) { return m.field() == 1 ? take(wire::decode_tensor(m.bytes())) : Status(); });
      case 6: out.element_index = r.int64(); break;
      default: break;
    }
    return {};
  }));
  return out;
}

Result<Message> encode_element(const GetElementResult& result) {
  WEFT_ASSIGN(const op::DatasetServing* datasets, serving());
  ProtoWriter head;
  if (result.end_of_sequence) head.boolean(2, true);
  if (result.skip) head.boolean(4, true);
  if (result.element_index) head.int64(6, result.element_index);
  Message out(head.take());
  if (result.end_of_sequence || result.skip) return out;
  if (result.components.size() == 1) {
    if (auto packed = datasets->compressed(result.components[0])) {
      out.append_field(3, Message(std::move(*packed)));
      return out;
    }
  }
  Message element;
  for (const Tensor& t : result.components) {
    WEFT_ASSIGN(Message tensor, tensor_message(t));
    element.append_field(1, std::move(tensor));
  }
  out.append_field(5, std::move(element));
  return out;
}

bool is_preempted(const Status& s) { return s.code() == Code::kUnavailable || s.code() == Code::kAborted || s.code() == Code::kCancelled; }

Status with_prefix(std::string_view what, const Status& s) { return Status(s.code(), cat(what, ": ", s.message())); }

}  // namespace weft_engine::remote::data_service
