// Fields of serialized protobuf messages as tensors, and back.
#include <algorithm>
#include <iterator>

#include "kernels/cpu/text.h"
#include "op/registry.h"
#include "ops/all.h"
#include "wire/file.h"
#include "wire/proto.h"
#include "wire/schema.h"
#include "wire/text_format.h"

namespace weft_engine::ops {

using namespace weft_engine::op;  // NOLINT: an ops file is written in the vocabulary of op/

namespace {

using wire::FieldDef;
using wire::FieldType;
using wire::MessageDef;
using wire::ProtoReader;
using wire::ProtoWriter;
using wire::Schema;
using wire::wire_type;
using wire::WireType;

// "local://", "bytes://" with a FileDescriptorSet behind it, or the name of a file that holds one.
Result<std::shared_ptr<const Schema>> open_schema(const std::string& source) {
  constexpr std::string_view kBytes = "bytes://";
  if (source.empty() || source == "local://") return std::shared_ptr<const Schema>(std::shared_ptr<void>(), &Schema::builtin());  // not owned
  std::string bytes;
  if (source.starts_with(kBytes)) {
    bytes = source.substr(kBytes.size());
  } else {
    WEFT_RETURN_IF_ERROR(wire::read_file(source, bytes));
  }
  auto schema = Schema::parse(bytes);
  if (!schema.ok())
    return invalid_argument("Failed to deserialize descriptor set from ",
                            source.starts_with(kBytes) ? std::string_view("bytes") : std::string_view(source));
  return schema;
}

bool fits(FieldType field, DType t) {
  switch (field) {
    case FieldType::kDouble: return t == DType::kDouble;
    case FieldType::kFloat: return t == DType::kFloat || t == DType::kDouble;
    case FieldType::kInt64:
    case FieldType::kSfixed64:
    case FieldType::kSint64: return t == DType::kInt64;
    case FieldType::kUint64:
    case FieldType::kFixed64: return t == DType::kUint64 || t == DType::kInt64;
    case FieldType::kInt32:
    case FieldType::kSfixed32:
    case FieldType::kSint32: return t == DType::kInt32 || t == DType::kInt64;
    case FieldType::kUint32:
    case FieldType::kFixed32: return t == DType::kUint32 || t == DType::kUint64 || t == DType::kInt64 || t == DType::kInt32;
    case FieldType::kBool: return t == DType::kBool;
    case FieldType::kEnum: return t == DType::kInt32;
    case FieldType::kString:
    case FieldType::kGroup:
    case FieldType::kMessage:
    case FieldType::kBytes: return t == DType::kString;
    case FieldType::kNone: break;
  }
  return false;
}

// One value as the wire has it.
struct Value {
  uint64_t number = 0;
  std::string_view bytes = {};
};

void store(FieldDef f, const Value& v, Tensor& out, int64_t at) {
  if (out.dtype() == DType::kString) {
    out.data<tstring>()[at] = v.bytes;
    return;
  }
  if (f.type() == FieldType::kFloat || f.type() == FieldType::kDouble) {
    const double x = f.type() == FieldType::kFloat ? double(std::bit_cast<float>(uint32_t(v.number))) : std::bit_cast<double>(v.number);
    if (out.dtype() == DType::kFloat) out.data<uint32_t>()[at] = uint32_t(v.number);
    else out.data<double>()[at] = x;
    return;
  }
  int64_t n = int64_t(v.number);
  if (f.type() == FieldType::kSint32 || f.type() == FieldType::kSint64) n = int64_t(v.number >> 1) ^ -int64_t(v.number & 1);
  if (f.type() == FieldType::kInt32 || f.type() == FieldType::kSfixed32 || f.type() == FieldType::kEnum || f.type() == FieldType::kSint32)
    n = int32_t(n);
  if (f.type() == FieldType::kUint32 || f.type() == FieldType::kFixed32) n = uint32_t(n);
  switch (out.dtype()) {
    case DType::kBool: out.data<bool>()[at] = n != 0; break;
    case DType::kInt32:
    case DType::kUint32: out.data<int32_t>()[at] = int32_t(n); break;
    default: out.data<int64_t>()[at] = n; break;
  }
}

// What a message without the field has, where the .proto file says so.
Value default_of(FieldDef f) {
  const std::string text(f.default_value());
  Value v;
  v.bytes = f.default_value();
  if (text.empty()) return v;
  double d = 0;
  int64_t i = 0;
  const int32_t* listed = f.type() == FieldType::kEnum ? f.enumeration().number_of(text) : nullptr;
  if (f.type() == FieldType::kBool) v.number = text == "true";
  else if (f.type() == FieldType::kDouble && kernels::parse_number(text, d)) v.number = std::bit_cast<uint64_t>(d);
  else if (f.type() == FieldType::kFloat && kernels::parse_number(text, d)) v.number = std::bit_cast<uint32_t>(float(d));
  else if (listed) v.number = uint64_t(int64_t(*listed));
  else if (kernels::parse_number(text, i)) v.number = uint64_t(i);
  else kernels::parse_number(text, v.number);
  if (f.type() == FieldType::kSint32 || f.type() == FieldType::kSint64) v.number = (uint64_t(i) << 1) ^ uint64_t(i >> 63);
  return v;
}

// The fields that an op names, found and checked once.
struct Fields {
  std::shared_ptr<const Schema> schema;
  MessageDef message;
  std::vector<FieldDef> fields;

  static Result<Fields> make(const NodeInfo& node, const std::vector<DType>& types, std::string_view direction) {
    Fields f;
    WEFT_ASSIGN(f.schema, open_schema(node.attr<std::string>("descriptor_source")));
    const std::string& type = node.attr<std::string>("message_type");
    f.message = f.schema->find(type);
    if (!f.message) return invalid_argument("No descriptor found for message type ", type);
    const auto& names = node.attr<std::vector<std::string>>("field_names");
    if (names.size() != types.size())
      return invalid_argument("field_names and ", direction, "_types attributes must have the same length. ", "got ", names.size(), " and ",
                              types.size());
    for (size_t i = 0; i < names.size(); ++i) {
      const FieldDef field = f.message.find(names[i]);
      if (!field) return invalid_argument("Unknown field: ", names[i], " in message type ", type);
      if (!fits(field.type(), types[i]))
        return invalid_argument("Unexpected ", direction, " type for ", type, ".", names[i], ": ", dtype_name(types[i]));
      f.fields.push_back(field);
    }
    return f;
  }
};

struct DecodeProto {
  Fields f;
  bool text;

  static Result<DecodeProto> make(const NodeInfo& node) {
    const std::string& format = node.attr<std::string>("message_format");
    if (format != "binary" && format != "text") return invalid_argument("format must be one of binary or text");
    WEFT_ASSIGN(Fields fields, Fields::make(node, node.attr<std::vector<DType>>("output_types"), "output"));
    return DecodeProto{std::move(fields), format == "text"};
  }

  static Result<std::string> text_bytes(MessageDef message, std::string_view text) {
    auto bytes = wire::text_to_binary(message, text);
    if (!bytes.ok()) return data_loss("Unable to parse text protobuf");
    return bytes;
  }

  // The values of each wanted field in one message.
  bool read(std::string_view bytes, std::vector<std::vector<Value>>& out) const {
    ProtoReader r(bytes);
    while (r.next()) {
      for (size_t i = 0; i < f.fields.size(); ++i) {
        const FieldDef field = f.fields[i];
        if (field.number() != r.field()) continue;
        const WireType wanted = wire_type(field.type());
        if (!field.repeated() && r.type() == wanted) out[i].clear();  // the last one counts
        if (r.type() == wanted)
          out[i].push_back({wanted == WireType::kVarint ? r.varint() : wanted == WireType::kFixed64 ? r.fixed64() : r.fixed32(), r.bytes()});
        else if (field.repeated() && r.type() == WireType::kBytes && !unpack(r, wanted, out[i])) return false;
      }
    }
    return r.ok();
  }
  static bool unpack(ProtoReader& r, WireType type, std::vector<Value>& out) {
    std::vector<uint64_t> numbers;
    std::vector<uint32_t> narrow;
    const bool good = type == WireType::kVarint    ? r.append_varints(numbers)
                      : type == WireType::kFixed64 ? r.append_fixed(numbers)
                                                   : r.append_fixed(narrow);
    for (uint64_t n : numbers) out.push_back({n});
    for (uint32_t n : narrow) out.push_back({n});
    return good;
  }

  Status run(KernelContext& c) const {
    const Tensor& in = c.input(0);
    const size_t batch = size_t(in.num_elements()), n = f.fields.size();
    std::vector<std::string> converted;
    converted.reserve(text ? batch : 0);
    std::vector<std::vector<std::vector<Value>>> values(batch, std::vector<std::vector<Value>>(n));
    std::vector<int64_t> most(n, 0);
    for (size_t b = 0; b < batch; ++b) {
      std::string_view bytes = in.data<tstring>()[b].view();
      if (text) {
        WEFT_ASSIGN(std::string encoded, text_bytes(f.message, bytes));
        bytes = converted.emplace_back(std::move(encoded));
      }
      if (!read(bytes, values[b])) return data_loss("Unable to parse binary protobuf");
      for (size_t i = 0; i < n; ++i) most[i] = std::max(most[i], int64_t(values[b][i].size()));
    }
    Shape shape = in.shape();
    shape.add_dim(int64_t(n));
    WEFT_ASSIGN(Tensor* sizes, c.allocate(0, shape));
    for (size_t b = 0; b < batch; ++b)
      for (size_t i = 0; i < n; ++i) sizes->data<int32_t>()[b * n + i] = int32_t(values[b][i].size());
    for (size_t i = 0; i < n; ++i) {
      shape.set_dim(shape.rank() - 1, most[i]);
      WEFT_ASSIGN(Tensor* out, c.allocate(int(i) + 1, shape));
      const Value missing = default_of(f.fields[i]);
      for (size_t b = 0; b < batch; ++b)
        for (int64_t k = 0; k < most[i]; ++k)
          store(f.fields[i], k < int64_t(values[b][i].size()) ? values[b][i][size_t(k)] : missing, *out, int64_t(b) * most[i] + k);
    }
    return {};
  }
};

Status decode_proto_shape(ShapeContext& c) {
  const auto& in = c.input(0);
  const auto n = int64_t(c.attr<std::vector<DType>>("output_types").size());
  c.output(0, in.has_rank() ? in.concat(PartialShape::vector(n)) : PartialShape());
  for (int i = 1; i < c.num_outputs(); ++i) c.output(i, in.has_rank() ? in.concat(PartialShape::vector(kUnknownDim)) : PartialShape());
  return {};
}

// The number that goes on the wire for element `at`.
uint64_t wire_number(FieldDef f, const Tensor& t, int64_t at) {
  switch (t.dtype()) {
    case DType::kFloat: return t.data<uint32_t>()[at];
    case DType::kDouble:
      if (f.type() == FieldType::kFloat) return std::bit_cast<uint32_t>(float(t.data<double>()[at]));
      return t.data<uint64_t>()[at];
    case DType::kBool: return t.data<uint8_t>()[at] != 0;
    default: break;
  }
  int64_t v = t.dtype() == DType::kInt32    ? t.data<int32_t>()[at]
              : t.dtype() == DType::kUint32 ? int64_t(t.data<uint32_t>()[at])
                                            : t.data<int64_t>()[at];
  if (f.type() == FieldType::kUint32) v = uint32_t(v);
  if (f.type() == FieldType::kSint32 || f.type() == FieldType::kSint64) return (uint64_t(v) << 1) ^ uint64_t(v >> 63);
  return uint64_t(v);
}

void append_number(ProtoWriter& w, int field, WireType type, uint64_t v) {
  if (type == WireType::kVarint) w.varint(field, v);
  else if (type == WireType::kFixed64) w.fixed64(field, v);
  else w.float32(field, std::bit_cast<float>(uint32_t(v)));
}

void append_packed(std::string& out, WireType type, uint64_t v) {
  if (type == WireType::kVarint) {
    ProtoWriter w;
    w.raw_varint(v);
    out += w.str();
  } else {
    out.append(reinterpret_cast<const char*>(&v), type == WireType::kFixed64 ? 8 : 4);
  }
}

struct EncodeProto {
  Fields f;
  std::vector<size_t> order;  // by field number

  static Result<EncodeProto> make(const NodeInfo& node) {
    WEFT_ASSIGN(Fields fields, Fields::make(node, node.attr<std::vector<DType>>("Tinput_types"), "input"));
    EncodeProto k{std::move(fields), {}};
    for (size_t i = 0; i < k.f.fields.size(); ++i) k.order.push_back(i);
    std::stable_sort(k.order.begin(), k.order.end(), [&](size_t a, size_t b) { return k.f.fields[a].number() < k.f.fields[b].number(); });
    return k;
  }

  Status run(KernelContext& c) const {
    const Tensor& sizes = c.input(0);
    const auto values = c.input_list("values");
    const auto n = int64_t(f.fields.size());
    if (sizes.rank() < 1 || sizes.dim(sizes.rank() - 1) != n)
      return invalid_argument("sizes should be batch_size + [len(field_names)]. Got: ", sizes.shape());
    const Shape batch = sizes.shape().slice(0, sizes.rank() - 1);
    for (size_t i = 0; i < values.size(); ++i) {
      if (values[i]->rank() != sizes.rank() || values[i]->shape().slice(0, batch.rank()) != batch)
        return invalid_argument("Values must match up to the last dimension");
      for (int64_t b = 0; b < batch.num_elements(); ++b) {
        const int32_t size = sizes.data<int32_t>()[b * n + int64_t(i)];
        if (size < 0 || size > values[i]->dim(batch.rank()))
          return invalid_argument("Size value ", size, " of field ", f.fields[i].name(), " is not within [0, ", values[i]->dim(batch.rank()), "]");
      }
    }
    WEFT_ASSIGN(Tensor* out, c.allocate(0, batch));
    for (int64_t b = 0; b < batch.num_elements(); ++b) {
      ProtoWriter w;
      for (size_t i : order) {
        const int64_t row = values[i]->dim(batch.rank());
        append_field(w, f.fields[i], *values[i], b * row, sizes.data<int32_t>()[b * n + int64_t(i)]);
      }
      out->data<tstring>()[b] = w.str();
    }
    return {};
  }

  static void append_field(ProtoWriter& w, FieldDef field, const Tensor& t, int64_t from, int64_t size) {
    const WireType type = wire_type(field.type());
    if (size == 0) return;
    if (type == WireType::kBytes) {
      for (int64_t k = 0; k < size; ++k) w.bytes(field.number(), t.data<tstring>()[from + k].view());
    } else if (field.packed()) {
      std::string packed;
      for (int64_t k = 0; k < size; ++k) append_packed(packed, type, wire_number(field, t, from + k));
      w.bytes(field.number(), packed);
    } else {
      for (int64_t k = 0; k < size; ++k) append_number(w, field.number(), type, wire_number(field, t, from + k));
    }
  }
};

Status encode_proto_shape(ShapeContext& c) {
  WEFT_ASSIGN(PartialShape sizes, c.with_rank_at_least(0, 1));
  c.output(0, sizes.has_rank() ? sizes.slice(0, sizes.rank() - 1) : PartialShape());
  return {};
}

}  // namespace

void proto(Registry& r) {
  r.add("DecodeProtoV2")
      .doc("Some fields of serialized protobuf messages, as tensors.")
      .in("bytes: string")
      .out("sizes: int32")
      .out("values: output_types")
      .attr("message_type: string")
      .attr("field_names: list(string)")
      .attr("output_types: list(type) >= 0")
      .attr("descriptor_source: string = 'local://'")
      .attr("message_format: string = 'binary'")
      .attr("sanitize: bool = false")
      .shape(decode_proto_shape)
      .no_grad()
      .cpu<DecodeProto>();

  r.add("EncodeProto")
      .doc("Serialized protobuf messages from tensors of field values.")
      .in("sizes: int32")
      .in("values: Tinput_types")
      .out("bytes: string")
      .attr("field_names: list(string)")
      .attr("message_type: string")
      .attr("descriptor_source: string = 'local://'")
      .attr("Tinput_types: list(type) >= 1")
      .shape(encode_proto_shape)
      .no_grad()
      .cpu<EncodeProto>();
}

}  // namespace weft_engine::ops
