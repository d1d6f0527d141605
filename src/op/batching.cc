#include "op/batching.h"

#include <algorithm>

#include "op/emit.h"
#include "op/op_traits.h"
#include "op/registry.h"

namespace weft_engine::op {
namespace {

class BatchedValue final : public ValueRep {
 public:
  BatchedValue(BatchEmitter& owner, Value inner) : owner_(owner), inner_(std::move(inner)) {}
  DType dtype() const override { return inner_.dtype(); }
  PartialShape shape() const override {
    const PartialShape s = inner_.shape();
    if (!s.has_rank() || dtype() == DType::kVariant) return s;
    return PartialShape(std::vector<int64_t>(s.dims().begin() + (s.rank() > 0), s.dims().end()));
  }
  const Tensor* constant() const override { return nullptr; }
  // Never null: no other emitter takes this for a value of its own.
  Emitter* owner() const override { return &owner_; }
  const Value& inner() const { return inner_; }

 private:
  BatchEmitter& owner_;
  Value inner_;
};

Value on(Emitter& e, const Value& v) { return Value(e, RefPtr<ValueRep>::share(v.rep())); }

Batched batch_elementwise(BatchContext& c) {
  if (c.spec.traits().broadcasts) return batch_broadcasting(c);
  for (size_t i = 1; i < c.inputs.size(); ++i) {
    if (c.rank(i) >= 0 && c.rank(0) >= 0 && c.rank(i) != c.rank(0)) return c.refused();  // scalars beside tensors
  }
  return batch_leading<-1>(c);
}

}  // namespace

// ---- the emitter -------------------------------------------------------------------------------------------

Value BatchEmitter::batched(const Value& v) { return Value(*this, RefPtr<ValueRep>::adopt(new BatchedValue(*this, v))); }
bool BatchEmitter::is_batched(const Value& v) { return dynamic_cast<BatchedValue*>(v.rep()) != nullptr; }

Value BatchEmitter::inner(const Value& v) const {
  if (auto* b = dynamic_cast<BatchedValue*>(v.rep())) return b->inner();
  return on(base_, v);
}

Value BatchEmitter::rows() const { return rows_ >= 0 ? base_.constant(Tensor::scalar<int32_t>(int32_t(rows_))) : on(base_, rows_value_); }

Value BatchEmitter::unbatched(const Value& v) {
  if (auto* b = dynamic_cast<BatchedValue*>(v.rep())) return b->inner();
  Value own = on(base_, v);
  if (own.dtype() == DType::kResource || own.dtype() == DType::kVariant) {
    fail(unimplemented("rows of a ", dtype_name(own.dtype())));
    return own;
  }
  const Value front = rows_ >= 0 ? ints(base_, {int32_t(rows_)}) : reshape(rows(), ints(base_, {1}));
  return broadcast_to(own, concat(std::vector<Value>{front, shape_of(own)}, 0));
}

Batched BatchEmitter::do_apply(std::string_view op, std::span<const Value> inputs, AttrMap attrs) {
  const OpSpec* spec = registry_.find(op);
  const bool any = std::any_of(inputs.begin(), inputs.end(), is_batched);
  if (!any && !(spec && spec->traits().differs_by_row)) return once(op, inputs, std::move(attrs));
  if (BatchRule rule = spec ? batch_rule(*spec) : nullptr) {
    BatchContext c(*this, *spec, inputs, attrs);
    auto out = rule(c);
    if (Status s = base_.take_status(); !s.ok()) return s;
    if (out.ok() || out.status().code() != Code::kUnimplemented) return out;
  }
  return otherwise(op, inputs, std::move(attrs));
}

Batched BatchEmitter::otherwise(std::string_view op, std::span<const Value>, AttrMap) { return unimplemented(op, " of several rows at once"); }

Batched BatchEmitter::once(std::string_view op, std::span<const Value> inputs, AttrMap attrs) {
  std::vector<Value> own;
  for (const Value& v : inputs) own.push_back(on(base_, v));
  auto out = base_.apply(op, own, std::move(attrs));
  WEFT_RETURN_IF_ERROR(base_.take_status());
  for (Value& v : out) v = on(*this, v);
  return out;
}

Result<Value> BatchEmitter::do_constant(Tensor value) {
  Value v = base_.constant(std::move(value));
  WEFT_RETURN_IF_ERROR(base_.take_status());
  return on(*this, v);
}

// ---- what rules ask ----------------------------------------------------------------------------------------

Batched BatchContext::all(std::vector<Value> out) {
  WEFT_RETURN_IF_ERROR(base.take_status());
  WEFT_RETURN_IF_ERROR(emitter.take_status());
  for (Value& v : out) v = emitter.batched(v);
  return out;
}
Batched BatchContext::one(Value v) {
  std::vector<Value> out;
  out.push_back(std::move(v));
  return all(std::move(out));
}
Value BatchContext::shared(const Value& v) const { return on(emitter, v); }
Status BatchContext::refused() const { return unimplemented(spec.name, " of several rows at once"); }
Batched BatchContext::same(const Value& v) {
  WEFT_RETURN_IF_ERROR(base.take_status());
  return std::vector<Value>{shared(v)};
}

bool BatchContext::has_rows_from(size_t i) const {
  for (; i < inputs.size(); ++i) {
    if (has_rows(i)) return true;
  }
  return false;
}

std::vector<Value> BatchContext::inner_all() const {
  std::vector<Value> in;
  for (size_t i = 0; i < inputs.size(); ++i) in.push_back(inner(i));
  return in;
}

Value BatchContext::with_rows(size_t i) const { return has_rows(i) ? inner(i) : emitter.unbatched(inputs[i]); }
int BatchContext::rank(size_t i) const {
  const PartialShape s = shape(i);
  return s.has_rank() ? s.rank() : -1;
}

Value BatchContext::dims(size_t i, int from, int to) const {
  const PartialShape s = shape(i);
  if (s.has_rank()) {
    std::vector<int64_t> d = s.dims();
    if (to < 0) to = int(d.size());
    d = std::vector<int64_t>(d.begin() + std::min<int64_t>(from, int64_t(d.size())), d.begin() + std::min<int64_t>(to, int64_t(d.size())));
    if (std::none_of(d.begin(), d.end(), [](int64_t n) { return n == kUnknownDim; })) return list(d);
  }
  const int skipped = has_rows(i) ? 1 : 0;
  return slice(shape_of(inner(i)), list({from + skipped}), list({to < 0 ? -1 : to - from}));
}

std::optional<std::vector<int64_t>> BatchContext::numbers(size_t i) const {
  const Tensor* t = has_rows(i) ? nullptr : inputs[i].constant();
  if (!t) return {};
  std::vector<int64_t> out;
  for (int64_t k = 0; k < t->num_elements(); ++k) {
    if (t->dtype() == DType::kInt32) out.push_back(t->data<int32_t>()[k]);
    else if (t->dtype() == DType::kInt64) out.push_back(t->data<int64_t>()[k]);
    else return {};
  }
  return out;
}

Result<Value> BatchContext::aligned(size_t i, int to) const {
  Value v = inner(i);
  if (rank(i) < 0 || to < rank(i)) return refused();
  if (!has_rows(i) || rank(i) == to) return v;
  return reshape(v, join({rows_list(), list(std::vector<int64_t>(size_t(to - rank(i)), 1)), dims(i)}));
}

Value BatchContext::shifted_axes(size_t i) const {
  if (auto axes = numbers(i)) {
    for (int64_t& a : *axes) a += a >= 0 ? 1 : 0;
    return rank(i) == 0 ? scalar((*axes)[0]) : list(*axes);
  }
  Value a = cast(inner(i), DType::kInt32);
  return a + cast(greater_equal(a, scalar(0)), DType::kInt32);
}

Value BatchContext::row_indices(size_t i) const {
  const int r = rank(i);
  const Value numbers = cast(row_numbers(r), inputs[i].dtype());
  return concat(std::vector<Value>{broadcast_to(numbers, join({rows_list(), dims(i, 0, r - 1), list({1})})), with_rows(i)}, r);
}

Value BatchContext::fold(size_t i) const {
  const PartialShape s = shape(i);
  const bool known = rows() >= 0 && s.has_rank() && s.rank() > 0 && s.dim(0) != kUnknownDim;
  const Value batch = known ? list({rows() * s.dim(0)}) : rows_list() * dims(i, 0, 1);
  return reshape(with_rows(i), join({batch, dims(i, 1)}));
}

Value BatchContext::folded_sizes(size_t i) const {
  if (auto known = numbers(i); known && rows() >= 0 && !known->empty()) {
    (*known)[0] *= rows();
    return list(*known);
  }
  const Value sizes = cast(inner(i), DType::kInt32);
  return join({slice(sizes, list({0}), list({1})) * emitter.rows(), slice(sizes, list({1}), list({-1}))});
}

Value BatchContext::unfold(const Value& v, const Value& batch) const {
  const PartialShape s = v.shape();
  const Value rest = s.fully_known() ? list(std::vector<int64_t>(s.dims().begin() + 1, s.dims().end())) : slice(shape_of(v), list({1}), list({-1}));
  return reshape(v, join({rows_list(), batch, rest}));
}

Value BatchContext::rows_list() const { return rows() >= 0 ? list({rows()}) : reshape(emitter.rows(), list({1})); }

Value BatchContext::row_numbers(int dims_behind) const {
  Value n = range(scalar(0), emitter.rows());
  return dims_behind ? reshape(n, join({rows_list(), list(std::vector<int64_t>(size_t(dims_behind), 1))})) : n;
}

Value BatchContext::list(std::initializer_list<int64_t> v) const { return ints(base, std::vector<int32_t>(v.begin(), v.end())); }
Value BatchContext::list(const std::vector<int64_t>& v) const { return ints(base, std::vector<int32_t>(v.begin(), v.end())); }
Value BatchContext::scalar(int64_t v) const { return base.constant(Tensor::scalar<int32_t>(int32_t(v))); }

Value BatchContext::apply1(std::string_view op, std::span<const Value> in, AttrMap a) {
  auto out = base.apply(op, in, std::move(a));
  return out.empty() ? Value() : out[0];
}
Value BatchContext::apply1(std::string_view op, std::initializer_list<Value> in, AttrMap a) { return apply1(op, std::span(in), std::move(a)); }
std::vector<Value> BatchContext::itself(std::span<const Value> in) { return base.apply(spec.name, in, std::move(attrs)); }
std::vector<Value> BatchContext::itself(std::initializer_list<Value> in) { return itself(std::span(in)); }
Value BatchContext::itself1(std::span<const Value> in) { return apply1(spec.name, in, std::move(attrs)); }
Value BatchContext::itself1(std::initializer_list<Value> in) { return itself1(std::span(in)); }

Value BatchContext::join(std::initializer_list<Value> sizes) const {
  std::vector<int64_t> known;
  for (const Value& v : sizes) {
    const Tensor* t = v.constant();
    if (!t || t->dtype() != DType::kInt32) {
      std::vector<Value> parts;
      for (const Value& s : sizes) parts.push_back(cast(s, DType::kInt32));
      return parts.size() == 1 ? parts[0] : concat(parts, 0);
    }
    known.insert(known.end(), t->data<int32_t>(), t->data<int32_t>() + t->num_elements());
  }
  return list(known);
}

Value BatchContext::to_front(const Value& v, int axis) const {
  std::vector<int64_t> perm{axis};
  for (int i = 0; i < v.shape().rank(); ++i) {
    if (i != axis) perm.push_back(i);
  }
  return axis == 0 ? v : transpose(v, list(perm));
}

bool BatchContext::flag(const char* name) const {
  auto it = attrs.find(name);
  return it != attrs.end() && it->second.get<bool>() && *it->second.get<bool>();
}
int64_t BatchContext::number(const char* name, int64_t otherwise) const {
  auto it = attrs.find(name);
  return it != attrs.end() && it->second.get<int64_t>() ? *it->second.get<int64_t>() : otherwise;
}
std::string BatchContext::text(const char* name) const {
  auto it = attrs.find(name);
  return it != attrs.end() && it->second.get<std::string>() ? *it->second.get<std::string>() : "";
}
bool BatchContext::channels_last() const {
  const std::string f = text("data_format");
  return f.empty() || f == "NHWC" || f == "NDHWC";
}
AttrMap BatchContext::typeless() {
  for (const char* name : {"Tidx", "Tshape", "Tmultiples", "Tperm", "Index", "Tpaddings", "Tdim", "Taxis", "Tlen", "index_type", "Tshift"})
    attrs.erase(name);
  return std::move(attrs);
}

// ---- rules -------------------------------------------------------------------------------------------------

BatchRule batch_rule(const OpSpec& spec) { return spec.batch ? spec.batch : spec.traits().elementwise ? batch_elementwise : nullptr; }

Batched batch_leading(BatchContext& c, int with_rows) {
  const size_t n = with_rows < 0 ? c.inputs.size() : size_t(with_rows);
  if (c.has_rows_from(n)) return c.refused();
  std::vector<Value> in;
  for (size_t i = 0; i < c.inputs.size(); ++i) in.push_back(i < n ? c.with_rows(i) : c.inner(i));
  return c.all(c.itself(in));
}

Batched batch_broadcasting(BatchContext& c) {
  int most = 0;
  for (size_t i = 0; i < c.inputs.size(); ++i) {
    if (c.rank(i) < 0) return c.refused();
    most = std::max(most, c.rank(i));
  }
  std::vector<Value> in;
  for (size_t i = 0; i < c.inputs.size(); ++i) {
    WEFT_ASSIGN(Value v, c.aligned(i, most));
    in.push_back(std::move(v));
  }
  return c.one(c.itself1(in));
}

Batched batch_along_axes(BatchContext& c) {
  if (c.has_rows(1)) return c.refused();
  return c.one(c.apply1(c.spec.name, {c.inner(0), c.shifted_axes(1)}, c.typeless()));
}

Batched batch_folded(BatchContext& c, int folded) {
  if (c.has_rows_from(size_t(folded)) || c.rank(0) < 1) return c.refused();
  for (size_t i = 1; i < size_t(folded); ++i) {
    if (c.rank(i) == 0) return c.refused();
    const int64_t size = c.rank(i) > 0 ? c.shape(i).dim(0) : kUnknownDim, first = c.shape(0).dim(0);
    if (size != first && size != kUnknownDim && first != kUnknownDim) return c.refused();  // one batch is broadcast to the other
  }
  std::vector<Value> in;
  for (size_t i = 0; i < c.inputs.size(); ++i) in.push_back(int(i) < folded ? c.fold(i) : c.inner(i));
  std::vector<Value> out = c.itself(in);
  const Value batch = c.dims(0, 0, 1);
  for (Value& v : out) v = c.unfold(v, batch);
  return c.all(std::move(out));
}

}  // namespace weft_engine::op
