#include "remote/messages.h"

#include "io/attr_codec.h"
#include "remote/resource_names.h"
#include "remote/read_message.h"
#include "wire/tensor_proto.h"

namespace weft_engine::remote {

using wire::ProtoReader;
using wire::ProtoWriter;

namespace {

void encode_job(ProtoWriter& cluster, const std::string& name, const std::map<int, std::string>& tasks) {
  ProtoWriter job;
  job.bytes(1, name);
  for (const auto& [task, address] : tasks) {
    ProtoWriter entry;
    entry.int64(1, task);
    entry.bytes(2, address);
    job.message(2, entry);
  }
  cluster.message(1, job);
}

}  // namespace

Result<ClusterMap> decode_cluster(std::string_view bytes) {
  ClusterMap out;
  WEFT_RETURN_IF_ERROR(read_message("ClusterDef", bytes, [&](ProtoReader& r) -> Status {
    if (r.field() != 1) return {};
    std::string name;
    std::map<int, std::string> tasks;
    WEFT_RETURN_IF_ERROR(read_message("ClusterDef", r.bytes(), [&](ProtoReader& job) -> Status {
      if (job.field() == 1) name = job.string();
      if (job.field() != 2) return {};
      int task = 0;
      std::string address;
      WEFT_RETURN_IF_ERROR(read_message("ClusterDef", job.bytes(), [&](ProtoReader& entry) {
        if (entry.field() == 1) task = entry.int32();
        if (entry.field() == 2) address = entry.string();
      }));
      tasks[task] = std::move(address);
      return {};
    }));
    out[name].merge(tasks);
    return {};
  }));
  return out;
}

Result<ServerDef> decode_server_def(std::string_view bytes) {
  ServerDef out;
  out.protocol.clear();
  WEFT_RETURN_IF_ERROR(read_message("ServerDef", bytes, [&](ProtoReader& r) -> Status {
    switch (r.field()) {
      case 1: {
        WEFT_ASSIGN(out.cluster, decode_cluster(r.bytes()));
        break;
      }
      case 2: out.job = r.string(); break;
      case 3: out.task = r.int32(); break;
      case 4: out.config = r.string(); break;
      case 5: out.protocol = r.string(); break;
      case 6: out.port = r.int32(); break;
      default: break;
    }
    return {};
  }));
  return out;
}

std::string encode_server_def(const ServerDef& def) {
  ProtoWriter w, cluster;
  for (const auto& [job, tasks] : def.cluster) encode_job(cluster, job, tasks);
  w.message(1, cluster);
  w.bytes(2, def.job);
  if (def.task) w.int64(3, def.task);
  if (!def.config.empty()) w.bytes(4, def.config);
  w.bytes(5, def.protocol);
  if (def.port) w.int64(6, def.port);
  return w.take();
}

Result<DeviceAttributes> decode_device(std::string_view bytes) {
  DeviceAttributes out;
  WEFT_RETURN_IF_ERROR(read_message("DeviceAttributes", bytes, [&](ProtoReader& r) {
    switch (r.field()) {
      case 1: out.name = r.string(); break;
      case 2: out.type = r.string(); break;
      case 4: out.memory_limit = r.int64(); break;
      case 6: out.incarnation = r.fixed64(); break;
      default: break;
    }
  }));
  return out;
}

std::string encode_device(const DeviceAttributes& d) {
  ProtoWriter w;
  w.bytes(1, d.name);
  w.bytes(2, d.type);
  if (d.memory_limit) w.int64(4, d.memory_limit);
  w.bytes(5, "");  // the locality: nothing is known of it
  w.fixed64(6, d.incarnation);
  w.int64(8, -1);  // no device of XLA
  return w.take();
}

DeviceAttributes attributes_of(const Device& d) { return {d.name(), d.type(), d.memory_limit(), d.incarnation()}; }

std::string encode_device_list(int field, const std::vector<DeviceAttributes>& devices) {
  ProtoWriter w;
  for (const auto& d : devices) w.bytes(field, encode_device(d));
  return w.take();
}

Result<std::vector<DeviceAttributes>> decode_device_list(int field, std::string_view bytes) {
  std::vector<DeviceAttributes> out;
  WEFT_RETURN_IF_ERROR(read_message("DeviceAttributes", bytes, [&](ProtoReader& r) -> Status {
    if (r.field() != field) return {};
    WEFT_ASSIGN(DeviceAttributes d, decode_device(r.bytes()));
    out.push_back(std::move(d));
    return {};
  }));
  return out;
}

// ---- tensors

Result<Message> tensor_message(const Tensor& t) {
  if (t.dtype() == DType::kResource) {
    WEFT_ASSIGN(const Tensor named, with_names(t));
    WEFT_ASSIGN(std::string bytes, wire::encode_tensor(named));
    return Message(std::move(bytes));
  }
  constexpr int64_t kPlain = 1024;  // smaller ones are copied with the rest
  if (!is_simple(t.dtype()) || int64_t(t.byte_size()) < kPlain) {
    WEFT_ASSIGN(std::string bytes, wire::encode_tensor_content(t, variant_codec()));
    return Message(std::move(bytes));
  }
  ProtoWriter head;
  head.varint(1, uint64_t(t.dtype()));
  head.bytes(2, wire::encode_shape(PartialShape(t.shape())));
  Message out(head.take()), content;
  auto owner = std::make_shared<const Tensor>(t);
  content.append({static_cast<const char*>(owner->raw()), size_t(owner->byte_size())}, owner);
  out.append_field(4, std::move(content));
  return out;
}

// ---- handles and operations

namespace {

std::string encode_handle(const RemoteTensorHandle& h) {
  ProtoWriter w;
  w.int64(1, h.op_id);
  if (h.output_num) w.int64(2, h.output_num);
  w.bytes(3, h.device);
  w.bytes(4, h.op_device);
  w.varint(5, uint64_t(h.dtype));
  return w.take();
}

Result<RemoteTensorHandle> decode_handle(std::string_view bytes) {
  RemoteTensorHandle h;
  WEFT_RETURN_IF_ERROR(read_message("RemoteTensorHandle", bytes, [&](ProtoReader& r) {
    switch (r.field()) {
      case 1: h.op_id = r.int64(); break;
      case 2: h.output_num = r.int32(); break;
      case 3: h.device = r.string(); break;
      case 4: h.op_device = r.string(); break;
      case 5: h.dtype = static_cast<DType>(r.int32()); break;
      default: break;
    }
  }));
  return h;
}

Result<std::pair<std::string, op::AttrValue>> decode_attr_entry(std::string_view bytes) {
  std::string name;
  op::AttrValue value;
  WEFT_RETURN_IF_ERROR(read_message("AttrValue", bytes, [&](ProtoReader& entry) -> Status {
    if (entry.field() == 1) name = entry.string();
    if (entry.field() == 2) {
      WEFT_ASSIGN(value, io::decode_attr(entry.bytes()));
    }
    return {};
  }));
  return std::pair(std::move(name), std::move(value));
}

// Fields that only weft knows, in messages of TensorFlow. A number that no field of it will have.
constexpr int kOwnField = 20001;

Result<Operation> decode_operation(std::string_view bytes, const Unpacked& message) {
  Operation out;
  WEFT_RETURN_IF_ERROR(read_message("Operation", bytes, [&](ProtoReader& r) -> Status {
    switch (r.field()) {
      case 1: out.id = r.int64(); break;
      case 2: out.name = r.string(); break;
      case 5: {
        WEFT_ASSIGN(auto entry, decode_attr_entry(r.bytes()));
        out.attrs[entry.first] = std::move(entry.second);
        break;
      }
      case 6: out.device = r.string(); break;
      case 7: out.is_component_function = r.boolean(); break;
      case 8: out.func_step_id = r.int64(); break;
      case 9: out.is_function = r.boolean(); break;
      case kOwnField: out.wants_values = r.boolean(); break;
      case 10: {
        bool any = false;
        WEFT_RETURN_IF_ERROR(read_message("Operation.Input", r.bytes(), [&](ProtoReader& in) -> Status {
          if (in.field() == 1) {
            WEFT_ASSIGN(RemoteTensorHandle h, decode_handle(in.bytes()));
            out.inputs.emplace_back(std::move(h));
            any = true;
          } else if (in.field() == 2) {
            WEFT_ASSIGN(Tensor t, message.tensor(in.bytes()));
            out.inputs.emplace_back(std::move(t));
            any = true;
          }
          return {};
        }));
        if (!any) return malformed("Operation.Input");
        break;
      }
      default: break;
    }
    return {};
  }));
  return out;
}

Result<Message> encode_operation(const Operation& o) {
  ProtoWriter w;
  w.int64(1, o.id);
  w.bytes(2, o.name);
  for (const auto& [name, value] : o.attrs) {
    WEFT_ASSIGN(std::string encoded, io::encode_attr(value));
    ProtoWriter entry;
    entry.bytes(1, name);
    entry.bytes(2, encoded);
    w.message(5, entry);
  }
  w.bytes(6, o.device);
  if (o.is_component_function) w.boolean(7, true);
  if (o.func_step_id) w.int64(8, o.func_step_id);
  if (o.is_function) w.boolean(9, true);
  if (o.wants_values) w.boolean(kOwnField, true);
  Message out(w.take());
  for (const auto& in : o.inputs) {
    Message item;
    if (const auto* h = std::get_if<RemoteTensorHandle>(&in)) {
      item.append_field(1, Message(encode_handle(*h)));
    } else {
      WEFT_ASSIGN(Message tensor, tensor_message(std::get<Tensor>(in)));
      item.append_field(2, std::move(tensor));
    }
    out.append_field(10, std::move(item));
  }
  return out;
}

Result<SendTensor> decode_send_tensor(std::string_view bytes, const Unpacked& message) {
  SendTensor out;
  WEFT_RETURN_IF_ERROR(read_message("SendTensorOp", bytes, [&](ProtoReader& r) -> Status {
    if (r.field() == 1) out.op_id = r.int64();
    if (r.field() == 3) out.device = r.string();
    if (r.field() != 2) return {};
    WEFT_ASSIGN(Tensor t, message.tensor(r.bytes()));
    out.tensors.push_back(std::move(t));
    return {};
  }));
  return out;
}

Result<SendPackedHandle> decode_packed(std::string_view bytes, const Unpacked& message) {
  SendPackedHandle out;
  const auto local = [&](std::string_view part) -> Status {
    SendPackedHandle::Local l;
    WEFT_RETURN_IF_ERROR(read_message("LocalTensorHandle", part, [&](ProtoReader& r) -> Status {
      if (r.field() == 2) l.device = r.string();
      if (r.field() != 1) return {};
      WEFT_ASSIGN(l.tensor, message.tensor(r.bytes()));
      return {};
    }));
    out.parts.emplace_back(std::move(l));
    return {};
  };
  WEFT_RETURN_IF_ERROR(read_message("SendPackedHandleOp", bytes, [&](ProtoReader& r) -> Status {
    if (r.field() == 1) out.op_id = r.int64();
    if (r.field() == 3) out.device = r.string();
    if (r.field() != 2) return {};
    return read_message("SendPackedHandleOp.Handle", r.bytes(), [&](ProtoReader& part) -> Status {
      if (part.field() == 1) return local(part.bytes());
      if (part.field() != 2) return {};
      WEFT_ASSIGN(RemoteTensorHandle h, decode_handle(part.bytes()));
      out.parts.emplace_back(std::move(h));
      return {};
    });
  }));
  return out;
}

Result<RegisterFunction> decode_register(std::string_view bytes) {
  RegisterFunction out;
  WEFT_RETURN_IF_ERROR(read_message("RegisterFunctionOp", bytes, [&](ProtoReader& r) -> Status {
    if (r.field() == 1) out.function_def = r.string();
    if (r.field() == 2) out.is_component = r.boolean();
    if (r.field() != 3) return {};
    return read_message("FunctionDefLibrary", r.bytes(), [&](ProtoReader& library) {
      if (library.field() == 1) out.library.push_back(library.string());
    });
  }));
  return out;
}

Result<QueueItem> decode_item(std::string_view bytes, const Unpacked& message) {
  QueueItem out;
  WEFT_RETURN_IF_ERROR(read_message("QueueItem", bytes, [&](ProtoReader& r) -> Status {
    switch (r.field()) {
      case 1: {
        WEFT_ASSIGN(RemoteTensorHandle h, decode_handle(r.bytes()));
        out = DecRef{std::move(h)};
        break;
      }
      case 2: {
        WEFT_ASSIGN(out, decode_operation(r.bytes(), message));
        break;
      }
      case 3: {
        WEFT_ASSIGN(out, decode_send_tensor(r.bytes(), message));
        break;
      }
      case 4: {
        WEFT_ASSIGN(out, decode_register(r.bytes()));
        break;
      }
      case 5: {
        CleanupFunction c;
        WEFT_RETURN_IF_ERROR(read_message("CleanupFunctionOp", r.bytes(), [&](ProtoReader& inner) {
          if (inner.field() == 1) c.step_id = inner.int64();
        }));
        out = c;
        break;
      }
      case 6: out = SyncExecutor{}; break;
      case 7: {
        WEFT_ASSIGN(out, decode_packed(r.bytes(), message));
        break;
      }
      case 8: {
        RemoveFunction f;
        WEFT_RETURN_IF_ERROR(read_message("RemoveFunctionOp", r.bytes(), [&](ProtoReader& inner) {
          if (inner.field() == 1) f.name = inner.string();
        }));
        out = std::move(f);
        break;
      }
      default: out = UnknownItem{r.field()}; break;
    }
    return {};
  }));
  return out;
}

struct ItemEncoder {
  Message out;
  Status operator()(const UnknownItem&) { return internal_error("an empty queue item cannot be sent"); }
  Status operator()(const DecRef& d) {
    out.append_field(1, Message(encode_handle(d.handle)));
    return {};
  }
  Status operator()(const Operation& o) {
    WEFT_ASSIGN(Message m, encode_operation(o));
    out.append_field(2, std::move(m));
    return {};
  }
  Status operator()(const SendTensor& s) {
    ProtoWriter head;
    head.int64(1, s.op_id);
    head.bytes(3, s.device);
    Message m(head.take());
    for (const Tensor& t : s.tensors) {
      WEFT_ASSIGN(Message tensor, tensor_message(t));
      m.append_field(2, std::move(tensor));
    }
    out.append_field(3, std::move(m));
    return {};
  }
  Status operator()(const RegisterFunction& f) {
    ProtoWriter w, library;
    w.bytes(1, f.function_def);
    if (f.is_component) w.boolean(2, true);
    for (const std::string& def : f.library) library.bytes(1, def);
    if (!f.library.empty()) w.message(3, library);
    out.append_field(4, Message(w.take()));
    return {};
  }
  Status operator()(const CleanupFunction& c) {
    ProtoWriter w;
    w.int64(1, c.step_id);
    out.append_field(5, Message(w.take()));
    return {};
  }
  Status operator()(const SyncExecutor&) {
    out.append_field(6, Message());
    return {};
  }
  Status operator()(const SendPackedHandle& p) {
    ProtoWriter head;
    head.int64(1, p.op_id);
    head.bytes(3, p.device);
    Message m(head.take());
    for (const auto& part : p.parts) {
      Message handle;
      if (const auto* h = std::get_if<RemoteTensorHandle>(&part)) {
        handle.append_field(2, Message(encode_handle(*h)));
      } else {
        const auto& l = std::get<SendPackedHandle::Local>(part);
        WEFT_ASSIGN(Message tensor, tensor_message(l.tensor));
        Message local;
        local.append_field(1, std::move(tensor));
        ProtoWriter device;
        device.bytes(2, l.device);
        local.append(device.take());
        handle.append_field(1, std::move(local));
      }
      m.append_field(2, std::move(handle));
    }
    out.append_field(7, std::move(m));
    return {};
  }
  Status operator()(const RemoveFunction& f) {
    ProtoWriter w;
    w.bytes(1, f.name);
    out.append_field(8, Message(w.take()));
    return {};
  }
};

}  // namespace

Operation send_operation(int64_t id, const RemoteTensorHandle& tensor, uint64_t incarnation, const std::string& to, const std::string& name) {
  Operation o;
  o.id = id;
  o.name = "_Send";
  o.device = tensor.device;
  o.inputs.emplace_back(tensor);
  o.attrs["T"] = tensor.dtype;
  o.attrs["tensor_name"] = name;
  o.attrs["send_device"] = tensor.device;
  o.attrs["send_device_incarnation"] = int64_t(incarnation);
  o.attrs["recv_device"] = to;
  o.attrs["client_terminated"] = false;
  return o;
}

Result<EnqueueRequest> decode_enqueue(const Unpacked& message) {
  EnqueueRequest out;
  WEFT_RETURN_IF_ERROR(read_message("EnqueueRequest", message.bytes, [&](ProtoReader& r) -> Status {
    if (r.field() == 1) out.context_id = r.fixed64();
    if (r.field() != 3) return {};
    WEFT_ASSIGN(QueueItem item, decode_item(r.bytes(), message));
    out.queue.push_back(std::move(item));
    return {};
  }));
  return out;
}

Result<Message> encode_enqueue(uint64_t context_id, const QueueItem& item) {
  ItemEncoder encoder;
  WEFT_RETURN_IF_ERROR(std::visit(encoder, item));
  ProtoWriter head;
  head.fixed64(1, context_id);
  Message out(head.take());
  out.append_field(3, std::move(encoder.out));
  return out;
}

std::string encode_release(const RemoteTensorHandle& handle) {
  ProtoWriter item, w;
  item.bytes(1, encode_handle(handle));
  w.message(3, item);
  return w.take();
}

std::string encode_context(uint64_t context_id) { return encode_ids(1, context_id); }

// Shapes and devices, and tensors from where they are; `devices` is 0 where the message has none.
static Result<Message> encode_outputs(const QueueResponse& r, bool devices) {
  ProtoWriter one;
  for (const PartialShape& s : r.shapes) one.bytes(1, wire::encode_shape(s));
  if (devices) {
    for (const std::string& d : r.devices) one.bytes(3, d);
  }
  Message out(one.take());
  for (const Tensor& t : r.tensors) {
    WEFT_ASSIGN(Message m, tensor_message(t));
    out.append_field(2, std::move(m));
  }
  return out;
}

Result<Message> encode_enqueue_response(const std::vector<QueueResponse>& responses) {
  Message out;
  for (const QueueResponse& r : responses) {
    WEFT_ASSIGN(Message one, encode_outputs(r, true));
    out.append_field(1, std::move(one));
  }
  return out;
}

Result<Message> encode_component_response(const QueueResponse& response) { return encode_outputs(response, false); }

static Result<QueueResponse> decode_outputs(std::string_view bytes, const Unpacked& message) {
  QueueResponse one;
  WEFT_RETURN_IF_ERROR(read_message("QueueResponse", bytes, [&](ProtoReader& r) -> Status {
    if (r.field() == 1) {
      WEFT_ASSIGN(PartialShape shape, wire::decode_shape(r.bytes()));
      one.shapes.push_back(std::move(shape));
    }
    if (r.field() == 2) {
      WEFT_ASSIGN(Tensor t, message.tensor(r.bytes()));
      one.tensors.push_back(std::move(t));
    }
    if (r.field() == 3) one.devices.push_back(r.string());
    return {};
  }));
  return one;
}

Result<std::vector<QueueResponse>> decode_enqueue_response(const Unpacked& message) {
  std::vector<QueueResponse> out;
  WEFT_RETURN_IF_ERROR(read_message("EnqueueResponse", message.bytes, [&](ProtoReader& r) -> Status {
    if (r.field() != 1) return {};
    WEFT_ASSIGN(QueueResponse one, decode_outputs(r.bytes(), message));
    out.push_back(std::move(one));
    return {};
  }));
  return out;
}

Result<QueueResponse> decode_component_response(const Unpacked& message) { return decode_outputs(message.bytes, message); }

// ---- contexts

Result<CreateContext> decode_create_context(std::string_view bytes, bool update) {
  CreateContext out;
  const int devices = update ? 2 : 6, id = update ? 3 : 7, view = update ? 4 : 8;
  WEFT_RETURN_IF_ERROR(read_message(update ? "UpdateContextRequest" : "CreateContextRequest", bytes, [&](ProtoReader& r) -> Status {
    if (r.field() == 1) {
      WEFT_ASSIGN(out.server_def, decode_server_def(r.bytes()));
      out.has_server_def = true;
    } else if (r.field() == devices) {
      WEFT_ASSIGN(DeviceAttributes d, decode_device(r.bytes()));
      out.devices.push_back(std::move(d));
    } else if (r.field() == id) {
      out.context_id = r.fixed64();
    } else if (r.field() == view) {
      out.view_id = r.fixed64();
    } else if (r.field() == 3) {
      out.keep_alive_secs = r.int64();
    }
    return {};
  }));
  return out;
}

std::string encode_create_context(const CreateContext& c, bool update) {
  ProtoWriter w;
  if (!update || c.has_server_def) w.bytes(1, encode_server_def(c.server_def));
  if (!update) w.int64(3, c.keep_alive_secs);
  for (const auto& d : c.devices) w.bytes(update ? 2 : 6, encode_device(d));
  w.fixed64(update ? 3 : 7, c.context_id);
  if (c.view_id) w.fixed64(update ? 4 : 8, c.view_id);
  if (!update) w.boolean(9, true);  // inputs of functions that are elsewhere are brought when they are needed
  return w.take();
}

Result<RunComponentFunction> decode_run_component(const Unpacked& message) {
  RunComponentFunction out;
  WEFT_RETURN_IF_ERROR(read_message("RunComponentFunctionRequest", message.bytes, [&](ProtoReader& r) -> Status {
    if (r.field() == 1) out.context_id = r.fixed64();
    if (r.field() == 2) {
      WEFT_ASSIGN(out.operation, decode_operation(r.bytes(), message));
    }
    if (r.field() == 3 && !r.append_varints(out.output_nums)) return malformed("RunComponentFunctionRequest");
    if (r.field() == kOwnField && !r.append_varints(out.ended_steps)) return malformed("RunComponentFunctionRequest");
    return {};
  }));
  return out;
}

Result<Message> encode_run_component(const RunComponentFunction& request) {
  ProtoWriter w;
  w.fixed64(1, request.context_id);
  std::vector<int64_t> outputs(request.output_nums.begin(), request.output_nums.end());
  if (!outputs.empty()) w.packed_varints(3, outputs);
  if (!request.ended_steps.empty()) w.packed_varints(kOwnField, request.ended_steps);
  Message out(w.take());
  WEFT_ASSIGN(Message operation, encode_operation(request.operation));
  out.append_field(2, std::move(operation));
  return out;
}

// ---- tensors that are asked for

Result<RecvTensorRequest> decode_recv_tensor(std::string_view bytes) {
  RecvTensorRequest out;
  WEFT_RETURN_IF_ERROR(read_message("RecvTensorRequest", bytes, [&](ProtoReader& r) {
    if (r.field() == 1) out.step_id = r.int64();
    if (r.field() == 2) out.key = r.string();
    if (r.field() == 7) out.request_id = r.int64();
  }));
  return out;
}

std::string encode_recv_tensor(const RecvTensorRequest& q) {
  ProtoWriter w;
  w.int64(1, q.step_id);
  w.bytes(2, q.key);
  w.int64(7, q.request_id);
  return w.take();
}

Result<Message> encode_recv_tensor_response(const Tensor& tensor, bool dead) {
  Message out;
  if (!dead) {
    WEFT_ASSIGN(Message m, tensor_message(tensor));
    out.append_field(1, std::move(m));
    return out;
  }
  ProtoWriter w;
  w.boolean(2, true);
  out.append(w.take());
  return out;
}

Result<std::pair<Tensor, bool>> decode_recv_tensor_response(Message message) {
  std::pair<Tensor, bool> out;
  WEFT_ASSIGN(Unpacked unpacked, unpack(std::move(message), TensorsIn::kRecvTensorResponse));
  WEFT_RETURN_IF_ERROR(read_message("RecvTensorResponse", unpacked.bytes, [&](ProtoReader& r) -> Status {
    if (r.field() == 1) {
      WEFT_ASSIGN(out.first, unpacked.tensor(r.bytes()));
    }
    if (r.field() == 2) out.second = r.boolean();
    return {};
  }));
  if (!out.second && !out.first.valid()) return malformed("RecvTensorResponse");
  return out;
}

std::string encode_ids(int first_field, uint64_t first, int second_field, uint64_t second) {
  ProtoWriter w;
  if (first) w.fixed64(first_field, first);
  if (second) w.fixed64(second_field, second);
  return w.take();
}

uint64_t decode_id(int field, std::string_view bytes) {
  uint64_t id = 0;
  ProtoReader r(bytes);
  while (r.next()) {
    if (r.field() == field) id = r.fixed64();
  }
  return r.ok() ? id : 0;
}

}  // namespace weft_engine::remote
