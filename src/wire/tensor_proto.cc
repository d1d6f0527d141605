#include "wire/tensor_proto.h"

#include <algorithm>

#include "core/resource.h"
#include "wire/proto.h"
#include "wire/variant_data.h"
#include "wire/varint.h"

namespace weft_engine::wire {
namespace {

using namespace weft_engine::core;

// The typed value lists of a TensorProto, by what they hold.
struct Lists {
  std::vector<uint32_t> half;       // 13
  std::vector<float> f;             // 5
  std::vector<double> d;            // 6
  std::vector<int64_t> i;           // 7 int_val, 10 int64_val, 11 bool_val, 16 uint32_val, 17 uint64_val
  std::vector<std::string_view> s;  // 8
  std::vector<float> c;             // 9, pairs
  std::vector<double> z;            // 12, pairs
  std::vector<std::string_view> h;  // 14
  std::vector<std::string_view> v;  // 15
  std::string_view float8;          // 18
};

// Fewer values than elements: the last one fills the rest. None at all: zeros.
template <class T, class V, class Convert>
Status fill(Tensor& t, const V& values, Convert convert) {
  T* out = t.data<T>();
  const int64_t n = t.num_elements(), have = int64_t(values.size());
  if (have > n) return invalid_argument("TensorProto has ", have, " values for a tensor of ", n, " elements");
  for (int64_t i = 0; i < have; ++i) out[i] = convert(values[size_t(i)]);
  const T last = have ? out[have - 1] : T();
  std::fill(out + have, out + n, last);
  return {};
}

template <class T>
Status fill_int(Tensor& t, const Lists& l) {
  return fill<T>(t, l.i, [](int64_t v) { return T(v); });
}

template <class T, class Part>
Status fill_complex(Tensor& t, const std::vector<Part>& parts) {
  if (parts.size() % 2) return invalid_argument("TensorProto has half a complex number");
  std::vector<T> values;
  for (size_t i = 0; i < parts.size(); i += 2) values.emplace_back(parts[i], parts[i + 1]);
  return fill<T>(t, values, [](T v) { return v; });
}

// ResourceHandleProto.
ResourceHandle handle_of(std::string_view bytes) {
  auto info = std::make_shared<ResourceHandle::Info>();
  ProtoReader r(bytes);
  while (r.next()) {
    switch (r.field()) {
      case 1: info->device = r.string(); break;
      case 2: info->container = r.string(); break;
      case 3: info->name = r.string(); break;
      case 4: info->hash_code = r.varint(); break;
      case 5: info->type_name = r.string(); break;
      default: break;
    }
  }
  return ResourceHandle(std::move(info));
}

Status fill_from_lists(Tensor& t, const Lists& l) {
  switch (t.dtype()) {
    case DType::kFloat: return fill<float>(t, l.f, [](float v) { return v; });
    case DType::kDouble: return fill<double>(t, l.d, [](double v) { return v; });
    case DType::kHalf: return fill<uint16_t>(t, l.half, [](uint32_t v) { return uint16_t(v); });
    case DType::kBfloat16: return fill<uint16_t>(t, l.half, [](uint32_t v) { return uint16_t(v); });
    case DType::kString: return fill<tstring>(t, l.s, [](std::string_view v) { return tstring(v); });
    case DType::kComplex64: return fill_complex<complex64>(t, l.c);
    case DType::kComplex128: return fill_complex<complex128>(t, l.z);
    case DType::kInt64:
    case DType::kUint64: return fill_int<int64_t>(t, l);
    case DType::kInt32:
    case DType::kUint32:
    case DType::kQint32: return fill_int<int32_t>(t, l);
    case DType::kInt16:
    case DType::kUint16:
    case DType::kQint16:
    case DType::kQuint16: return fill_int<int16_t>(t, l);
    case DType::kInt8:
    case DType::kUint8:
    case DType::kQint8:
    case DType::kQuint8:
    case DType::kInt4:
    case DType::kUint4:
    case DType::kInt2:
    case DType::kUint2: return fill_int<int8_t>(t, l);
    case DType::kBool: return fill<bool>(t, l.i, [](int64_t v) { return v != 0; });
    case DType::kFloat8E5m2:
    case DType::kFloat8E4m3fn:
    case DType::kFloat8E4m3fnuz:
    case DType::kFloat8E4m3b11fnuz:
    case DType::kFloat8E5m2fnuz:
    case DType::kFloat4E2m1fn: return fill<uint8_t>(t, l.float8, [](char v) { return uint8_t(v); });
    case DType::kResource: {
      // A handle by name alone: who uses it must find a resource under that name.
      if (int64_t(l.h.size()) != t.num_elements())
        return invalid_argument("TensorProto has ", l.h.size(), " values for a tensor of ", t.num_elements(), " elements");
      return fill<ResourceHandle>(t, l.h, handle_of);
    }
    default: return unimplemented("a TensorProto of type ", dtype_name(t.dtype()), " cannot be read");
  }
}

}  // namespace

Result<PartialShape> decode_shape(std::string_view bytes) {
  ProtoReader r(bytes);
  std::vector<int64_t> dims;
  bool unknown = false;
  while (r.next()) {
    if (r.field() == 2) {
      ProtoReader d = r.message();
      int64_t size = 0;
      while (d.next()) {
        if (d.field() == 1) size = d.int64();
      }
      if (!d.ok()) return invalid_argument("malformed TensorShapeProto");
      if (size < -1) return invalid_argument("Shape [", join(dims), dims.empty() ? "" : ",", size, "] has negative dimensions");
      dims.push_back(size);
    } else if (r.field() == 3) {
      unknown = r.boolean();
    }
  }
  if (!r.ok()) return invalid_argument("malformed TensorShapeProto");
  if (unknown) return PartialShape::unknown();
  if (dims.size() > size_t(kMaxRank)) return invalid_argument("a shape may have at most ", kMaxRank, " dimensions, not ", dims.size());
  return PartialShape(std::move(dims));
}

std::string encode_shape(const PartialShape& s) {
  ProtoWriter w;
  if (!s.has_rank()) {
    w.boolean(3, true);
    return w.take();
  }
  for (int64_t d : s.dims()) {
    ProtoWriter dim;
    if (d) dim.int64(1, d);
    w.message(2, dim);
  }
  return w.take();
}

namespace {

// The n texts of a tensor_content: the varint lengths of all, then the bytes of all.
bool split_content(std::string_view content, int64_t n, std::vector<std::string_view>& out) {
  std::vector<uint64_t> lengths;
  for (int64_t i = 0; i < n; ++i) {
    uint64_t length = 0;
    if (!take_varint(content, length)) return false;
    lengths.push_back(length);
  }
  for (uint64_t length : lengths) {
    if (length > content.size()) return false;
    out.push_back(content.substr(0, length));
    content.remove_prefix(length);
  }
  return content.empty();
}

Result<Tensor> decode_variants(const Shape& shape, std::string_view content, std::vector<std::string_view> messages, const VariantCodec& codec) {
  const int64_t n = shape.num_elements();
  if (!content.empty() && !split_content(content, n, messages)) return invalid_argument("TensorProto has malformed variant content");
  if (int64_t(messages.size()) != n) return invalid_argument("TensorProto has ", messages.size(), " variants for a tensor of ", n, " elements");
  WEFT_ASSIGN(Tensor t, Tensor::allocate(DType::kVariant, shape));
  for (size_t i = 0; i < messages.size(); ++i) {
    WEFT_ASSIGN(EncodedVariant v, EncodedVariant::parse(messages[i]));
    WEFT_ASSIGN(t.data<Variant>()[i], codec.decode(std::move(v)));
  }
  return t;
}

}  // namespace

Result<Tensor> decode_tensor(std::string_view bytes, const VariantCodec* variants) {
  ProtoReader r(bytes);
  int dtype_number = 0;
  PartialShape shape = PartialShape::scalar();
  std::string_view content;
  Lists l;
  while (r.next()) {
    switch (r.field()) {
      case 1: dtype_number = r.int32(); break;
      case 2: {
        WEFT_ASSIGN(PartialShape read, decode_shape(r.bytes()));
        shape = std::move(read);
        break;
      }
      case 4: content = r.bytes(); break;
      case 5: r.append_fixed(l.f); break;
      case 6: r.append_fixed(l.d); break;
      case 7:
      case 10:
      case 11:
      case 16:
      case 17: r.append_varints(l.i); break;
      case 8: l.s.push_back(r.bytes()); break;
      case 9: r.append_fixed(l.c); break;
      case 12: r.append_fixed(l.z); break;
      case 13: r.append_varints(l.half); break;
      case 14: l.h.push_back(r.bytes()); break;
      case 15: l.v.push_back(r.bytes()); break;
      case 18: l.float8 = r.bytes(); break;
      default: break;
    }
  }
  if (!r.ok()) return invalid_argument("malformed TensorProto");
  if (!is_valid_dtype(dtype_number) || dtype_number > kRefOffset) return invalid_argument("TensorProto has an invalid type ", dtype_number);
  const auto dtype = static_cast<DType>(dtype_number);
  if (!shape.fully_known()) return invalid_argument("TensorProto has a shape that is not fully known: ", shape);
  WEFT_ASSIGN(Shape concrete, Shape::make(shape.dims()));
  if (dtype == DType::kVariant && variants) return decode_variants(concrete, content, std::move(l.v), *variants);
  // A short message must not make us reserve gigabytes: what is filled from one repeated value is
  // limited by the allocator alone.
  const int64_t bytes_needed = multiply_without_overflow(concrete.num_elements(), int64_t(dtype_size(dtype)));
  if (!content.empty() && is_simple(dtype) && int64_t(content.size()) != bytes_needed)
    return invalid_argument("TensorProto has ", content.size(), " bytes of content where ", bytes_needed, " are needed");
  WEFT_ASSIGN(Tensor t, Tensor::allocate(dtype, concrete));
  if (!content.empty() && is_simple(dtype)) {
    std::memcpy(t.raw(), content.data(), content.size());
    return t;
  }
  if (!content.empty() && dtype == DType::kString) {
    std::vector<std::string_view> texts;
    if (!split_content(content, t.num_elements(), texts)) return invalid_argument("TensorProto has malformed string content");
    for (size_t i = 0; i < texts.size(); ++i) t.data<tstring>()[i].assign(texts[i]);
    return t;
  }
  if (!content.empty() && dtype == DType::kResource) {
    l.h.clear();
    if (!split_content(content, t.num_elements(), l.h)) return invalid_argument("TensorProto has malformed resource content");
  }
  WEFT_RETURN_IF_ERROR(fill_from_lists(t, l));
  return t;
}

Result<std::string> encode_tensor_content(const Tensor& t, const VariantCodec* variants) {
  const bool of_variants = variants && t.dtype() == DType::kVariant;
  if (!of_variants && (t.dtype() != DType::kString || t.num_elements() == 0)) return encode_tensor(t);
  ProtoWriter lengths, w;
  std::string texts;
  if (of_variants) {
    for (const Variant& v : t.span<Variant>()) {
      WEFT_ASSIGN(EncodedVariant encoded, variants->encode(v));
      WEFT_ASSIGN(std::string message, encoded.to_string());
      lengths.raw_varint(message.size());
      texts += message;
    }
  } else {
    for (const tstring& s : t.span<tstring>()) {
      lengths.raw_varint(s.size());
      texts += s.view();
    }
  }
  const std::string content = lengths.take() + texts;
  w.varint(1, uint64_t(t.dtype()));
  w.bytes(2, encode_shape(t.shape()));
  w.bytes(4, content);
  return w.take();
}

Result<std::string> encode_tensor(const Tensor& t) {
  ProtoWriter w;
  w.varint(1, uint64_t(t.dtype()));
  w.bytes(2, encode_shape(t.shape()));
  if (t.dtype() == DType::kString) {
    for (const tstring& s : t.span<tstring>()) w.bytes(8, s.view());
  } else if (is_simple(t.dtype())) {
    if (t.byte_size()) w.bytes(4, std::string_view(t.data<char>(), t.byte_size()));
  } else if (t.dtype() == DType::kResource) {
    for (const ResourceHandle& h : t.span<ResourceHandle>()) {
      // Another process finds a resource by its name.
      if (!h.info() || h.info()->name.empty() || h.info()->anonymous) return unimplemented("a resource without a name cannot be serialized");
      ProtoWriter m;
      m.bytes(1, h.info()->device);
      m.bytes(2, h.info()->container);
      m.bytes(3, h.info()->name);
      m.varint(4, h.info()->hash_code);
      m.bytes(5, h.info()->type_name);
      w.message(14, m);
    }
  } else {
    return unimplemented("a tensor of type ", dtype_name(t.dtype()), " cannot be serialized");
  }
  return w.take();
}

}  // namespace weft_engine::wire
