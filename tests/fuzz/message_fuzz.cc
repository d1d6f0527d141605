// Hostile messages of a cluster (remote/messages.h). The first byte of an input says which decoder reads the rest. What was read and can be written again is
// the same when it is read once more.
#include <cstdint>
#include <string>
#include <string_view>

#include "remote/messages.h"
#include "remote/profile.h"
#include "remote/unpack.h"

using namespace weft_engine::remote;  // NOLINT

namespace {

void require(bool holds) {
  if (!holds) __builtin_trap();
}

void check_server_def(std::string_view bytes) {
  const auto def = decode_server_def(bytes);
  if (!def.ok()) return;
  const auto again = decode_server_def(encode_server_def(*def));
  require(again.ok() && again->cluster == def->cluster && again->job == def->job && again->task == def->task);
}

// As a message that came in two pieces, and in one.
Message in_pieces(std::string_view bytes) {
  Message message(std::string(bytes.substr(0, bytes.size() / 2)));
  message.append(std::string(bytes.substr(bytes.size() / 2)));
  return message;
}

void unpack_all(std::string_view bytes, TensorsIn kind) { (void)unpack(in_pieces(bytes), kind); }

void check_queue(std::string_view bytes) {
  unpack_all(bytes, TensorsIn::kEnqueueRequest);
  const auto request = decode_enqueue(whole(bytes));
  if (!request.ok()) return;
  for (const QueueItem& item : request->queue) {
    auto message = encode_enqueue(request->context_id, item);
    if (!message.ok()) continue;  // tensors of types that have no bytes
    const auto again = decode_enqueue(whole(message->flatten()));
    require(again.ok() && again->context_id == request->context_id);
    require(std::holds_alternative<UnknownItem>(item) || (again->queue.size() == 1 && again->queue[0].index() == item.index()));
  }
}

void check_tensor(std::string_view bytes) {
  const auto value = decode_recv_tensor_response(in_pieces(bytes));
  if (!value.ok() || value->second) return;  // a dead one has no value
  auto message = encode_recv_tensor_response(value->first, value->second);
  if (!message.ok()) return;
  const auto again = decode_recv_tensor_response(*std::move(message));
  require(again.ok() && again->second == value->second && again->first.dtype() == value->first.dtype() &&
          again->first.byte_size() == value->first.byte_size());
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size < 1) return 0;
  const std::string_view rest(reinterpret_cast<const char*>(data) + 1, size - 1);
  switch (data[0] % 8) {
    case 0: check_server_def(rest); break;
    case 1: check_queue(rest); break;
    case 2: check_tensor(rest); break;
    case 3: (void)decode_create_context(rest, data[0] & 8); break;
    case 4:
      unpack_all(rest, TensorsIn::kRunComponentRequest);
      (void)decode_run_component(whole(rest));
      break;
    case 5:
      if (const auto r = decode_recv_tensor(rest); r.ok()) {
        const auto again = decode_recv_tensor(encode_recv_tensor(*r));
        require(again.ok() && again->key == r->key && again->step_id == r->step_id && again->request_id == r->request_id);
      }
      break;
    case 6:
      unpack_all(rest, TensorsIn::kEnqueueResponse);
      (void)decode_enqueue_response(whole(rest));
      (void)decode_component_response(whole(rest));
      break;
    default:
      (void)decode_device_list(1, rest);
      (void)decode_xspace(rest);
      (void)decode_id(1, rest);
  }
  return 0;
}
