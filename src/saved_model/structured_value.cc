#include "saved_model/structured_value.h"

#include <algorithm>

#include "core/cat.h"
#include "wire/proto.h"
#include "wire/tensor_proto.h"

namespace weft_engine::saved_model {
namespace {

using wire::ProtoReader;
using Kind = StructuredValue::Kind;

constexpr int kMaxDepth = 64;

Status malformed() { return data_loss("the SavedModel is damaged: malformed StructuredValue"); }

Result<StructuredValue> decode(std::string_view bytes, int depth);

// TensorSpecProto, BoundedTensorSpecProto: name 1, shape 2, dtype 3; minimum 4, maximum 5.
Status decode_tensor_spec(ProtoReader r, StructuredValue& v) {
  v.kind = Kind::kTensor;
  while (r.next()) {
    if (r.field() == 1) v.text = r.string();
    if (r.field() == 2) {
      WEFT_ASSIGN(v.shape, wire::decode_shape(r.bytes()));
    }
    if (r.field() == 3) v.dtype = static_cast<DType>(r.int32());
    if (r.field() == 4 || r.field() == 5) {
      WEFT_ASSIGN(Tensor limit, wire::decode_tensor(r.bytes()));
      v.contents.push_back(std::move(limit));
    }
  }
  return r.ok() ? Status() : malformed();
}

// TypeSpecProto: class 1, state 2, class name 3, number of tensors 4.
Status decode_type_spec(ProtoReader r, StructuredValue& v, int depth) {
  static constexpr const char* kClasses[] = {"unknown",          "SparseTensorSpec", "IndexedSlicesSpec", "RaggedTensorSpec", "TensorArraySpec",
                                             "DatasetSpec",      "IteratorSpec",     "OptionalSpec",      "PerReplicaSpec",   "VariableSpec",
                                             "RowPartitionSpec", "unknown",          "registered type",   "ExtensionType"};
  v.kind = Kind::kComposite;
  while (r.next()) {
    switch (r.field()) {
      case 1:
        v.type_class = r.int32();
        if (v.text.empty()) v.text = r.varint() < std::size(kClasses) ? kClasses[r.varint()] : "unknown";
        break;
      case 2: {
        WEFT_ASSIGN(StructuredValue state, decode(r.bytes(), depth));
        v.items.clear();
        v.items.emplace_back("state", std::move(state));
        break;
      }
      case 3:
        if (!r.bytes().empty()) v.text = r.string();
        break;
      case 4: v.components = std::clamp(r.int32(), 0, 1 << 16); break;
      default: break;
    }
  }
  return r.ok() ? Status() : malformed();
}

Status decode_values(ProtoReader r, StructuredValue& v, int depth) {
  while (r.next()) {
    if (r.field() != 1) continue;
    WEFT_ASSIGN(StructuredValue item, decode(r.bytes(), depth));
    v.items.emplace_back("", std::move(item));
  }
  return r.ok() ? Status() : malformed();
}

// Key 1 and value 2, of dictionaries and named tuples.
Status decode_pairs(ProtoReader r, int field, StructuredValue& v, int depth) {
  while (r.next()) {
    if (r.field() == 1 && field != 1) v.text = r.string();
    if (r.field() != field) continue;
    std::pair<std::string, StructuredValue> item;
    ProtoReader e = r.message();
    while (e.next()) {
      if (e.field() == 1) item.first = e.string();
      if (e.field() == 2) {
        WEFT_ASSIGN(item.second, decode(e.bytes(), depth));
      }
    }
    if (!e.ok()) return malformed();
    v.items.push_back(std::move(item));
  }
  return r.ok() ? Status() : malformed();
}

Result<StructuredValue> decode(std::string_view bytes, int depth) {
  if (depth > kMaxDepth) return data_loss("the SavedModel is damaged: a StructuredValue is nested too deeply");
  StructuredValue v;
  ProtoReader r(bytes);
  while (r.next()) {
    switch (r.field()) {
      case 1: v.kind = Kind::kNone; break;
      case 11: v.kind = Kind::kFloat, v.number = r.float64(); break;
      case 12: v.kind = Kind::kInt, v.integer = r.zigzag(); break;
      case 13: v.kind = Kind::kString, v.text = r.string(); break;
      case 14: v.kind = Kind::kBool, v.integer = r.boolean(); break;
      case 31: {
        v.kind = Kind::kShape;
        WEFT_ASSIGN(v.shape, wire::decode_shape(r.bytes()));
        break;
      }
      case 32: v.kind = Kind::kType, v.dtype = static_cast<DType>(r.int32()); break;
      case 33:
      case 35: WEFT_RETURN_IF_ERROR(decode_tensor_spec(r.message(), v)); break;
      case 34: WEFT_RETURN_IF_ERROR(decode_type_spec(r.message(), v, depth + 1)); break;
      case 51:
        v.kind = Kind::kList;
        WEFT_RETURN_IF_ERROR(decode_values(r.message(), v, depth + 1));
        break;
      case 52:
        v.kind = Kind::kTuple;
        WEFT_RETURN_IF_ERROR(decode_values(r.message(), v, depth + 1));
        break;
      case 53:
        v.kind = Kind::kDict;
        WEFT_RETURN_IF_ERROR(decode_pairs(r.message(), 1, v, depth + 1));
        std::stable_sort(v.items.begin(), v.items.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
        break;
      case 54:
        v.kind = Kind::kNamedTuple;
        WEFT_RETURN_IF_ERROR(decode_pairs(r.message(), 2, v, depth + 1));
        break;
      case 55:
      case 56: {
        v.kind = r.field() == 55 ? Kind::kConstant : Kind::kArray;
        WEFT_ASSIGN(Tensor value, wire::decode_tensor(r.bytes()));
        v.contents.assign(1, std::move(value));
        break;
      }
      default: break;
    }
  }
  if (!r.ok()) return malformed();
  return v;
}

// How many tensors the composite types of old files have, which do not say so.
int components_of(const StructuredValue& v) {
  if (v.components) return v.components;
  if (v.text.ends_with("SparseTensorSpec")) return 3;
  if (v.text.ends_with("VariableSpec")) return 1;
  if (v.text.ends_with("RaggedTensorSpec") && !v.items.empty()) {  // shape, dtype, ragged rank, type of the splits
    const auto& state = v.items[0].second.items;
    if (state.size() > 2 && state[2].second.integer >= 0 && state[2].second.integer < 255) return 1 + int(state[2].second.integer);
  }
  return 0;
}

Status flatten_into(const StructuredValue& v, const std::string& path, std::vector<Leaf>& out, int depth) {
  if (depth > kMaxDepth) return malformed();
  const auto inner = [&](const std::string& key) { return path.empty() ? key : cat(path, ".", key); };
  switch (v.kind) {
    case Kind::kTensor: out.push_back({path, v.text, v.dtype, v.shape}); return {};
    case Kind::kComposite: {
      const int n = components_of(v);
      if (!n) return unimplemented("arguments or results of the type ", v.text);
      for (int i = 0; i < n; ++i) out.push_back({n == 1 ? path : inner(cat(i)), v.text, DType::kInvalid, PartialShape::unknown()});
      return {};
    }
    case Kind::kList:
    case Kind::kTuple:
    case Kind::kDict:
    case Kind::kNamedTuple:
      for (size_t i = 0; i < v.items.size(); ++i)
        WEFT_RETURN_IF_ERROR(flatten_into(v.items[i].second, inner(v.items[i].first.empty() ? cat(i) : v.items[i].first), out, depth + 1));
      return {};
    default: return {};
  }
}

// Values of a structure are numbers and texts, which always have a message.
std::string encode_contents(const Tensor& t) {
  auto bytes = wire::encode_tensor(t);
  return bytes.ok() ? std::move(bytes).value() : std::string();
}

std::string python_type(DType t) {
  return cat("tf.", t == DType::kFloat ? "float32" : t == DType::kDouble ? "float64" : t == DType::kHalf ? "float16" : dtype_name(t));
}

}  // namespace

Result<StructuredValue> decode_structured_value(std::string_view bytes) { return decode(bytes, 0); }

Status flatten(const StructuredValue& v, const std::string& path, std::vector<Leaf>& out) { return flatten_into(v, path, out, 0); }

std::string encode_type_spec(const StructuredValue& v) {
  wire::ProtoWriter w;
  if (v.type_class) w.varint(1, uint64_t(v.type_class));
  if (!v.items.empty()) w.bytes(2, encode_structured_value(v.items[0].second));
  if (!v.text.empty()) w.bytes(3, v.text);
  if (v.components) w.varint(4, uint64_t(v.components));
  return w.take();
}

std::string encode_structured_value(const StructuredValue& v) {
  wire::ProtoWriter w;
  auto list = [&](int field) {
    wire::ProtoWriter items;
    for (const auto& item : v.items) items.bytes(1, encode_structured_value(item.second));
    w.message(field, items);
  };
  auto pairs = [&](int field, int item_field) {
    wire::ProtoWriter items;
    if (item_field != 1 && !v.text.empty()) items.bytes(1, v.text);
    for (const auto& item : v.items) {
      wire::ProtoWriter pair;
      pair.bytes(1, item.first);
      pair.bytes(2, encode_structured_value(item.second));
      items.message(item_field, pair);
    }
    w.message(field, items);
  };
  switch (v.kind) {
    case Kind::kFloat: w.float64(11, v.number); break;
    case Kind::kInt: w.varint(12, uint64_t(v.integer) << 1 ^ uint64_t(v.integer >> 63)); break;
    case Kind::kString: w.bytes(13, v.text); break;
    case Kind::kBool: w.boolean(14, v.integer != 0); break;
    case Kind::kShape: w.bytes(31, wire::encode_shape(v.shape)); break;
    case Kind::kType: w.varint(32, uint64_t(v.dtype)); break;
    case Kind::kTensor: {
      wire::ProtoWriter spec;
      if (!v.text.empty()) spec.bytes(1, v.text);
      spec.bytes(2, wire::encode_shape(v.shape));
      spec.varint(3, uint64_t(v.dtype));
      for (size_t i = 0; i < v.contents.size() && i < 2; ++i) spec.bytes(4 + int(i), encode_contents(v.contents[i]));
      w.message(v.contents.empty() ? 33 : 35, spec);
      break;
    }
    case Kind::kComposite: w.bytes(34, encode_type_spec(v)); break;
    case Kind::kArray:
    case Kind::kConstant: w.bytes(v.kind == Kind::kArray ? 56 : 55, v.contents.empty() ? std::string() : encode_contents(v.contents[0])); break;
    case Kind::kList: list(51); break;
    case Kind::kTuple: list(52); break;
    case Kind::kDict: pairs(53, 1); break;
    case Kind::kNamedTuple: pairs(54, 2); break;
    case Kind::kNone: w.bytes(1, ""); break;
  }
  return w.take();
}

StructuredValue none_value() { return {}; }
StructuredValue text_value(std::string text) {
  StructuredValue v;
  v.kind = Kind::kString;
  v.text = std::move(text);
  return v;
}
StructuredValue tensor_value(std::string name, DType dtype, PartialShape shape) {
  StructuredValue v;
  v.kind = Kind::kTensor;
  v.text = std::move(name);
  v.dtype = dtype;
  v.shape = std::move(shape);
  return v;
}
StructuredValue list_value(Kind kind, std::vector<StructuredValue> items) {
  StructuredValue v;
  v.kind = kind;
  for (auto& item : items) v.items.emplace_back("", std::move(item));
  return v;
}

bool operator==(const StructuredValue& a, const StructuredValue& b) {
  const auto sequence = [](Kind k) { return k == Kind::kList ? Kind::kTuple : k; };  // defaults are lists where arguments are tuples
  return sequence(a.kind) == sequence(b.kind) && a.number == b.number && a.integer == b.integer && a.text == b.text && a.dtype == b.dtype &&
         a.shape == b.shape && a.items == b.items;
}

std::string python_shape(const PartialShape& shape) {
  if (!shape.has_rank()) return "<unknown>";
  std::string out = "(";
  for (int i = 0; i < shape.rank(); ++i) out += cat(i ? ", " : "", shape.dim(i) < 0 ? "None" : cat(shape.dim(i)));
  return out + (shape.rank() == 1 ? ",)" : ")");
}

std::string StructuredValue::to_string() const {
  const auto joined = [&](std::string_view open, std::string_view close, bool keys, std::string_view after_key) {
    std::string out(open);
    for (size_t i = 0; i < items.size(); ++i) {
      if (i) out += ", ";
      if (keys) out += after_key == ": " ? cat("'", items[i].first, "': ") : cat(items[i].first, after_key);
      out += items[i].second.to_string();
    }
    if (kind == Kind::kTuple && items.size() == 1) out += ",";
    return out + std::string(close);
  };
  switch (kind) {
    case Kind::kNone: return "None";
    case Kind::kFloat: return cat(number);
    case Kind::kInt: return cat(integer);
    case Kind::kString: return cat("'", text, "'");
    case Kind::kBool: return integer ? "True" : "False";
    case Kind::kShape: return cat("TensorShape(", python_shape(shape), ")");
    case Kind::kType: return python_type(dtype);
    case Kind::kTensor:
      return cat("TensorSpec(shape=", python_shape(shape), ", dtype=", python_type(dtype), ", name=", text.empty() ? "None" : cat("'", text, "'"),
                 ")");
    case Kind::kComposite: return cat(text, items.empty() ? "()" : items[0].second.to_string());
    case Kind::kArray:
    case Kind::kConstant: return "<constant>";
    case Kind::kList: return joined("[", "]", false, "");
    case Kind::kTuple: return joined("(", ")", false, "");
    case Kind::kDict: return joined("{", "}", true, ": ");
    case Kind::kNamedTuple: return joined(cat(text, "("), ")", true, "=");
  }
  return {};
}

}  // namespace weft_engine::saved_model
