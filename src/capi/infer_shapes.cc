// Asking about ops without running them: shapes by the op's rule, and whether a device has a kernel.
#include "capi/internal.h"
#include "op/shape_context.h"
#include "tensorflow/c/c_api_experimental.h"

using namespace weft_engine::capi;  // NOLINT
using weft_engine::op::AttrValue;
using weft_engine::op::NodeInfo;

// ---- Lists of shapes: plain structs that clients read ----

namespace {

TF_ShapeAndType* item(TF_ShapeAndTypeList* list, int i) { return list && i >= 0 && i < list->num_items ? &list->items[i] : nullptr; }

void forget(TF_ShapeAndType& s) {
  delete[] s.dims;
  s.dims = nullptr;
  s.num_dims = -1;
}

}  // namespace

TF_ShapeAndTypeList* TF_NewShapeAndTypeList(int n) {
  return guard_pointer<TF_ShapeAndTypeList>([&] {
    n = std::max(n, 0);
    auto items = std::make_unique<TF_ShapeAndType[]>(size_t(n));
    for (int i = 0; i < n; ++i) items[size_t(i)] = {-1, nullptr, static_cast<TF_DataType>(0)};
    return new TF_ShapeAndTypeList{n, items.release()};
  });
}
void TF_ShapeAndTypeListSetShape(TF_ShapeAndTypeList* list, int i, const int64_t* dims, int num_dims) {
  TF_ShapeAndType* s = item(list, i);
  if (!s || (num_dims > 0 && !dims)) return;
  guard(nullptr, [&]() -> Status {
    auto copy = std::make_unique<int64_t[]>(size_t(std::max(num_dims, 1)));
    for (int d = 0; d < num_dims; ++d) copy[size_t(d)] = dims[d];
    forget(*s);
    if (num_dims < 0) return {};
    s->num_dims = num_dims;
    s->dims = copy.release();
    return {};
  });
}
void TF_ShapeAndTypeListSetUnknownShape(TF_ShapeAndTypeList* list, int i) {
  if (TF_ShapeAndType* s = item(list, i)) forget(*s);
}
void TF_ShapeAndTypeListSetDtype(TF_ShapeAndTypeList* list, int i, TF_DataType type) {
  if (TF_ShapeAndType* s = item(list, i)) s->dtype = type;
}
void TF_DeleteShapeAndTypeList(TF_ShapeAndTypeList* list) {
  if (!list) return;
  for (int i = 0; i < list->num_items; ++i) delete[] list->items[i].dims;
  delete[] list->items;
  delete list;
}
void TF_DeleteShapeAndTypeListArray(TF_ShapeAndTypeList** lists, int n) {
  if (!lists) return;
  for (int i = 0; i < n; ++i) TF_DeleteShapeAndTypeList(lists[i]);
  delete[] lists;
}

// ---- Shapes ----

namespace {

// Types that the caller left open follow from the signature, where an attribute or the op fixes them.
std::vector<DType> input_types(const TFE_Op& op, const TF_ShapeAndTypeList& in) {
  std::vector<DType> types;
  for (int i = 0; i < in.num_items; ++i) types.push_back(static_cast<DType>(in.items[i].dtype));
  const auto& sig = op.op.spec()->signature();
  for (size_t i = 0; i < types.size() && i < sig.inputs.size(); ++i) {
    const auto& arg = sig.inputs[i];
    if (arg.number_attr >= 0 || arg.type_list_attr >= 0) break;  // from here on positions are not arguments
    if (types[i] != DType::kInvalid) continue;
    if (arg.type_attr < 0) types[i] = arg.type;
    for (const auto& [name, value] : op.op.attrs()) {
      if (arg.type_attr >= 0 && name == sig.attrs[size_t(arg.type_attr)].name && value.get<DType>()) types[i] = *value.get<DType>();
    }
  }
  return types;
}

}  // namespace

void TFE_InferShapes(TFE_Op* op, TF_ShapeAndTypeList* input_shapes, TF_Tensor** input_tensors, TF_ShapeAndTypeList*,
                     TF_ShapeAndTypeList** input_handles, TF_ShapeAndTypeList** output_shapes, TF_ShapeAndTypeList*** output_handles,
                     TF_Status* status) {
  guard(status, [&]() -> Status {
    WEFT_RETURN_IF_ERROR(check_op(op));
    WEFT_NOT_NULL(op->op.spec());
    WEFT_NOT_NULL(input_shapes);
    WEFT_NOT_NULL(output_shapes);
    *output_shapes = nullptr;
    if (output_handles) *output_handles = nullptr;
    if (input_handles) return unimplemented("TFE_InferShapes: the shapes behind resources are not taken");
    weft_engine::op::AttrMap attrs;
    for (const auto& [name, value] : op->op.attrs()) attrs[name] = value;
    WEFT_ASSIGN(NodeInfo node, NodeInfo::make(*op->op.spec(), std::string(), std::move(attrs), input_types(*op, *input_shapes)));
    std::vector<PartialShape> shapes;
    std::vector<const Tensor*> constants;
    for (int i = 0; i < input_shapes->num_items; ++i) {
      const TF_ShapeAndType& s = input_shapes->items[i];
      if (s.num_dims > kMaxRank) return invalid_argument("input ", i, " has ", s.num_dims, " dimensions, more than ", kMaxRank);
      shapes.push_back(partial_shape_from(s.dims, s.num_dims));
      constants.push_back(input_tensors && input_tensors[i] ? &input_tensors[i]->tensor : nullptr);
    }
    weft_engine::op::ShapeContext c(node, std::move(shapes), std::move(constants));
    WEFT_RETURN_IF_ERROR(op->op.spec()->infer_shapes(c));
    auto* out = TF_NewShapeAndTypeList(c.num_outputs());
    if (!out) return resource_exhausted("out of memory");
    for (int i = 0; i < c.num_outputs(); ++i) {
      const PartialShape& s = c.outputs()[size_t(i)];
      std::vector<int64_t> dims;
      for (int d = 0; d < s.rank(); ++d) dims.push_back(s.dim(d));
      TF_ShapeAndTypeListSetShape(out, i, dims.data(), s.rank());
      TF_ShapeAndTypeListSetDtype(out, i, static_cast<TF_DataType>(node.output_types()[size_t(i)]));
    }
    *output_shapes = out;
    return {};
  });
}

// ---- Kernels for attributes ----

struct TF_AttrBuilder {
  std::string op;
  std::map<std::string, AttrValue, std::less<>> attrs;
};

TF_AttrBuilder* TF_NewAttrBuilder(const char* op) {
  return guard_pointer<TF_AttrBuilder>([&] { return new TF_AttrBuilder{op ? op : "", {}}; });
}
void TF_DeleteAttrBuilder(TF_AttrBuilder* b) { delete b; }
// As in TensorFlow, the first value of a name stays.
void TF_AttrBuilderSetType(TF_AttrBuilder* b, const char* name, TF_DataType value) {
  if (!b || !name) return;
  guard(nullptr, [&]() -> Status {
    b->attrs.emplace(name, AttrValue(static_cast<DType>(value)));
    return {};
  });
}
void TF_AttrBuilderSetTypeList(TF_AttrBuilder* b, const char* name, const TF_DataType* values, int n) {
  if (!b || !name || (n > 0 && !values)) return;
  guard(nullptr, [&]() -> Status {
    std::vector<DType> list;
    for (int i = 0; i < n; ++i) list.push_back(static_cast<DType>(values[i]));
    b->attrs.emplace(name, AttrValue(std::move(list)));
    return {};
  });
}
void TF_AttrBuilderCheckCanRunOnDevice(TF_AttrBuilder* b, const char* device_type, TF_Status* status) {
  guard(status, [&]() -> Status {
    WEFT_NOT_NULL(b);
    WEFT_NOT_NULL(device_type);
    auto& registry = weft_engine::engine::Engine::get().registry();
    WEFT_ASSIGN(const weft_engine::op::OpSpec* spec, registry.get(b->op));
    for (const auto& kernel : registry.kernels(*spec)) {
      if (kernel.device_type != device_type) continue;
      const bool fits = std::all_of(kernel.constraints.begin(), kernel.constraints.end(), [&](const weft_engine::op::TypeConstraint& c) {
        auto it = b->attrs.find(c.attr);
        const DType* t = it == b->attrs.end() ? nullptr : it->second.get<DType>();
        return !t || std::find(c.types.begin(), c.types.end(), *t) != c.types.end();
      });
      if (fits) return {};
    }
    return not_found("No registered '", b->op, "' OpKernel for ", device_type, " devices compatible with the given attributes");
  });
}
