// ops.h: ops that a program or a loaded library defines.
#include "capi/cc_internal.h"
#include "capi/internal.h"
#include "tensorflow/c/ops.h"

using namespace weft_engine::capi;  // NOLINT
using weft_engine::op::ShapeContext;

struct TF_OpDefinitionBuilder {
  std::string name, deprecation;
  std::vector<std::string> inputs, outputs, attrs;
  bool commutative = false, aggregate = false, stateful = false, uninitialized = false;
  int deprecated_since = 0;
  void (*shape)(TF_ShapeInferenceContext*, TF_Status*) = nullptr;
};
struct TF_ShapeHandle {
  PartialShape shape;
};
struct TF_DimensionHandle {
  int64_t value = -1;
};
struct TF_ShapeInferenceContext {
  ShapeContext& context;
};

TF_OpDefinitionBuilder* TF_NewOpDefinitionBuilder(const char* name) {
  return guard_pointer<TF_OpDefinitionBuilder>([&] {
    auto* b = new TF_OpDefinitionBuilder;
    b->name = name ? name : "";
    return b;
  });
}
void TF_DeleteOpDefinitionBuilder(TF_OpDefinitionBuilder* b) { delete b; }
void TF_OpDefinitionBuilderAddAttr(TF_OpDefinitionBuilder* b, const char* s) {
  if (b && s) b->attrs.emplace_back(s);
}
void TF_OpDefinitionBuilderAddInput(TF_OpDefinitionBuilder* b, const char* s) {
  if (b && s) b->inputs.emplace_back(s);
}
void TF_OpDefinitionBuilderAddOutput(TF_OpDefinitionBuilder* b, const char* s) {
  if (b && s) b->outputs.emplace_back(s);
}
void TF_OpDefinitionBuilderSetIsCommutative(TF_OpDefinitionBuilder* b, bool v) {
  if (b) b->commutative = v;
}
void TF_OpDefinitionBuilderSetIsAggregate(TF_OpDefinitionBuilder* b, bool v) {
  if (b) b->aggregate = v;
}
void TF_OpDefinitionBuilderSetIsStateful(TF_OpDefinitionBuilder* b, bool v) {
  if (b) b->stateful = v;
}
void TF_OpDefinitionBuilderSetAllowsUninitializedInput(TF_OpDefinitionBuilder* b, bool v) {
  if (b) b->uninitialized = v;
}
void TF_OpDefinitionBuilderDeprecated(TF_OpDefinitionBuilder* b, int version, const char* why) {
  if (!b) return;
  b->deprecated_since = version;
  b->deprecation = why ? why : "";
}
void TF_OpDefinitionBuilderSetShapeInferenceFunction(TF_OpDefinitionBuilder* b, void (*f)(TF_ShapeInferenceContext*, TF_Status*)) {
  if (b) b->shape = f;
}

namespace {

Status register_op(const TF_OpDefinitionBuilder& b) {
  if (!valid_op_name(b.name)) return invalid_argument("'", b.name, "' is not a name for an op: letters and digits, a capital first");
  std::vector<std::string_view> inputs(b.inputs.begin(), b.inputs.end()), outputs(b.outputs.begin(), b.outputs.end()),
      attrs(b.attrs.begin(), b.attrs.end());
  auto parsed = weft_engine::op::parse_signature(inputs, outputs, attrs);  // before anything is added
  if (!parsed.ok()) return parsed.status().with_suffix(weft_engine::core::cat(" (op ", b.name, ")"));
  auto& registry = weft_engine::engine::Engine::get().registry();
  auto spec = std::make_unique<weft_engine::op::OpSpec>();
  spec->name = registry.intern(b.name);
  for (const auto& s : b.inputs) spec->declared_inputs.push_back(registry.intern(s));
  for (const auto& s : b.outputs) spec->declared_outputs.push_back(registry.intern(s));
  for (const auto& s : b.attrs) spec->declared_attrs.push_back(registry.intern(s));
  spec->commutative = b.commutative;
  spec->aggregate = b.aggregate;
  spec->stateful = b.stateful;
  spec->allows_uninitialized_input = b.uninitialized;
  spec->deprecated_since = b.deprecated_since;
  spec->deprecation = registry.intern(b.deprecation);
  if (auto* f = b.shape) {
    spec->dynamic_shape = [f](ShapeContext& c) {
      TF_ShapeInferenceContext context{c};
      TF_Status status;
      f(&context, &status);
      return status.status;
    };
  }
  return registry.add_dynamic(std::move(spec));
}

}  // namespace

void TF_RegisterOpDefinition(TF_OpDefinitionBuilder* b, TF_Status* status) {
  guard(status, [&]() -> Status {
    WEFT_NOT_NULL(b);
    const std::unique_ptr<TF_OpDefinitionBuilder> owned(b);  // the call takes the builder
    return register_op(*owned);
  });
}

// ---- Shape functions ----

TF_ShapeHandle* TF_NewShapeHandle() {
  return guard_pointer<TF_ShapeHandle>([] { return new TF_ShapeHandle; });
}
void TF_DeleteShapeHandle(TF_ShapeHandle* h) { delete h; }
TF_DimensionHandle* TF_NewDimensionHandle() {
  return guard_pointer<TF_DimensionHandle>([] { return new TF_DimensionHandle; });
}
void TF_DeleteDimensionHandle(TF_DimensionHandle* h) { delete h; }
TF_ShapeHandle* TF_ShapeInferenceContextScalar(TF_ShapeInferenceContext*) {
  return guard_pointer<TF_ShapeHandle>([] { return new TF_ShapeHandle{PartialShape::scalar()}; });
}
TF_ShapeHandle* TF_ShapeInferenceContextVectorFromSize(TF_ShapeInferenceContext*, size_t n) {
  return guard_pointer<TF_ShapeHandle>([&] { return new TF_ShapeHandle{PartialShape::vector(int64_t(n))}; });
}
int64_t TF_ShapeInferenceContextNumInputs(TF_ShapeInferenceContext* c) { return c ? c->context.num_inputs() : 0; }

void TF_ShapeInferenceContextGetInput(TF_ShapeInferenceContext* c, int i, TF_ShapeHandle* h, TF_Status* status) {
  guard(status, [&]() -> Status {
    WEFT_NOT_NULL(c);
    WEFT_NOT_NULL(h);
    if (i < 0 || i >= c->context.num_inputs()) return invalid_argument("input index out of range");
    h->shape = c->context.input(i);
    return {};
  });
}
void TF_ShapeInferenceContextSetOutput(TF_ShapeInferenceContext* c, int i, TF_ShapeHandle* h, TF_Status* status) {
  guard(status, [&]() -> Status {
    WEFT_NOT_NULL(c);
    WEFT_NOT_NULL(h);
    if (i < 0 || i >= c->context.num_outputs()) return invalid_argument("output index out of range");
    c->context.output(i, h->shape);
    return {};
  });
}
void TF_ShapeInferenceContextSetUnknownShape(TF_ShapeInferenceContext* c, TF_Status* status) {
  guard(status, [&]() -> Status {
    WEFT_NOT_NULL(c);
    for (int i = 0; i < c->context.num_outputs(); ++i) c->context.output(i, PartialShape::unknown());
    return {};
  });
}
void TF_ShapeInferenceContext_GetAttrType(TF_ShapeInferenceContext* c, const char* name, TF_DataType* value, TF_Status* status) {
  guard(status, [&]() -> Status {
    WEFT_NOT_NULL(c);
    WEFT_NOT_NULL(name);
    WEFT_NOT_NULL(value);
    const auto* attr = c->context.node().find_attr(name);
    if (!attr || !attr->get<DType>()) return invalid_argument("no type attribute named '", name, "'");
    *value = static_cast<TF_DataType>(*attr->get<DType>());
    return {};
  });
}
int64_t TF_ShapeInferenceContextRank(TF_ShapeInferenceContext*, TF_ShapeHandle* h) { return h ? h->shape.rank() : -1; }
int TF_ShapeInferenceContextRankKnown(TF_ShapeInferenceContext*, TF_ShapeHandle* h) { return h && h->shape.has_rank(); }

namespace {

// `allowed` judges the rank; an unknown rank passes, and becomes `rank` dims where that is exact.
template <class Allowed>
void with_rank(TF_ShapeHandle* h, int64_t rank, TF_ShapeHandle* result, TF_Status* status, const char* words, bool exact, Allowed allowed) {
  guard(status, [&]() -> Status {
    WEFT_NOT_NULL(h);
    WEFT_NOT_NULL(result);
    if (rank < 0 || rank > kMaxRank) return invalid_argument("rank ", rank, " is out of range");
    if (!h->shape.has_rank()) {
      result->shape = exact ? PartialShape::unknown_of_rank(int(rank)) : h->shape;
      return {};
    }
    if (!allowed(h->shape.rank())) return invalid_argument("Shape must be ", words, "rank ", rank, " but is rank ", h->shape.rank());
    result->shape = h->shape;
    return {};
  });
}

}  // namespace

void TF_ShapeInferenceContextWithRank(TF_ShapeInferenceContext*, TF_ShapeHandle* h, int64_t rank, TF_ShapeHandle* result, TF_Status* status) {
  with_rank(h, rank, result, status, "", true, [&](int r) { return r == rank; });
}
void TF_ShapeInferenceContextWithRankAtLeast(TF_ShapeInferenceContext*, TF_ShapeHandle* h, int64_t rank, TF_ShapeHandle* result, TF_Status* status) {
  with_rank(h, rank, result, status, "at least ", false, [&](int r) { return r >= rank; });
}
void TF_ShapeInferenceContextWithRankAtMost(TF_ShapeInferenceContext*, TF_ShapeHandle* h, int64_t rank, TF_ShapeHandle* result, TF_Status* status) {
  with_rank(h, rank, result, status, "at most ", false, [&](int r) { return r <= rank; });
}
void TF_ShapeInferenceContextDim(TF_ShapeInferenceContext*, TF_ShapeHandle* h, int64_t i, TF_DimensionHandle* result) {
  if (!h || !result) return;
  const int rank = h->shape.rank();
  if (i < 0) i += rank;
  result->value = rank >= 0 && i >= 0 && i < rank ? h->shape.dim(int(i)) : -1;
}
void TF_ShapeInferenceContextSubshape(TF_ShapeInferenceContext*, TF_ShapeHandle* h, int64_t start, int64_t end, TF_ShapeHandle* result,
                                      TF_Status* status) {
  guard(status, [&]() -> Status {
    WEFT_NOT_NULL(h);
    WEFT_NOT_NULL(result);
    if (!h->shape.has_rank()) {
      result->shape = PartialShape::unknown();
      return {};
    }
    const int64_t rank = h->shape.rank();
    if (start < 0) start += rank;
    if (end < 0) end += rank;
    start = std::min(start, rank);
    end = std::min(end, rank);
    if (start < 0 || end < start) return invalid_argument("Subshape must have computed start <= end, but is ", start, " and ", end);
    result->shape = h->shape.slice(int(start), int(end));
    return {};
  });
}
void TF_ShapeInferenceContextConcatenateShapes(TF_ShapeInferenceContext*, TF_ShapeHandle* a, TF_ShapeHandle* b, TF_ShapeHandle* result,
                                               TF_Status* status) {
  guard(status, [&]() -> Status {
    WEFT_NOT_NULL(a);
    WEFT_NOT_NULL(b);
    WEFT_NOT_NULL(result);
    result->shape = a->shape.concat(b->shape);
    return {};
  });
}
int TF_DimensionHandleValueKnown(TF_DimensionHandle* h) { return h && h->value >= 0; }
int64_t TF_DimensionHandleValue(TF_DimensionHandle* h) { return h ? h->value : -1; }
