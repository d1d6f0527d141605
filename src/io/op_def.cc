#include "io/op_def.h"

#include "io/attr_codec.h"
#include "wire/proto.h"
#include "wire/tensor_proto.h"

namespace weft_engine::io {
namespace {

using namespace weft_engine::core;
using namespace weft_engine::op;
using wire::ProtoReader;
using wire::ProtoWriter;

// "DATASET(VAR:output_types)" as a FullTypeDef; takes what it reads off the front of the text.
ProtoWriter encode_full_type(std::string_view& text) {
  static constexpr std::pair<std::string_view, int> kIds[] = {
      {"VAR", 1},      {"ANY", 2},         {"PRODUCT", 3},         {"FOR_EACH", 20},   {"STRING", 214},   {"TENSOR", 1000},
      {"ARRAY", 1001}, {"OPTIONAL", 1002}, {"SHAPE_TENSOR", 1005}, {"DATASET", 10102}, {"RAGGED", 10103}, {"MUTEX_LOCK", 10202}};
  auto word = [&] {
    const size_t n = std::min(text.find_first_of(":(), "), text.size());
    auto w = text.substr(0, n);
    text.remove_prefix(n);
    return w;
  };
  ProtoWriter w;
  const auto name = word();
  for (const auto& [id_name, id] : kIds) {
    if (id_name == name) w.varint(1, uint64_t(id));
  }
  std::string_view label;
  if (text.starts_with(":")) {
    text.remove_prefix(1);
    label = word();
  }
  if (text.starts_with("(")) {
    while (!text.empty() && text[0] != ')') {
      text.remove_prefix(1);  // the bracket, or the comma
      if (text.starts_with(" ")) text.remove_prefix(1);
      w.message(2, encode_full_type(text));
    }
    if (!text.empty()) text.remove_prefix(1);
  }
  if (!label.empty()) w.bytes(3, label);
  return w;
}

ProtoWriter encode_arg(const ArgSpec& arg, const Signature& sig) {
  ProtoWriter w;
  w.bytes(1, arg.name);
  if (arg.type != DType::kInvalid) w.varint(3, uint64_t(arg.type));
  if (arg.type_attr >= 0) w.bytes(4, sig.attrs[size_t(arg.type_attr)].name);
  if (arg.number_attr >= 0) w.bytes(5, sig.attrs[size_t(arg.number_attr)].name);
  if (arg.type_list_attr >= 0) w.bytes(6, sig.attrs[size_t(arg.type_list_attr)].name);
  if (arg.is_ref) w.boolean(16, true);
  return w;
}

// Values of signatures hold no handles, so encoding them cannot fail.
std::string encode_value(const AttrValue& v) {
  auto bytes = encode_attr(v);
  return bytes.ok() ? *bytes : std::string();
}

// As encode_value, but bytes of a tensor go one by one, as TensorFlow writes the only such default.
std::string encode_default(const AttrValue& v) {
  const Tensor* t = v.get<Tensor>();
  if (!t || t->dtype() != DType::kUint8) return encode_value(v);
  ProtoWriter tensor, attr;
  tensor.varint(1, uint64_t(t->dtype()));
  tensor.bytes(2, wire::encode_shape(t->shape()));
  auto bytes = t->span<uint8_t>();
  tensor.packed_varints(7, {bytes.begin(), bytes.end()});
  attr.message(8, tensor);
  return attr.take();
}

ProtoWriter encode_attr_def(const AttrSpec& attr) {
  ProtoWriter w;
  w.bytes(1, attr.name);
  w.bytes(2, attr.type);
  if (attr.default_value) w.bytes(3, encode_default(*attr.default_value));
  if (attr.minimum) {
    w.boolean(5, true);
    if (*attr.minimum) w.int64(6, *attr.minimum);
  }
  if (!attr.allowed_types.empty()) w.bytes(7, encode_value(attr.allowed_types));
  if (!attr.allowed_strings.empty()) w.bytes(7, encode_value(attr.allowed_strings));
  return w;
}

}  // namespace

std::string encode_op_def(const OpSpec& spec) {
  const Signature& sig = spec.signature();
  ProtoWriter w;
  w.bytes(1, spec.name);
  for (const auto& a : sig.inputs) w.message(2, encode_arg(a, sig));
  for (size_t i = 0; i < sig.outputs.size(); ++i) {
    ProtoWriter arg = encode_arg(sig.outputs[i], sig);
    for (auto [index, text] : spec.full_types) {
      if (size_t(index) == i) arg.message(17, encode_full_type(text));
    }
    w.message(3, arg);
  }
  for (const auto& a : sig.attrs) w.message(4, encode_attr_def(a));
  if (spec.deprecated_since) {
    ProtoWriter d;
    d.varint(1, uint64_t(spec.deprecated_since));
    if (!spec.deprecation.empty()) d.bytes(2, spec.deprecation);
    w.message(8, d);
  }
  if (spec.aggregate) w.boolean(16, true);
  if (spec.stateful) w.boolean(17, true);
  if (spec.commutative) w.boolean(18, true);
  if (spec.allows_uninitialized_input) w.boolean(19, true);
  if (spec.distributed_communication) w.boolean(21, true);
  return w.take();
}

std::string encode_op_list(const std::vector<const OpSpec*>& specs) {
  ProtoWriter w;
  for (const OpSpec* s : specs) w.bytes(1, encode_op_def(*s));
  return w.take();
}

std::string encode_kernel_def(std::string_view op, const KernelDef& kernel) {
  ProtoWriter w;
  w.bytes(1, op);
  w.bytes(2, kernel.device_type);
  for (const auto& c : kernel.constraints) {
    ProtoWriter constraint;
    constraint.bytes(1, c.attr);
    constraint.bytes(2, encode_value(std::vector<DType>(c.types.begin(), c.types.end())));
    w.message(3, constraint);
  }
  for (const auto& a : kernel.host_memory_args) w.bytes(4, a);
  if (kernel.priority) w.int64(6, kernel.priority);
  return w.take();
}

std::string encode_kernel_list(const std::vector<std::string>& kernel_defs) {
  ProtoWriter w;
  for (const auto& k : kernel_defs) w.bytes(1, k);
  return w.take();
}

std::string encode_api_def(const OpSpec& spec) {
  ProtoWriter w;
  w.bytes(1, spec.name);
  ProtoWriter endpoint;
  endpoint.bytes(1, spec.name);
  w.message(3, endpoint);
  const Signature& sig = spec.signature();
  auto named = [](const std::string& name) {
    ProtoWriter a;
    a.bytes(1, name);
    a.bytes(2, name);
    return a;
  };
  for (const auto& a : sig.inputs) w.message(4, named(a.name));
  for (const auto& a : sig.outputs) w.message(5, named(a.name));
  for (const auto& a : sig.attrs) {
    ProtoWriter attr = named(a.name);
    if (a.default_value) attr.bytes(3, encode_value(*a.default_value));
    w.message(6, attr);
  }
  if (!spec.summary.empty()) w.bytes(7, spec.summary);
  return w.take();
}

std::string encode_device_attributes(const Device& device) {
  ProtoWriter w;
  w.bytes(1, device.name());
  w.bytes(2, device.type());
  w.int64(4, device.memory_limit());
  w.message(5, {});
  w.fixed64(6, device.incarnation());
  if (!device.description().empty()) w.bytes(7, device.description());
  return w.take();
}

Result<SessionConfig> decode_config(std::string_view bytes) {
  SessionConfig config;
  ProtoReader r(bytes);
  while (r.next()) {
    switch (r.field()) {
      case 1: {  // device_count: map of device type to number
        ProtoReader entry = r.message();
        std::string type;
        int32_t count = 0;
        while (entry.next()) {
          if (entry.field() == 1) type = entry.string();
          if (entry.field() == 2) count = entry.int32();
        }
        if (!entry.ok()) return invalid_argument("Unparseable ConfigProto");
        if (type == "CPU") config.cpu_devices = count;
        break;
      }
      case 2: config.intra_threads = r.int32(); break;
      case 5: config.inter_threads = r.int32(); break;
      case 6: {  // gpu_options
        ProtoReader gpu = r.message();
        while (gpu.next()) {
          if (gpu.field() == 1) config.gpu_memory_fraction = gpu.float64();
        }
        if (!gpu.ok()) return invalid_argument("Unparseable ConfigProto");
        break;
      }
      case 7:
        config.allow_soft_placement = r.boolean();
        config.has_soft_placement = true;
        break;
      case 8: config.log_device_placement = r.boolean(); break;
      case 11: config.operation_timeout_ms = r.int64(); break;
      default: break;
    }
  }
  if (!r.ok()) return invalid_argument("Unparseable ConfigProto");
  if (config.cpu_devices < 1 || config.cpu_devices > 1024)
    return invalid_argument("device_count of CPU must be from 1 to 1024, got ", config.cpu_devices);
  return config;
}

}  // namespace weft_engine::io
