#include "remote/collective_messages.h"

#include "remote/piece_reader.h"
#include "remote/read_message.h"
#include "wire/tensor_proto.h"

namespace weft_engine::remote {

using wire::ProtoReader;
using wire::ProtoWriter;

namespace {

constexpr int kRankField = 1000;  // in messages of groups; TensorFlow skips it

}  // namespace

Result<CompleteGroup> decode_complete_group(std::string_view bytes) {
  CompleteGroup out;
  WEFT_RETURN_IF_ERROR(read_message("CompleteGroupRequest", bytes, [&](ProtoReader& r) -> Status {
    switch (r.field()) {
      case 1: out.key = r.int32(); break;
      case 2: out.size = r.int32(); break;
      case 3: out.device_type = r.string(); break;
      case 5: out.collective_type = r.int32(); break;
      case 6: {
        out.device_bytes = r.string();
        WEFT_ASSIGN(out.device, decode_device(out.device_bytes));
        break;
      }
      case kRankField: out.rank = r.int32(); break;
      default: break;
    }
    return {};
  }));
  return out;
}

std::string encode_complete_group(const CompleteGroup& q) {
  ProtoWriter w;
  w.int64(1, q.key);
  w.int64(2, q.size);
  w.bytes(3, q.device_type);
  if (q.collective_type) w.int64(5, q.collective_type);
  w.bytes(6, q.device_bytes);
  if (q.rank >= 0) w.int64(kRankField, q.rank);
  return w.take();
}

Result<CompleteGroupResponse> decode_complete_group_response(std::string_view bytes) {
  CompleteGroupResponse out;
  WEFT_RETURN_IF_ERROR(read_message("CompleteGroupResponse", bytes, [&](ProtoReader& r) {
    switch (r.field()) {
      case 1: out.key = r.int32(); break;
      case 2: out.size = r.int32(); break;
      case 3: out.device_type = r.string(); break;
      case 4: out.num_tasks = r.int32(); break;
      case 8: out.devices.push_back(r.string()); break;
      case kRankField: r.append_varints(out.ranks); break;
      default: break;
    }
  }));
  return out;
}

std::string encode_complete_group_response(const CompleteGroupResponse& p) {
  ProtoWriter w;
  w.int64(1, p.key);
  w.int64(2, p.size);
  w.bytes(3, p.device_type);
  w.int64(4, p.num_tasks);
  for (const std::string& d : p.devices) w.bytes(8, d);
  if (!p.ranks.empty()) w.packed_varints(kRankField, p.ranks);
  return w.take();
}

std::string encode_complete_instance(const op::CollectiveParams& p) {
  ProtoWriter w;
  w.bytes(1, p.name);
  w.int64(2, int64_t(p.type));
  w.int64(3, int64_t(p.dtype));
  w.bytes(4, wire::encode_shape(PartialShape(p.shape)));
  w.int64(5, p.group.key);
  w.int64(6, p.group.size);
  w.int64(7, p.instance_key);
  w.bytes(8, "CPU");
  if (!p.subdiv_offsets.empty()) w.packed_varints(9, p.subdiv_offsets);
  w.bytes(10, p.group.device);
  if (p.is_source) w.boolean(11, true);
  return w.take();
}

Result<op::CollectiveParams> decode_complete_instance(std::string_view bytes) {
  op::CollectiveParams out;
  int64_t type = 0;
  std::string_view shape;
  WEFT_RETURN_IF_ERROR(read_message("CompleteInstanceRequest", bytes, [&](ProtoReader& r) {
    switch (r.field()) {
      case 1: out.name = r.string(); break;
      case 2: type = r.int64(); break;
      case 3: out.dtype = DType(r.int32()); break;
      case 4: shape = r.bytes(); break;
      case 5: out.group.key = r.int32(); break;
      case 6: out.group.size = r.int32(); break;
      case 7: out.instance_key = r.int32(); break;
      case 9: r.append_varints(out.subdiv_offsets); break;
      case 10: out.group.device = r.string(); break;
      case 11: out.is_source = r.boolean(); break;
      default: break;
    }
  }));
  if (type < 0 || type > int64_t(op::CollectiveType::kReduceScatter)) return invalid_argument("there is no collective of type ", type);
  out.type = op::CollectiveType(type);
  WEFT_ASSIGN(PartialShape partial, wire::decode_shape(shape));
  const auto whole = partial.concrete();
  if (!whole) return invalid_argument("the shape of a collective must be fully known");
  out.shape = *whole;
  return out;
}

std::string encode_complete_instance_response(int32_t instance_key, int source_rank) {
  ProtoWriter w;
  w.int64(1, instance_key);
  w.int64(2, source_rank);
  return w.take();
}

Result<int> decode_complete_instance_response(std::string_view bytes) {
  int source = 0;
  WEFT_RETURN_IF_ERROR(read_message("CompleteInstanceResponse", bytes, [&](ProtoReader& r) {
    if (r.field() == 2) source = r.int32();
  }));
  return source;
}

Result<RecvBuf> decode_recv_buf(std::string_view bytes) {
  RecvBuf out;
  WEFT_RETURN_IF_ERROR(read_message("RecvBufRequest", bytes, [&](ProtoReader& r) {
    switch (r.field()) {
      case 2: out.key = r.string(); break;
      case 3: out.num_bytes = r.int64(); break;
      case 8: out.source_device = r.string(); break;
      case 9: out.target_device = r.string(); break;
      case 11: out.source_incarnation = r.varint(); break;
      default: break;
    }
  }));
  return out;
}

std::string encode_recv_buf(const RecvBuf& q) {
  ProtoWriter w;
  w.bytes(2, q.key);
  w.int64(3, q.num_bytes);
  w.bytes(8, q.source_device);
  w.bytes(9, q.target_device);
  w.varint(11, q.source_incarnation);
  return w.take();
}

Message encode_recv_buf_response(const Tensor& value) {
  Message extra, content, any, out;
  auto owner = std::make_shared<const Tensor>(value);
  const std::string_view bytes(static_cast<const char*>(value.raw()), value.byte_size());
  content.append(bytes, std::move(owner));
  extra.append_field(1, std::move(content));
  ProtoWriter url;
  url.bytes(1, "type.googleapis.com/tensorflow.RecvBufRespExtra");
  any.append(url.take());
  any.append_field(2, std::move(extra));
  out.append_field(4, std::move(any));
  return out;
}

namespace {

// Field 4 of the response is an Any, whose field 2 is a RecvBufRespExtra, whose fields 1 are the bytes: `path` from here on.
bool read_content(PieceReader& r, std::span<const int> path, size_t length, std::span<char> out, size_t& filled) {
  const size_t end = r.left() - length;
  while (r.left() > end) {
    int field;
    wire::WireType type;
    uint64_t size;
    if (!r.tag(field, type, size) || r.left() < end || size > r.left() - end) return false;
    if (field != path[0] || type != wire::WireType::kBytes) {
      if (!r.skip(type, size)) return false;
    } else if (path.size() > 1) {
      if (!read_content(r, path.subspan(1), size, out, filled)) return false;
    } else {
      if (filled + size <= out.size()) r.copy(out.data() + filled, size);
      else r.copy(nullptr, size);
      filled += size;
    }
  }
  return r.left() == end;
}

}  // namespace

Status decode_recv_buf_response(const Message& response, std::span<char> out) {
  static constexpr int kPath[] = {4, 2, 1};
  PieceReader r(response);
  size_t filled = 0;
  if (!read_content(r, kPath, response.size(), out, filled)) return malformed("RecvBufResponse");
  if (filled != out.size()) return internal_error("RecvBufResponse returned ", filled, " bytes where to_tensor expected ", out.size());
  return {};
}

Result<std::vector<int64_t>> decode_step_sequence(std::string_view bytes) {
  std::vector<int64_t> keys;
  WEFT_RETURN_IF_ERROR(read_message("GetStepSequenceRequest", bytes, [&](ProtoReader& r) {
    if (r.field() == 1) r.append_varints(keys);
  }));
  return keys;
}

std::string encode_step_sequence(const std::vector<std::pair<int64_t, int64_t>>& steps) {
  ProtoWriter w;
  for (const auto& [key, step] : steps) {
    ProtoWriter s;
    s.int64(1, key);
    s.int64(2, step);
    w.message(1, s);
  }
  return w.take();
}

}  // namespace weft_engine::remote
