// TF_OperationGetAttr...: the attributes of finished nodes.
#include <cstring>

#include "capi/graph_internal.h"
#include "io/attr_codec.h"
#include "wire/proto.h"

using namespace weft_engine::capi;  // NOLINT
using weft_engine::graph::Node;
using weft_engine::op::AttrValue;

namespace {

// TensorFlow has two texts for an attribute that is not there.
Result<const AttrValue*> find(TF_Operation* oper, const char* name) {
  WEFT_NOT_NULL(oper);
  WEFT_NOT_NULL(name);
  if (const AttrValue* v = unwrap(oper)->find_attr(name); v && !v->empty()) return v;
  return invalid_argument("Operation '", unwrap(oper)->name(), "' has no attr named '", name, "'.");
}

template <class T>
Result<const T*> typed(TF_Operation* oper, const char* name, std::string_view kind) {
  WEFT_NOT_NULL(oper);
  WEFT_NOT_NULL(name);
  const AttrValue* v = unwrap(oper)->find_attr(name);
  if (!v || v->empty()) {  // the node is not named for internal attributes, which are often absent
    const std::string node = *name == '_' ? "" : cat("\n\t [[{{node ", unwrap(oper)->name(), "}}]]");
    return not_found("No attr named '", name, "' in NodeDef:", node);
  }
  if (const T* t = v->get<T>()) return t;
  static const T& kEmpty = *new T{};
  if (v->get<weft_engine::op::EmptyList>() && kind.starts_with("list(")) return &kEmpty;
  return invalid_argument("AttrValue had value with type '", v->kind(), "' when '", kind, "' expected");
}

template <class T, class Out, class Convert>
void get_one(TF_Operation* oper, const char* name, std::string_view kind, Out* value, TF_Status* status, Convert convert) {
  guard(status, [&]() -> Status {
    WEFT_NOT_NULL(value);
    WEFT_ASSIGN(const T* v, typed<T>(oper, name, kind));
    *value = convert(*v);
    return {};
  });
}

// A list of another kind has, for the reader, no elements of this one.
template <class T, class Out, class Convert>
void get_list(TF_Operation* oper, const char* name, Out* values, int max, TF_Status* status, Convert convert) {
  guard(status, [&]() -> Status {
    WEFT_ASSIGN(const AttrValue* v, find(oper, name));
    if (!v->is_list()) return invalid_argument("Value for '", name, "' is not a list.");
    const auto* list = v->get<std::vector<T>>();
    if (!list || max <= 0) return {};
    WEFT_NOT_NULL(values);
    for (size_t i = 0; i < list->size() && i < size_t(max); ++i) values[i] = convert((*list)[i]);
    return {};
  });
}

TF_AttrType type_of(std::string_view kind) {
  if (kind.starts_with("list(")) kind = kind.substr(5, kind.size() - 6);
  if (kind == "string") return TF_ATTR_STRING;
  if (kind == "float") return TF_ATTR_FLOAT;
  if (kind == "bool") return TF_ATTR_BOOL;
  if (kind == "type") return TF_ATTR_TYPE;
  if (kind == "shape") return TF_ATTR_SHAPE;
  if (kind == "tensor") return TF_ATTR_TENSOR;
  if (kind == "placeholder") return TF_ATTR_PLACEHOLDER;
  if (kind == "func") return TF_ATTR_FUNC;
  return TF_ATTR_INT;
}

struct Sizes {
  int64_t list = -1, total = -1;
};

Sizes sizes_of(const AttrValue& value) {
  return std::visit(
      [](const auto& v) -> Sizes {
        using T = std::decay_t<decltype(v)>;
        if constexpr (std::is_same_v<T, std::string>) {
          return {-1, int64_t(v.size())};
        } else if constexpr (std::is_same_v<T, PartialShape>) {
          return {-1, v.rank()};
        } else if constexpr (std::is_same_v<T, weft_engine::op::EmptyList>) {
          return {0, -1};
        } else if constexpr (requires {
                               typename T::value_type;
                               v.size();
                             }) {
          Sizes s{int64_t(v.size()), -1};
          if constexpr (std::is_same_v<T, std::vector<std::string>>) {
            s.total = 0;
            for (const auto& x : v) s.total += int64_t(x.size());
          } else if constexpr (std::is_same_v<T, std::vector<PartialShape>>) {
            s.total = 0;
            for (const auto& x : v) s.total += std::max(x.rank(), 0);
          }
          return s;
        } else {
          return {};
        }
      },
      value.storage());
}

Result<std::string> encode_shape(const PartialShape& s) {
  WEFT_ASSIGN(std::string attr, weft_engine::io::encode_attr(AttrValue(s)));
  weft_engine::wire::ProtoReader r(attr);
  while (r.next()) {
    if (r.field() == 7) return r.string();
  }
  return std::string();
}

}  // namespace

TF_AttrMetadata TF_OperationGetAttrMetadata(TF_Operation* oper, const char* name, TF_Status* status) {
  TF_AttrMetadata m{};
  m.list_size = m.total_size = -1;
  guard(status, [&]() -> Status {
    WEFT_ASSIGN(const AttrValue* v, find(oper, name));
    const Sizes sizes = sizes_of(*v);
    m.is_list = v->is_list();
    m.list_size = sizes.list;
    m.total_size = m.is_list && sizes.list == 0 ? -1 : sizes.total;
    m.type = type_of(v->kind());
    return {};
  });
  return m;
}

void TF_OperationGetAttrString(TF_Operation* oper, const char* name, void* value, size_t max, TF_Status* status) {
  guard(status, [&]() -> Status {
    WEFT_ASSIGN(const AttrValue* v, find(oper, name));
    const auto* s = v->get<std::string>();
    if (!s) return invalid_argument("Attribute '", name, "' is not a string");
    if (max == 0) return {};
    WEFT_NOT_NULL(value);
    std::memcpy(value, s->data(), std::min(max, s->size()));
    return {};
  });
}

void TF_OperationGetAttrStringList(TF_Operation* oper, const char* name, void** values, size_t* lengths, int max, void* storage, size_t storage_size,
                                   TF_Status* status) {
  guard(status, [&]() -> Status {
    WEFT_ASSIGN(const AttrValue* v, find(oper, name));
    if (!v->is_list()) return invalid_argument("Value for '", name, "' is not a list");
    const auto* list = v->get<std::vector<std::string>>();
    if (!list || max <= 0) return {};
    WEFT_NOT_NULL(values);
    WEFT_NOT_NULL(lengths);
    char* at = static_cast<char*>(storage);
    size_t left = storage ? storage_size : 0;
    for (size_t i = 0; i < list->size() && i < size_t(max); ++i) {
      const std::string& s = (*list)[i];
      if (s.size() > left) return invalid_argument("Not enough storage to hold the requested list of strings");
      values[i] = at;
      lengths[i] = s.size();
      if (!s.empty()) std::memcpy(at, s.data(), s.size());
      at += s.size();
      left -= s.size();
    }
    return {};
  });
}

void TF_OperationGetAttrInt(TF_Operation* o, const char* name, int64_t* value, TF_Status* s) {
  get_one<int64_t>(o, name, "int", value, s, [](int64_t v) { return v; });
}
void TF_OperationGetAttrIntList(TF_Operation* o, const char* name, int64_t* values, int max, TF_Status* s) {
  get_list<int64_t>(o, name, values, max, s, [](int64_t v) { return v; });
}
void TF_OperationGetAttrFloat(TF_Operation* o, const char* name, float* value, TF_Status* s) {
  get_one<float>(o, name, "float", value, s, [](float v) { return v; });
}
void TF_OperationGetAttrFloatList(TF_Operation* o, const char* name, float* values, int max, TF_Status* s) {
  get_list<float>(o, name, values, max, s, [](float v) { return v; });
}
void TF_OperationGetAttrBool(TF_Operation* o, const char* name, unsigned char* value, TF_Status* s) {
  get_one<bool>(o, name, "bool", value, s, [](bool v) { return static_cast<unsigned char>(v); });
}
void TF_OperationGetAttrBoolList(TF_Operation* o, const char* name, unsigned char* values, int max, TF_Status* s) {
  get_list<bool>(o, name, values, max, s, [](bool v) { return static_cast<unsigned char>(v); });
}
void TF_OperationGetAttrType(TF_Operation* o, const char* name, TF_DataType* value, TF_Status* s) {
  get_one<DType>(o, name, "type", value, s, [](DType v) { return static_cast<TF_DataType>(v); });
}
void TF_OperationGetAttrTypeList(TF_Operation* o, const char* name, TF_DataType* values, int max, TF_Status* s) {
  get_list<DType>(o, name, values, max, s, [](DType v) { return static_cast<TF_DataType>(v); });
}

void TF_OperationGetAttrShape(TF_Operation* oper, const char* name, int64_t* value, int num_dims, TF_Status* status) {
  guard(status, [&]() -> Status {
    WEFT_ASSIGN(const PartialShape* s, typed<PartialShape>(oper, name, "shape"));
    if (num_dims <= 0 || s->rank() <= 0) return {};
    WEFT_NOT_NULL(value);
    for (int i = 0; i < num_dims && i < s->rank(); ++i) value[i] = s->dim(i);
    return {};
  });
}

void TF_OperationGetAttrShapeList(TF_Operation* oper, const char* name, int64_t** dims, int* num_dims, int max, int64_t* storage, int storage_size,
                                  TF_Status* status) {
  guard(status, [&]() -> Status {
    WEFT_ASSIGN(const std::vector<PartialShape>* list, typed<std::vector<PartialShape>>(oper, name, "list(shape)"));
    if (list->empty() || max <= 0) return {};
    WEFT_NOT_NULL(dims);
    WEFT_NOT_NULL(num_dims);
    int64_t* at = storage;
    int left = storage ? storage_size : 0;
    for (size_t i = 0; i < list->size() && i < size_t(max); ++i) {
      const PartialShape& s = (*list)[i];
      num_dims[i] = s.rank();
      dims[i] = at;
      if (s.rank() <= 0) continue;
      if (s.rank() > left) return invalid_argument("Not enough storage to hold the requested list of shapes");
      for (int d = 0; d < s.rank(); ++d) *at++ = s.dim(d);
      left -= s.rank();
    }
    return {};
  });
}

void TF_OperationGetAttrTensorShapeProto(TF_Operation* oper, const char* name, TF_Buffer* value, TF_Status* status) {
  guard(status, [&]() -> Status {
    WEFT_ASSIGN(const AttrValue* v, find(oper, name));
    const auto* s = v->get<PartialShape>();
    if (!s) return invalid_argument("Value for '", name, "' is not a shape.");
    WEFT_ASSIGN(std::string bytes, encode_shape(*s));
    return fill_empty_buffer(value, bytes);
  });
}

void TF_OperationGetAttrTensorShapeProtoList(TF_Operation* oper, const char* name, TF_Buffer** values, int max, TF_Status* status) {
  guard(status, [&]() -> Status {
    WEFT_ASSIGN(const AttrValue* v, find(oper, name));
    if (!v->is_list()) return invalid_argument("Value for '", name, "' is not a list");
    const auto* list = v->get<std::vector<PartialShape>>();
    if (!list || max <= 0) return {};
    WEFT_NOT_NULL(values);
    std::vector<std::string> messages;
    for (size_t i = 0; i < list->size() && i < size_t(max); ++i) {
      WEFT_ASSIGN(std::string bytes, encode_shape((*list)[i]));
      messages.push_back(std::move(bytes));
    }
    for (size_t i = 0; i < messages.size(); ++i) values[i] = new_buffer(messages[i]);
    return {};
  });
}

// The caller gets memory of its own: it may write into the tensor.
void TF_OperationGetAttrTensor(TF_Operation* oper, const char* name, TF_Tensor** value, TF_Status* status) {
  guard(status, [&]() -> Status {
    WEFT_NOT_NULL(value);
    *value = nullptr;
    WEFT_ASSIGN(const Tensor* t, typed<Tensor>(oper, name, "tensor"));
    WEFT_ASSIGN(Tensor copy, t->copy());
    *value = new TF_Tensor{std::move(copy)};
    return {};
  });
}

void TF_OperationGetAttrTensorList(TF_Operation* oper, const char* name, TF_Tensor** values, int max, TF_Status* status) {
  guard(status, [&]() -> Status {
    WEFT_ASSIGN(const std::vector<Tensor>* list, typed<std::vector<Tensor>>(oper, name, "list(tensor)"));
    if (list->empty() || max <= 0) return {};
    WEFT_NOT_NULL(values);
    std::vector<Tensor> copies;
    for (size_t i = 0; i < list->size() && i < size_t(max); ++i) {
      WEFT_ASSIGN(Tensor copy, (*list)[i].copy());
      copies.push_back(std::move(copy));
    }
    for (size_t i = 0; i < copies.size(); ++i) values[i] = new TF_Tensor{std::move(copies[i])};
    return {};
  });
}

void TF_OperationGetAttrValueProto(TF_Operation* oper, const char* name, TF_Buffer* buffer, TF_Status* status) {
  guard(status, [&]() -> Status {
    WEFT_ASSIGN(const AttrValue* v, find(oper, name));
    WEFT_ASSIGN(std::string bytes, weft_engine::io::encode_attr(*v));
    return fill_empty_buffer(buffer, bytes);
  });
}

// ---- By number, in the order of names ----

int TF_OperationGetNumAttrs(TF_Operation* oper) {
  if (!oper) return 0;
  int n = 0;
  guard(nullptr, [&]() -> Status {
    n = int(weft_engine::graph::attrs_of(*unwrap(oper)).size());
    return {};
  });
  return n;
}

namespace {

Result<std::string> attr_name(TF_Operation* oper, int i) {
  WEFT_NOT_NULL(oper);
  const auto attrs = weft_engine::graph::attrs_of(*unwrap(oper));
  if (i < 0 || size_t(i) >= attrs.size()) return out_of_range("Operation only has ", attrs.size(), " attributes, can't get the ", i, "th");
  return std::next(attrs.begin(), i)->first;
}

}  // namespace

int TF_OperationGetAttrNameLength(TF_Operation* oper, int i) {
  int n = 0;
  guard(nullptr, [&]() -> Status {
    WEFT_ASSIGN(std::string name, attr_name(oper, i));
    n = int(name.size());
    return {};
  });
  return n;
}

void TF_OperationGetAttrName(TF_Operation* oper, int i, char* output, TF_Status* status) {
  guard(status, [&]() -> Status {
    WEFT_NOT_NULL(output);
    WEFT_ASSIGN(std::string name, attr_name(oper, i));
    std::memcpy(output, name.data(), name.size());
    return {};
  });
}
