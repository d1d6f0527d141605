#include "op/op_traits.h"
#include "op/variable.h"
#include "trace/replica.h"
#include "trace/variable.h"

#include "api/indexing.h"
#include "api/unwrap.h"
#include "weft/math.h"
#include "weft/raw/array.h"
#include "weft/raw/state.h"
#include "weft/variable.h"

#include <map>
#include <mutex>
#include <ostream>

namespace weft {

using api::check;

namespace {

trace::VariableState& state_of(const Variable& v) {
  if (!v.has_value()) throw Error(Code::kInvalidArgument, "a variable that was not made was used");
  return *v.state();
}

// Constraints are C++ functions, which the engine does not know of; kept here, beside the states that they belong to.
struct Constraints {
  std::mutex mutex;
  std::map<const trace::VariableState*, std::pair<std::weak_ptr<trace::VariableState>, std::function<Tensor(const Tensor&)>>> by_state;
};
Constraints& constraints() {
  static auto* c = new Constraints;
  return *c;
}

std::vector<VariableCreatorScope::Creator>& creators() {
  thread_local std::vector<VariableCreatorScope::Creator> list;
  return list;
}

Variable make_plain(const std::function<Tensor()>& initial_value, const VariableOptions& o) {
  const Tensor value = initial_value();
  if (!value.has_value()) throw Error(Code::kInvalidArgument, core::cat("the variable '", o.name, "' has no initial value"));
  trace::VariableSpec spec;
  spec.name = trace::name_scope() + o.name;
  spec.dtype = api::inner_type(o.dtype == DType::invalid ? value.dtype() : o.dtype);
  if (spec.dtype != api::inner_type(value.dtype()))
    check(core::invalid_argument("the initial value of the variable '", o.name, "' is ", weft::to_string(value.dtype()), ", not ",
                                 weft::to_string(o.dtype)));
  const core::PartialShape of_value = api::rep_of(value)->shape();
  if (o.unknown_rank) spec.shape = core::PartialShape::unknown();
  else if (o.any_shape || !o.shape.empty()) spec.shape = core::PartialShape(o.shape);
  else spec.shape = of_value;
  if (!spec.shape.compatible_with(of_value))
    check(core::invalid_argument("the initial value of the variable '", o.name, "' has shape ", of_value, ", not ", spec.shape));
  spec.trainable = o.trainable && !(o.synchronization == VariableSynchronization::on_read);
  spec.synchronization = trace::Synchronization(int(o.synchronization));
  spec.aggregation = trace::Aggregation(int(o.aggregation));
  spec.device = o.device.empty() ? api::scoped_device() : o.device;
  auto state = api::unwrap(trace::VariableState::make(api::context(), std::move(spec)));
  check(state->initialize(api::to_value(value)));
  if (o.constraint) {
    Constraints& c = constraints();
    std::lock_guard lock(c.mutex);
    std::erase_if(c.by_state, [](const auto& e) { return e.second.first.expired(); });
    c.by_state[state.get()] = {state, o.constraint};
  }
  return Variable::adopt(std::move(state));
}

Variable make_through(size_t scopes, const std::function<Tensor()>& initial_value, const VariableOptions& options) {
  if (scopes == 0) return make_plain(initial_value, options);
  const auto creator = creators()[scopes - 1];
  return creator([scopes](const std::function<Tensor()>& v, const VariableOptions& o) { return make_through(scopes - 1, v, o); }, initial_value,
                 options);
}

// Writes that are no assignments: to every copy, or to that of the replica.
void on_copies(const Variable& v, const std::function<void(const Tensor& handle)>& write) {
  trace::VariableState& state = state_of(v);
  if (state.copies().empty() || trace::current_replica()) {
    if (!state.copies().empty() && state.spec().synchronization != trace::Synchronization::kOnRead &&
        state.spec().aggregation != trace::Aggregation::kNone)
      check(core::unimplemented("slices of the variable '", v.name(),
                                "' are written by replicas, which must write it together: write them outside of the replicas"));
    write(v.handle());
    return;
  }
  for (const auto& w : state.copies()) {
    if (auto copy = w.lock()) write(Variable::adopt(copy).handle());
  }
}

template <class Op>
const Variable& scatter(const Variable& v, Op op, const Tensor& indices, const Tensor& updates) {
  on_copies(v, [&](const Tensor& handle) {
    if constexpr (std::is_invocable_v<Op, Tensor, Tensor, Tensor>) op(handle, indices, updates);
    else op(handle, indices, updates, {});
  });
  return v;
}

}  // namespace

Variable make_variable(const std::function<Tensor()>& initial_value, const VariableOptions& options) {
  return make_through(creators().size(), initial_value, options);
}

Variable::Variable(const Tensor& initial_value, const VariableOptions& options)
    : state_(make_variable([&] { return initial_value; }, options).state_) {}

Variable::Variable(const std::function<Tensor()>& initial_value, const VariableOptions& options)
    : state_(make_variable(
                 [&] {
                   trace::Entered outside(nullptr);
                   return initial_value();
                 },
                 options)
                 .state_) {}

Variable Variable::adopt(std::shared_ptr<trace::VariableState> state) {
  Variable v;
  v.state_ = std::move(state);
  return v;
}

const std::string& Variable::name() const { return state_of(*this).spec().name; }
DType Variable::dtype() const { return static_cast<DType>(state_of(*this).spec().dtype); }
PartialShape Variable::partial_shape() const { return api::outer_shape(state_of(*this).spec().shape); }
std::vector<int64_t> Variable::shape() const {
  const core::PartialShape& s = state_of(*this).spec().shape;
  if (s.fully_known()) return api::outer_shape(s).dims;
  return value().shape();
}
bool Variable::trainable() const { return state_of(*this).spec().trainable; }
const Variable& Variable::set_trainable(bool on) const {
  state_of(*this).set_trainable(on);
  return *this;
}
VariableSynchronization Variable::synchronization() const { return VariableSynchronization(int(state_of(*this).spec().synchronization)); }
VariableAggregation Variable::aggregation() const { return VariableAggregation(int(state_of(*this).spec().aggregation)); }
std::string Variable::device() const {
  auto* d = state_of(*this).eager_handle()->device();
  return d ? d->name() : api::context().host()->name();
}
const std::function<Tensor(const Tensor&)>& Variable::constraint() const {
  static const auto& none = *new std::function<Tensor(const Tensor&)>;
  Constraints& c = constraints();
  std::lock_guard lock(c.mutex);
  auto it = c.by_state.find(&state_of(*this));
  // Another variable may have been at this address before.
  return it == c.by_state.end() || it->second.first.expired() ? none : it->second.second;
}

bool Variable::is_initialized() const { return raw::VarIsInitializedOp(handle()).item<bool>(); }
Tensor Variable::handle() const { return api::from_value(api::unwrap(state_of(*this).handle())); }
Tensor Variable::value() const { return api::from_value(api::unwrap(state_of(*this).read())); }
Tensor Variable::sparse_read(const Tensor& indices) const {
  check(state_of(*this).accessed());
  return raw::ResourceGather(handle(), indices, dtype());
}

const Variable& Variable::assign(const Tensor& v) const {
  check(state_of(*this).assign(op::op_of(op::Role::kAssignVariable), api::to_value(v)));
  return *this;
}
const Variable& Variable::assign_add(const Tensor& v) const {
  check(state_of(*this).assign(op::op_of(op::Role::kAddToVariable), api::to_value(v)));
  return *this;
}
const Variable& Variable::assign_sub(const Tensor& v) const {
  check(state_of(*this).assign(op::op_of(op::Role::kSubtractFromVariable), api::to_value(v)));
  return *this;
}
const Variable& Variable::scatter_add(const IndexedSlices& s) const { return scatter(*this, raw::ResourceScatterAdd, s.indices, s.values); }
const Variable& Variable::scatter_sub(const IndexedSlices& s) const { return scatter(*this, raw::ResourceScatterSub, s.indices, s.values); }
const Variable& Variable::scatter_mul(const IndexedSlices& s) const { return scatter(*this, raw::ResourceScatterMul, s.indices, s.values); }
const Variable& Variable::scatter_div(const IndexedSlices& s) const { return scatter(*this, raw::ResourceScatterDiv, s.indices, s.values); }
const Variable& Variable::scatter_max(const IndexedSlices& s) const { return scatter(*this, raw::ResourceScatterMax, s.indices, s.values); }
const Variable& Variable::scatter_min(const IndexedSlices& s) const { return scatter(*this, raw::ResourceScatterMin, s.indices, s.values); }
const Variable& Variable::scatter_update(const IndexedSlices& s) const { return scatter(*this, raw::ResourceScatterUpdate, s.indices, s.values); }
const Variable& Variable::scatter_nd_add(const Tensor& i, const Tensor& u) const { return scatter(*this, raw::ResourceScatterNdAdd, i, u); }
const Variable& Variable::scatter_nd_update(const Tensor& i, const Tensor& u) const { return scatter(*this, raw::ResourceScatterNdUpdate, i, u); }

const Variable& Variable::assign_slice(const std::vector<int64_t>& begin, const std::vector<int64_t>& end, const std::vector<int64_t>& strides,
                                       const Tensor& value) const {
  auto list = [](const std::vector<int64_t>& v) { return Tensor::of<int64_t>({int64_t(v.size())}, std::span<const int64_t>(v)); };
  on_copies(*this, [&](const Tensor& h) { raw::ResourceStridedSliceAssign(h, list(begin), list(end), list(strides), value); });
  return *this;
}

const Variable& VariableSlice::assign(const Tensor& value) const {
  if (!api::has_advanced(items_)) {
    const api::StridedItems s = api::strided_items(items_);
    on_copies(variable_, [&](const Tensor& h) {
      raw::ResourceStridedSliceAssign(h, s.begin, s.end, s.strides, value,
                                      {.begin_mask = s.begin_mask,
                                       .end_mask = s.end_mask,
                                       .ellipsis_mask = s.ellipsis,
                                       .new_axis_mask = s.new_axis,
                                       .shrink_axis_mask = s.shrink});
    });
    return variable_;
  }
  // The same brackets on the numbers of the elements say which ones are written.
  const std::vector<int64_t> dims = variable_.shape();
  int64_t count = 1;
  for (int64_t d : dims) count *= d;
  const Tensor numbers = reshape(range(Tensor(int64_t(0)), Tensor(count), Tensor(int64_t(1))), dims).index(items_);
  const Tensor places = transpose(raw::UnravelIndex(reshape(numbers, {-1}), Tensor(std::span<const int64_t>(dims))));
  variable_.scatter_nd_update(places, reshape(raw::BroadcastTo(value, shape(numbers)), {-1}));
  return variable_;
}

std::string Variable::to_string() const {
  return core::cat("<Variable '", name(), "' shape=", state_of(*this).spec().shape, " dtype=", weft::to_string(dtype()), ", ",
                   trace::FuncGraph::current() ? std::string("symbolic") : value().to_string(), ">");
}

std::ostream& operator<<(std::ostream& out, const Variable& v) { return out << v.to_string(); }

VariableCreatorScope::VariableCreatorScope(Creator creator) { creators().push_back(std::move(creator)); }
VariableCreatorScope::~VariableCreatorScope() { creators().pop_back(); }

}  // namespace weft
