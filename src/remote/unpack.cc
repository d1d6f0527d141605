#include "remote/unpack.h"

#include <map>

#include "remote/resource_names.h"
#include "remote/piece_reader.h"
#include "wire/proto.h"
#include "wire/tensor_proto.h"

namespace weft_engine::remote {
namespace {

constexpr size_t kLarge = 32 << 10;
constexpr int kContent = 4;       // of a TensorProto
constexpr int kBeside = 536870911;  // the field that says which of the large tensors it is; the last number that there can be, of no use to anyone

// Which fields of a message hold messages with tensors; one without fields is a TensorProto.
struct Level {
  std::map<int, Level> fields;
};

const Level& level(TensorsIn kind) {
  struct Levels {
    Level tensor, operation{{{10, {{{2, tensor}}}}}}, tensors_in_1{{{1, tensor}}}, tensors_in_2{{{2, tensor}}};
    Level request{{{3, {{{2, operation}, {3, tensors_in_2}}}}}}, response{{{1, tensors_in_2}}}, component{{{2, operation}}};
  };
  static const auto& all = *new Levels;
  switch (kind) {
    case TensorsIn::kEnqueueRequest: return all.request;
    case TensorsIn::kEnqueueResponse: return all.response;
    case TensorsIn::kRecvTensorResponse: return all.tensors_in_1;
    case TensorsIn::kRunComponentRequest: return all.component;
    case TensorsIn::kRunComponentResponse: break;
  }
  return all.tensors_in_2;
}

void put_varint(std::string& out, uint64_t v) {
  for (; v >= 0x80; v >>= 7) out.push_back(char(v | 0x80));
  out.push_back(char(v));
}

class Unpacker {
 public:
  explicit Unpacker(const Message& m) : in_(m) {}

  // The next `length` bytes, a message of that level, without the contents of large tensors.
  bool rewrite(size_t length, const Level& level, std::string& out) {
    const bool is_tensor = level.fields.empty();
    std::string head;  // of a TensorProto: what came before its content
    if (length > in_.left()) return false;
    const size_t end = in_.left() - length;
    while (in_.left() > end) {
      uint64_t tag = 0, value = 0;
      if (!in_.varint(tag)) return false;
      const int field = int(tag >> 3);
      std::string bytes;
      put_varint(bytes, tag);
      switch (tag & 7) {
        case 0:
          if (!in_.varint(value)) return false;
          put_varint(bytes, value);
          break;
        case 1:
        case 5:
          if (!in_.append_to(bytes, (tag & 7) == 1 ? 8 : 4)) return false;
          break;
        case 2: {
          if (!in_.varint(value) || value > in_.left()) return false;
          const auto child = level.fields.find(field);
          if (value >= kLarge && child != level.fields.end()) {
            std::string inner;
            if (!rewrite(size_t(value), child->second, inner)) return false;
            out += bytes;
            put_varint(out, inner.size());
            out += inner;
            continue;
          }
          if (value >= kLarge && is_tensor && field == kContent && take_content(head, size_t(value))) {
            put_varint(out, uint64_t(kBeside) << 3);
            put_varint(out, large.size() - 1);
            continue;
          }
          put_varint(bytes, value);
          if (!in_.append_to(bytes, size_t(value))) return false;
          break;
        }
        default: return false;
      }
      if (is_tensor) head += bytes;
      out += bytes;
    }
    return in_.left() == end;
  }

  std::vector<Tensor> large;

 private:
  // False, with nothing read: the tensor is of another kind, and what is wrong with it is said where it is decoded.
  bool take_content(std::string_view head, size_t length) {
    wire::ProtoReader r(head);
    int dtype = 0;
    PartialShape shape = PartialShape::scalar();
    while (r.next()) {
      if (r.field() == 1) dtype = r.int32();
      if (r.field() != 2) continue;
      auto read = wire::decode_shape(r.bytes());
      if (!read.ok()) return false;
      shape = std::move(read).value();
    }
    if (!r.ok() || !is_valid_dtype(dtype) || dtype > kRefOffset || !is_simple(static_cast<DType>(dtype)) || !shape.fully_known()) return false;
    auto concrete = Shape::make(shape.dims());
    if (!concrete.ok() || uint64_t(concrete->num_elements()) > length ||
        uint64_t(concrete->num_elements()) * dtype_size(static_cast<DType>(dtype)) != length)
      return false;
    if (RefPtr<Buffer> memory = in_.take_buffer(length)) {
      large.emplace_back(static_cast<DType>(dtype), *concrete, std::move(memory));
      return true;
    }
    auto t = Tensor::allocate(static_cast<DType>(dtype), *concrete);
    if (!t.ok() || !in_.copy(t->raw(), length)) return false;
    large.push_back(std::move(t).value());
    return true;
  }

  PieceReader in_;
};

}  // namespace

static wire::VariantCodec& codec_slot() {
  static auto* codec = new wire::VariantCodec;
  return *codec;
}
void set_variant_codec(wire::VariantCodec codec) { codec_slot() = std::move(codec); }
const wire::VariantCodec* variant_codec() { return codec_slot().encode ? &codec_slot() : nullptr; }

Result<Unpacked> unpack(Message message, TensorsIn kind) {
  Unpacked out;
  if (message.size() >= kLarge) {
    Unpacker unpacker(message);
    std::string rest;
    if (!unpacker.rewrite(message.size(), level(kind), rest)) return invalid_argument("a malformed message");
    out.rest = Message(std::move(rest));
    out.large = std::move(unpacker.large);
  } else {
    out.rest = std::move(message);
  }
  out.bytes = out.rest.flatten();
  return out;
}

Result<Tensor> Unpacked::tensor(std::string_view proto) const {
  if (!large.empty()) {
    wire::ProtoReader r(proto);
    while (r.next()) {
      if (r.field() != kBeside) continue;
      const uint64_t index = r.varint();
      if (index < large.size()) return large[size_t(index)];
    }
  }
  WEFT_ASSIGN(Tensor t, wire::decode_tensor(proto, variant_codec()));
  return t.dtype() == DType::kResource ? with_resources(std::move(t)) : t;
}

}  // namespace weft_engine::remote
