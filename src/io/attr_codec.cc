#include "io/attr_codec.h"

#include <algorithm>
#include <cstring>

#include "wire/proto.h"
#include "wire/tensor_proto.h"

namespace weft_engine::io {
namespace {

using namespace weft_engine::core;
using op::AttrValue;
using op::FunctionAttr;
using wire::ProtoReader;
using wire::ProtoWriter;

constexpr int kMaxDepth = 32;  // functions inside attributes of functions ...

Result<AttrValue> decode(std::string_view bytes, int depth);

Status malformed() { return invalid_argument("Could not parse AttrValue: malformed message"); }

Result<FunctionAttr> decode_function(std::string_view bytes, int depth) {
  FunctionAttr f;
  auto attrs = std::make_shared<op::AttrMap>();
  ProtoReader r(bytes);
  while (r.next()) {
    if (r.field() == 1) f.name = r.string();
    if (r.field() != 2) continue;
    ProtoReader entry = r.message();
    std::string key;
    std::string_view value;
    while (entry.next()) {
      if (entry.field() == 1) key = entry.string();
      if (entry.field() == 2) value = entry.bytes();
    }
    if (!entry.ok()) return malformed();
    WEFT_ASSIGN(AttrValue v, decode(value, depth + 1));
    (*attrs)[key] = std::move(v);
  }
  if (!r.ok()) return malformed();
  f.attrs = std::move(attrs);
  return f;
}

Result<DType> decode_type(uint64_t number) {
  if (!is_valid_dtype(int(number)) && number != 0) return invalid_argument("AttrValue has an unknown type ", number);
  return static_cast<DType>(number);
}

Result<AttrValue> decode_list(std::string_view bytes, int depth) {
  std::vector<std::string> s;
  std::vector<int64_t> i, types, bools;
  std::vector<float> f;
  std::vector<PartialShape> shapes;
  std::vector<Tensor> tensors;
  std::vector<FunctionAttr> functions;
  ProtoReader r(bytes);
  while (r.next()) {
    switch (r.field()) {
      case 2: s.push_back(r.string()); break;
      case 3: r.append_varints(i); break;
      case 4: r.append_fixed(f); break;
      case 5: r.append_varints(bools); break;
      case 6: r.append_varints(types); break;
      case 7: {
        WEFT_ASSIGN(PartialShape shape, wire::decode_shape(r.bytes()));
        shapes.push_back(std::move(shape));
        break;
      }
      case 8: {
        WEFT_ASSIGN(Tensor t, wire::decode_tensor(r.bytes()));
        tensors.push_back(std::move(t));
        break;
      }
      case 9: {
        WEFT_ASSIGN(FunctionAttr fn, decode_function(r.bytes(), depth));
        functions.push_back(std::move(fn));
        break;
      }
      default: break;
    }
  }
  if (!r.ok()) return malformed();
  if (!s.empty()) return AttrValue(std::move(s));
  if (!i.empty()) return AttrValue(std::move(i));
  if (!f.empty()) return AttrValue(std::move(f));
  if (!bools.empty()) return AttrValue(std::vector<bool>(bools.begin(), bools.end()));
  if (!types.empty()) {
    std::vector<DType> list;
    for (int64_t t : types) {
      WEFT_ASSIGN(DType type, decode_type(uint64_t(t)));
      list.push_back(type);
    }
    return AttrValue(std::move(list));
  }
  if (!shapes.empty()) return AttrValue(std::move(shapes));
  if (!tensors.empty()) return AttrValue(std::move(tensors));
  if (!functions.empty()) return AttrValue(std::move(functions));
  return AttrValue(op::EmptyList{});
}

Result<AttrValue> decode(std::string_view bytes, int depth) {
  if (depth > kMaxDepth) return invalid_argument("Could not parse AttrValue: nested too deeply");
  ProtoReader r(bytes);
  AttrValue value;
  while (r.next()) {
    switch (r.field()) {
      case 1: {
        WEFT_ASSIGN(AttrValue list, decode_list(r.bytes(), depth));
        value = std::move(list);
        break;
      }
      case 2: value = AttrValue(r.string()); break;
      case 3: value = AttrValue(r.int64()); break;
      case 4: value = AttrValue(r.float32()); break;
      case 5: value = AttrValue(r.boolean()); break;
      case 6: {
        WEFT_ASSIGN(DType t, decode_type(r.varint()));
        value = AttrValue(t);
        break;
      }
      case 7: {
        WEFT_ASSIGN(PartialShape s, wire::decode_shape(r.bytes()));
        value = AttrValue(std::move(s));
        break;
      }
      case 8: {
        WEFT_ASSIGN(Tensor t, wire::decode_tensor(r.bytes()));
        value = AttrValue(std::move(t));
        break;
      }
      case 9: value = AttrValue(op::PlaceholderAttr{r.string()}); break;
      case 10: {
        WEFT_ASSIGN(FunctionAttr f, decode_function(r.bytes(), depth));
        value = AttrValue(std::move(f));
        break;
      }
      default: break;
    }
  }
  if (!r.ok()) return malformed();
  return value;
}

// All zero or all one.
template <class T>
bool even(const Tensor& t) {
  const T first = t.data<T>()[0];
  if (first != T(0) && first != T(1)) return false;
  return std::all_of(t.span<T>().begin(), t.span<T>().end(), [&](T v) { return std::memcmp(&v, &first, sizeof(T)) == 0; });
}

template <class T>
std::vector<int64_t> whole(const Tensor& t) {
  return {t.span<T>().begin(), t.span<T>().end()};
}

// As TensorFlow's Python writes constants: one element, and floats that are all zero or all one, as a single value; bits and halves as lists.
Result<std::string> encode_constant(const Tensor& t) {
  const int64_t n = t.num_elements();
  if (n == 0) return wire::encode_tensor(t);
  ProtoWriter w;
  w.varint(1, uint64_t(t.dtype()));
  w.bytes(2, wire::encode_shape(t.shape()));
  const DType type = t.dtype();
  if (type == DType::kBool) {
    w.packed_varints(11, whole<bool>(t));
  } else if (type == DType::kHalf || type == DType::kBfloat16) {
    w.packed_varints(13, whole<uint16_t>(t));
  } else if (type == DType::kFloat && (n == 1 || even<float>(t))) {
    w.packed_floats(5, {t.data<float>()[0]});
  } else if (type == DType::kDouble && (n == 1 || even<double>(t))) {
    w.bytes(6, std::string_view(t.data<char>(), sizeof(double)));
  } else if (n > 1) {
    return wire::encode_tensor(t);
  } else {
    switch (type) {
      case DType::kInt8: w.packed_varints(7, whole<int8_t>(t)); break;
      case DType::kUint8: w.packed_varints(7, whole<uint8_t>(t)); break;
      case DType::kInt16: w.packed_varints(7, whole<int16_t>(t)); break;
      case DType::kUint16: w.packed_varints(7, whole<uint16_t>(t)); break;
      case DType::kInt32: w.packed_varints(7, whole<int32_t>(t)); break;
      case DType::kInt64: w.packed_varints(10, whole<int64_t>(t)); break;
      case DType::kUint32: w.packed_varints(16, whole<uint32_t>(t)); break;
      case DType::kUint64: w.packed_varints(17, whole<uint64_t>(t)); break;
      default: return wire::encode_tensor(t);
    }
  }
  return w.take();
}

// One overload a kind: writes the value as field `plain` of AttrValue, or the items as `list` of ListValue.
struct Encoder {
  ProtoWriter out;
  Status status;

  static Result<std::string> function(const FunctionAttr& f) {
    ProtoWriter w;
    w.bytes(1, f.name);
    if (f.attrs) {
      for (const auto& [k, v] : *f.attrs) {
        ProtoWriter entry;
        entry.bytes(1, k);
        WEFT_ASSIGN(std::string encoded, encode_attr(v));
        entry.bytes(2, encoded);
        w.message(2, entry);
      }
    }
    return w.take();
  }
  void put(int field, Result<std::string> bytes) {
    if (bytes.ok()) out.bytes(field, *bytes);
    else status = bytes.status();
  }
  void list(const ProtoWriter& items) { out.message(1, items); }

  void operator()(std::monostate) {}
  void operator()(int64_t v) { out.int64(3, v); }
  void operator()(float v) { out.float32(4, v); }
  void operator()(bool v) { out.boolean(5, v); }
  void operator()(const std::string& v) { out.bytes(2, v); }
  void operator()(DType v) { out.varint(6, uint64_t(v)); }
  void operator()(const PartialShape& v) { out.bytes(7, wire::encode_shape(v)); }
  void operator()(const Tensor& v) { put(8, encode_constant(v)); }
  void operator()(const FunctionAttr& v) { put(10, function(v)); }
  void operator()(const op::PlaceholderAttr& v) { out.bytes(9, v.name); }
  void operator()(op::EmptyList) { list({}); }
  void operator()(const std::vector<int64_t>& v) {
    ProtoWriter w;
    if (!v.empty()) w.packed_varints(3, v);
    list(w);
  }
  void operator()(const std::vector<float>& v) {
    ProtoWriter w;
    if (!v.empty()) w.packed_floats(4, v);
    list(w);
  }
  void operator()(const std::vector<bool>& v) {
    ProtoWriter w;
    if (!v.empty()) w.packed_varints(5, std::vector<int64_t>(v.begin(), v.end()));
    list(w);
  }
  void operator()(const std::vector<std::string>& v) {
    ProtoWriter w;
    for (const auto& s : v) w.bytes(2, s);
    list(w);
  }
  void operator()(const std::vector<DType>& v) {
    ProtoWriter w;
    std::vector<int64_t> numbers;
    for (DType t : v) numbers.push_back(int64_t(t));
    if (!v.empty()) w.packed_varints(6, numbers);
    list(w);
  }
  void operator()(const std::vector<PartialShape>& v) {
    ProtoWriter w;
    for (const auto& s : v) w.bytes(7, wire::encode_shape(s));
    list(w);
  }
  void operator()(const std::vector<Tensor>& v) {
    ProtoWriter w;
    for (const auto& t : v) {
      auto bytes = encode_constant(t);
      if (bytes.ok()) w.bytes(8, *bytes);
      else status = bytes.status();
    }
    list(w);
  }
  void operator()(const std::vector<FunctionAttr>& v) {
    ProtoWriter w;
    for (const auto& f : v) {
      auto bytes = function(f);
      if (bytes.ok()) w.bytes(9, *bytes);
      else status = bytes.status();
    }
    list(w);
  }
};

}  // namespace

Result<AttrValue> decode_attr(std::string_view bytes) { return decode(bytes, 0); }

Result<std::string> encode_attr(const AttrValue& value) {
  Encoder e;
  std::visit(e, value.storage());
  if (!e.status.ok()) return e.status;
  return e.out.take();
}

}  // namespace weft_engine::io
