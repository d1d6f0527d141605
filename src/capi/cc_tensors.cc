// Tensors, resource handles, nodes and attributes for TensorFlow's C++ headers (tensorflow/core/weft_abi.h).
#include "capi/cc_internal.h"
#include "core/resource.h"
#include "core/variant.h"
#include "core/hash64.h"
#include "io/attr_codec.h"
#include "kernels/cpu/hash.h"
#include "op/tensor_variant.h"
#include "wire/crc32c.h"

using namespace weft_engine::capi;  // NOLINT
using weft_engine::op::AttrValue;
using weft_engine::op::FunctionAttr;

// ---- Tensors ----

void weft_tensor_describe(const TF_Tensor* t, weft_tensor_info* info) { *info = info_of(t->tensor); }
TF_Status* weft_tensor_allocate(int dtype, weft_dims shape, TF_Tensor** out) {
  return returned(caught([&]() -> Status {
    WEFT_ASSIGN(DType type, dtype_from(static_cast<TF_DataType>(dtype)));
    WEFT_ASSIGN(Shape s, shape_from(shape.dims, shape.rank));
    WEFT_ASSIGN(Tensor t, Tensor::allocate(type, s));
    *out = new TF_Tensor{std::move(t)};
    return {};
  }));
}
TF_Tensor* weft_tensor_share(const TF_Tensor* t) { return new TF_Tensor{t->tensor}; }
TF_Tensor* weft_tensor_view(const TF_Tensor* t, int dtype, weft_dims dims) {
  const Tensor& from = t->tensor;
  auto shape = shape_from(dims.dims, dims.rank);
  auto type = dtype_from(static_cast<TF_DataType>(dtype));
  if (!shape.ok() || !type.ok()) return nullptr;
  if (*type == from.dtype()) return shape->num_elements() == from.num_elements() ? new TF_Tensor{from.reshaped(std::move(shape).value())} : nullptr;
  const int64_t bytes = multiply_without_overflow(shape->num_elements(), int64_t(dtype_size(*type)));
  if (!is_simple(*type) || !is_simple(from.dtype()) || bytes < 0 || size_t(bytes) != from.byte_size()) return nullptr;
  return new TF_Tensor{from.viewed_as(*type, std::move(shape).value())};
}
TF_Tensor* weft_tensor_rows(const TF_Tensor* t, int64_t begin, int64_t end) {
  if (t->tensor.rank() < 1 || begin < 0 || end < begin || end > t->tensor.dim(0)) return nullptr;
  return new TF_Tensor{t->tensor.slice_rows(begin, end)};
}
TF_Status* weft_tensor_copy(const TF_Tensor* t, TF_Tensor** out) {
  return returned(caught([&]() -> Status {
    WEFT_ASSIGN(Tensor copy, t->tensor.copy());
    *out = new TF_Tensor{std::move(copy)};
    return {};
  }));
}
int weft_tensor_unique(const TF_Tensor* t) { return t->tensor.unique(); }
int weft_tensor_valid(const TF_Tensor* t) { return t->tensor.valid(); }
int weft_tensor_assign(TF_Tensor* to, const TF_Tensor* from) {
  if (from && to->tensor.valid() && to->tensor.dtype() != from->tensor.dtype()) return 0;
  to->tensor = from ? from->tensor : Tensor();
  return 1;
}
TF_Buffer* weft_tensor_summary(const TF_Tensor* t, int64_t limit) { return new_buffer(t->tensor.summary(limit)); }

// ---- Resource handles ----

namespace {

ResourceHandle& handle_at(void* p) { return *static_cast<ResourceHandle*>(p); }
const ResourceHandle& handle_at(const void* p) { return *static_cast<const ResourceHandle*>(p); }

// Infos are shared and not changed: a changed one is another.
template <class F>
void change_handle(void* p, F&& f) {
  auto info = handle_at(p).info() ? std::make_shared<ResourceHandle::Info>(*handle_at(p).info()) : std::make_shared<ResourceHandle::Info>();
  info->resource = nullptr;  // another name is another object
  f(*info);
  handle_at(p) = ResourceHandle(std::move(info));
}

template <class Info>
auto& text_in(Info& info, int which) {
  switch (which) {
    case WEFT_HANDLE_DEVICE: return info.device;
    case WEFT_HANDLE_CONTAINER: return info.container;
    case WEFT_HANDLE_NAME: return info.name;
    default: return info.type_name;
  }
}

}  // namespace

void weft_handle_copy(void* to, const void* from) { handle_at(to) = handle_at(from); }
void weft_handle_destroy(void* p) { handle_at(p) = ResourceHandle(); }
weft_text weft_handle_text(const void* p, int which) {
  const auto* info = handle_at(p).info();
  return info ? text_of(text_in(*info, which)) : weft_text{"", 0};
}
void weft_handle_set_text(void* p, int which, weft_text text) {
  change_handle(p, [&](ResourceHandle::Info& info) { text_in(info, which) = string_of(text); });
}
uint64_t weft_handle_hash(const void* p) { return handle_at(p).info() ? handle_at(p).info()->hash_code : 0; }
void weft_handle_set_hash(void* p, uint64_t hash) {
  change_handle(p, [&](ResourceHandle::Info& info) { info.hash_code = hash; });
}

// ---- Variants ----

namespace {

// An object of a type of the program. Variants share it; who changes one copies it before.
class CcVariant final : public VariantObject {
 public:
  CcVariant(std::string type, void* object, const weft_variant_functions& f) : type(std::move(type)), object(object), f(f) {}
  ~CcVariant() override {
    (void)caught([&] { return f.destroy(object), Status(); });
  }
  std::string type_name() const override { return string_of(f.type_name); }
  const std::string type;
  void* const object;
  const weft_variant_functions& f;
};

Variant& variant_at(void* p) { return *static_cast<Variant*>(p); }
const Variant& variant_at(const void* p) { return *static_cast<const Variant*>(p); }
const CcVariant* object_of(const void* p, weft_text type) {
  const auto* ours = variant_at(p).get<CcVariant>();
  return ours && ours->type == view_of(type) ? ours : nullptr;
}

}  // namespace

void weft_variant_copy(void* to, const void* from) { variant_at(to) = variant_at(from); }
void weft_variant_destroy(void* v) { variant_at(v) = Variant(); }
void weft_variant_set(void* v, weft_text type, void* object, const weft_variant_functions* f) {
  variant_at(v) = Variant(std::make_shared<const CcVariant>(string_of(type), object, *f));
}
const void* weft_variant_get(const void* v, weft_text type) {
  const CcVariant* ours = object_of(v, type);
  return ours ? ours->object : nullptr;
}
void* weft_variant_own(void* v, weft_text type) {
  const CcVariant* ours = object_of(v, type);
  if (!ours) return nullptr;
  if (variant_at(v).share<CcVariant>().use_count() > 2) {  // this variant and the copy that was asked
    void* copy = ours->f.copy(ours->object);
    if (!copy) return nullptr;
    weft_variant_set(v, type, copy, &ours->f);
    ours = object_of(v, type);
  }
  return ours->object;
}
weft_text weft_variant_type_name(const void* v) {
  if (variant_at(v).empty()) return {"", 0};
  if (const auto* ours = variant_at(v).get<CcVariant>()) return ours->f.type_name;
  static thread_local std::string name;
  name = variant_at(v).type_name();
  return text_of(name);
}
void weft_variant_set_tensor(void* v, const TF_Tensor* t) { variant_at(v) = weft_engine::op::wrap_tensor(t ? t->tensor : Tensor()); }
const TF_Tensor* weft_variant_tensor(const void* v) { return as_c(weft_engine::op::unwrap_tensor(variant_at(v))); }

uint64_t weft_hash64(weft_text text, uint64_t seed) { return weft_engine::core::hash64(view_of(text), seed); }
uint64_t weft_fingerprint64(weft_text text) { return weft_engine::kernels::fingerprint64(view_of(text)); }
uint32_t weft_crc32c(uint32_t crc, weft_text text) { return weft_engine::wire::crc32c_extend(crc, text.data, text.size); }

// ---- Nodes ----

weft_text weft_node_name(const weft_node* n) { return text_of(node_of(n).name()); }
weft_text weft_node_op(const weft_node* n) { return text_of(node_of(n).op()); }
int weft_node_num_inputs(const weft_node* n) { return node_of(n).num_inputs(); }
int weft_node_num_outputs(const weft_node* n) { return node_of(n).num_outputs(); }
int weft_node_input_type(const weft_node* n, int i) { return int(node_of(n).input_types()[size_t(i)]); }
int weft_node_output_type(const weft_node* n, int i) { return int(node_of(n).output_types()[size_t(i)]); }
int weft_node_range(const weft_node* n, int outputs, weft_text name, int* begin, int* end) {
  const auto& node = node_of(n);
  const auto& args = outputs ? node.spec().signature().outputs : node.spec().signature().inputs;
  for (size_t i = 0; i < args.size(); ++i) {
    if (args[i].name != view_of(name)) continue;
    const auto range = outputs ? node.output_range(int(i)) : node.input_range(int(i));
    *begin = range.begin;
    *end = range.end;
    return 1;
  }
  return 0;
}
size_t weft_node_num_attrs(const weft_node* n) { return node_of(n).spec().signature().attrs.size(); }
weft_text weft_node_attr_name(const weft_node* n, size_t i) { return text_of(node_of(n).spec().signature().attrs[i].name); }
const weft_attr* weft_node_attr(const weft_node* n, weft_text name) {
  return reinterpret_cast<const weft_attr*>(node_of(n).find_attr(view_of(name)));
}

// ---- Attributes ----

namespace {

const AttrValue& attr_at(const weft_attr* a) { return *reinterpret_cast<const AttrValue*>(a); }

// The value, or the element of the list.
template <class T>
const T* element(const weft_attr* a, size_t i) {
  if (const T* v = attr_at(a).get<T>()) return i == 0 ? v : nullptr;
  const auto* list = attr_at(a).get<std::vector<T>>();
  return list && i < list->size() ? &(*list)[i] : nullptr;
}

template <class T>
constexpr int kind_of = WEFT_ATTR_NONE;
template <>
constexpr int kind_of<int64_t> = WEFT_ATTR_INT;
template <>
constexpr int kind_of<float> = WEFT_ATTR_FLOAT;
template <>
constexpr int kind_of<bool> = WEFT_ATTR_BOOL;
template <>
constexpr int kind_of<std::string> = WEFT_ATTR_STRING;
template <>
constexpr int kind_of<DType> = WEFT_ATTR_TYPE;
template <>
constexpr int kind_of<PartialShape> = WEFT_ATTR_SHAPE;
template <>
constexpr int kind_of<Tensor> = WEFT_ATTR_TENSOR;
template <>
constexpr int kind_of<FunctionAttr> = WEFT_ATTR_FUNC;
template <>
constexpr int kind_of<weft_engine::op::EmptyList> = WEFT_ATTR_LIST;
template <class T>
constexpr int kind_of<std::vector<T>> = WEFT_ATTR_LIST + kind_of<T>;

}  // namespace

int weft_attr_kind(const weft_attr* a) {
  return std::visit([](const auto& v) { return kind_of<std::decay_t<decltype(v)>>; }, attr_at(a).storage());
}
size_t weft_attr_size(const weft_attr* a) {
  return std::visit(
      [](const auto& v) -> size_t {
        using T = std::decay_t<decltype(v)>;
        if constexpr (kind_of<T> == WEFT_ATTR_LIST) return 0;
        if constexpr (kind_of<T> > WEFT_ATTR_LIST) return v.size();
        return 1;
      },
      attr_at(a).storage());
}
weft_text weft_attr_kind_name(const weft_attr* a) { return text_of(attr_at(a).kind()); }
int64_t weft_attr_int(const weft_attr* a, size_t i) {
  if (const int64_t* v = element<int64_t>(a, i)) return *v;
  if (const DType* v = element<DType>(a, i)) return int64_t(*v);
  if (const bool* v = attr_at(a).get<bool>()) return *v;
  const auto* bits = attr_at(a).get<std::vector<bool>>();
  return bits && i < bits->size() && (*bits)[i];
}
float weft_attr_float(const weft_attr* a, size_t i) {
  const float* v = element<float>(a, i);
  return v ? *v : 0.f;
}
weft_text weft_attr_text(const weft_attr* a, size_t i) {
  if (const std::string* v = element<std::string>(a, i)) return text_of(*v);
  const FunctionAttr* f = element<FunctionAttr>(a, i);
  return f ? text_of(f->name) : weft_text{"", 0};
}
weft_dims weft_attr_dims(const weft_attr* a, size_t i) {
  const PartialShape* v = element<PartialShape>(a, i);
  return v ? dims_of(*v) : weft_dims{nullptr, -1};
}
const TF_Tensor* weft_attr_tensor(const weft_attr* a, size_t i) { return as_c(element<Tensor>(a, i)); }
TF_Buffer* weft_attr_bytes(const weft_attr* a) {
  auto bytes = weft_engine::io::encode_attr(attr_at(a));
  return new_buffer(bytes.ok() ? *bytes : std::string());
}
