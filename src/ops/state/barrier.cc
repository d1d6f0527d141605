// Barriers: values of a key arrive one component at a time; keys that have all of them are taken in the
// order of the calls that first named them. Handles are ref-typed, as in version 1: container and name.
#include <algorithm>
#include <limits>
#include <unordered_map>

#include "op/registry.h"
#include "ops/all.h"
#include "ops/state/waiters.h"

namespace weft_engine::ops {

using namespace weft_engine::op;  // NOLINT: an ops file is written in the vocabulary of op/

namespace {

class Barrier final : public Resource, public std::enable_shared_from_this<Barrier> {
 public:
  static constexpr const char* kTypeName = "N10tensorflow7barrier7BarrierE";
  Barrier(std::string name, std::vector<DType> dtypes, std::vector<PartialShape> shapes)
      : name_(std::move(name)), dtypes_(std::move(dtypes)), shapes_(std::move(shapes)) {}
  static Result<std::shared_ptr<Barrier>> make(const KernelContext& c, std::string name);
  Status check_shared(const KernelContext& c) const;
  std::string type_name() const override { return "Barrier"; }

  const std::vector<DType>& dtypes() const { return dtypes_; }
  Status insert(const Tensor& keys, const Tensor& values, size_t component);
  void take(KernelContext& c, int64_t n, bool small_batch, Kernel::Done done);
  Status close(bool cancel_pending);
  size_t ready_size() const {
    std::lock_guard lock(waiters_.mutex());
    return ready_.size();
  }
  size_t incomplete_size() const {
    std::lock_guard lock(waiters_.mutex());
    return incomplete_.size();
  }
  Status check_values(const Tensor& keys, const Tensor& values, size_t component) const;

 private:
  struct Entry {
    int64_t index = 0;
    tstring key;
    std::vector<Tensor> values;  // those not valid() are still missing
  };
  static bool later(const Entry& a, const Entry& b) { return a.index > b.index; }
  Status insert_locked(const Tensor& keys, const Tensor& values, size_t component);
  Status insert_one_locked(const tstring& key, Tensor value, size_t component, bool& fresh);
  Status deliver_locked(KernelContext& c, int64_t n);
  Waiters::Outcome try_take(KernelContext& c, int64_t n, bool small_batch);

  const std::string name_;
  const std::vector<DType> dtypes_;
  const std::vector<PartialShape> shapes_;  // none: not known
  Waiters waiters_;  // its mutex guards what follows
  std::unordered_map<std::string, Entry> incomplete_;
  std::vector<Entry> ready_;  // a heap, as TensorFlow's: it decides among equal indices
  int64_t next_index_ = std::numeric_limits<int64_t>::min();
  bool closed_ = false, cancelled_ = false;
};

Status Barrier::check_values(const Tensor& keys, const Tensor& values, size_t component) const {
  if (keys.rank() != 1) return invalid_argument("keys must be a vector, got shape ", keys.shape());
  if (values.rank() < 1 || values.dim(0) != keys.dim(0))
    return invalid_argument("Expected one value for each key, got values of shape ", values.shape(), " and keys of shape ", keys.shape());
  const Shape element = values.shape().slice(1, values.rank());
  if (!shapes_.empty() && !shapes_[component].compatible_with(element))
    return invalid_argument("Expected values of shape ", shapes_[component], " for component ", component, ", got ", element);
  return {};
}

Status Barrier::insert_one_locked(const tstring& key, Tensor value, size_t component, bool& fresh) {
  auto it = incomplete_.find(key.str());
  if (it == incomplete_.end()) {
    if (closed_) return cancelled("Barrier ", name_, " is closed, but attempted to insert a brand new key: ", key.view());
    fresh = true;
    it = incomplete_.emplace(key.str(), Entry{next_index_, key, std::vector<Tensor>(dtypes_.size())}).first;
  }
  Entry& e = it->second;
  if (e.values[component].valid())
    return invalid_argument("Key ", key.view(), " already has a value for component ", component, " in barrier ", name_);
  e.values[component] = std::move(value);
  for (const Tensor& t : e.values) {
    if (!t.valid()) return {};
  }
  ready_.push_back(std::move(e));
  std::push_heap(ready_.begin(), ready_.end(), later);
  incomplete_.erase(it);
  return {};
}

Status Barrier::insert_locked(const Tensor& keys, const Tensor& values, size_t component) {
  const int64_t n = keys.dim(0);
  if (closed_ && (cancelled_ || (n > 0 && incomplete_.empty())))
    return cancelled("Barrier ", name_, " is closed.  Pending enqueues cancelled: ", int(cancelled_), ".  Number of new insertions: ", n,
                     ".  Number of incomplete keys: ", incomplete_.size(), ".");
  const Shape element = values.shape().slice(1, values.rank());
  bool fresh = false;
  for (int64_t i = 0; i < n; ++i)
    WEFT_RETURN_IF_ERROR(insert_one_locked(keys.data<tstring>()[i], values.slice_rows(i, i + 1).reshaped(element), component, fresh));
  if (fresh) ++next_index_;  // one for all keys that a call brings
  return {};
}

Status Barrier::insert(const Tensor& keys, const Tensor& values, size_t component) {
  Status status;
  waiters_.change([&] { status = insert_locked(keys, values, component); });
  return status;
}

Status Barrier::deliver_locked(KernelContext& c, int64_t n) {
  const int components = int(dtypes_.size());
  std::vector<Entry> entries;
  for (int64_t i = 0; i < n; ++i) {
    std::pop_heap(ready_.begin(), ready_.end(), later);
    entries.push_back(std::move(ready_.back()));
    ready_.pop_back();
  }
  WEFT_ASSIGN(Tensor* indices, c.allocate(0, Shape({n})));
  WEFT_ASSIGN(Tensor* keys, c.allocate(1, Shape({n})));
  for (int64_t i = 0; i < n; ++i) {
    indices->data<int64_t>()[i] = entries[size_t(i)].index;
    keys->data<tstring>()[i] = entries[size_t(i)].key;
  }
  for (int k = 0; k < components; ++k) {
    Shape element;
    if (n > 0) element = entries[0].values[size_t(k)].shape();
    else if (!shapes_.empty()) element = shapes_[size_t(k)].concrete().value_or(Shape());
    WEFT_ASSIGN(Tensor* out, c.allocate(2 + k, Shape({n}).concat(element)));
    for (int64_t i = 0; i < n; ++i) {
      const Tensor& t = entries[size_t(i)].values[size_t(k)];
      if (t.shape() != element)
        return invalid_argument("component ", k, " has values of shapes ", element, " and ", t.shape(), ", which cannot be stacked");
      copy_elements(t, 0, *out, i * element.num_elements(), element.num_elements());
    }
  }
  return {};
}

Waiters::Outcome Barrier::try_take(KernelContext& c, int64_t n, bool small_batch) {
  const int64_t ready = int64_t(ready_.size());
  if (closed_) {
    const int64_t wanted = small_batch ? std::min(n, ready) : n;
    const int64_t available = small_batch ? ready : ready + int64_t(incomplete_.size());
    if (available < std::max<int64_t>(wanted, 1))
      return Waiters::finished(
          out_of_range("Barrier '", name_, "' is closed and has insufficient elements (requested ", wanted, ", total size ", available, ")"));
    n = wanted;
  }
  return ready < n ? Waiters::wait() : Waiters::finished(deliver_locked(c, n));
}

void Barrier::take(KernelContext& c, int64_t n, bool small_batch, Kernel::Done done) {
  waiters_.submit(Waiters::kFirst, [self = shared_from_this(), &c, n, small_batch] { return self->try_take(c, n, small_batch); }, std::move(done),
                  {c.env().cancellation, "Dequeue operation was cancelled", nullptr});
}

Status Barrier::close(bool cancel_pending) {
  Status status;
  waiters_.change([&] {
    // A second time only to cancel what the first left pending.
    if (closed_ && (cancelled_ || !cancel_pending)) {
      status = cancelled("Barrier '", name_, "' is already closed.");
      return;
    }
    closed_ = true;
    cancelled_ = cancel_pending;
    if (cancel_pending) incomplete_.clear();
  });
  return status;
}

Status check_attributes(const KernelContext& c) {
  if (c.attr<int64_t>("capacity") != -1)
    return invalid_argument("Barrier only accepts capacity=-1.  Feed the inputs to your Barrier through a queue to enforce a limited capacity.");
  const auto& dtypes = c.attr<std::vector<DType>>("component_types");
  const auto& shapes = c.attr<std::vector<PartialShape>>("shapes");
  if (!shapes.empty() && shapes.size() != dtypes.size())
    return invalid_argument("All of the component shapes must be specified, got ", shapes.size(), " for ", dtypes.size(), " components");
  for (size_t i = 0; i < shapes.size(); ++i) {
    if (!shapes[i].fully_known()) return invalid_argument("Shape ", shapes[i], " is not fully defined");
    if (shapes[i].num_elements() == 0) return invalid_argument("Empty tensors are not supported, but received shape '", shapes[i], "' at index ", i);
  }
  return {};
}

Result<std::shared_ptr<Barrier>> Barrier::make(const KernelContext& c, std::string name) {
  WEFT_RETURN_IF_ERROR(check_attributes(c));
  return std::make_shared<Barrier>(std::move(name), c.attr<std::vector<DType>>("component_types"), c.attr<std::vector<PartialShape>>("shapes"));
}

Status Barrier::check_shared(const KernelContext& c) const {
  WEFT_RETURN_IF_ERROR(check_attributes(c));
  const auto& wanted = c.attr<std::vector<DType>>("component_types");
  if (wanted == dtypes_) return {};
  return invalid_argument("Shared barrier '", name_, "' has component types ", join(dtypes_, ", "), " but requested component types were ",
                          join(wanted, ", "));
}

Status run_insert(KernelContext& c) {
  WEFT_ASSIGN(std::shared_ptr<Barrier> barrier, handle_input<Barrier>(c));
  const int64_t component = c.attr<int64_t>("component_index");
  if (component < 0 || size_t(component) >= barrier->dtypes().size())
    return invalid_argument("The component ID is out of range ", component, " > num_components (= ", barrier->dtypes().size(), ")");
  const Tensor &keys = c.input(1), &values = c.input(2);
  const DType expected = barrier->dtypes()[size_t(component)];
  if (values.dtype() != expected)
    return invalid_argument("Signature mismatch, have: string_ref, string, ", values.dtype(), "-> expected: string_ref, string, ", expected, "->");
  WEFT_RETURN_IF_ERROR(barrier->check_values(keys, values, size_t(component)));
  return barrier->insert(keys, values, size_t(component));
}

Status start_take(KernelContext& c, Kernel::Done& done) {
  WEFT_ASSIGN(std::shared_ptr<Barrier> barrier, handle_input<Barrier>(c));
  if (c.input(1).rank() != 0) return invalid_argument("num_elements must be a scalar.");
  const int32_t n = c.input(1).data<int32_t>()[0];
  if (n < 0) return invalid_argument("num_elements must not be negative, got ", n);
  if (c.attr<std::vector<DType>>("component_types") != barrier->dtypes())
    return invalid_argument("Expected component types ", join(barrier->dtypes(), ", "), ", got ",
                            join(c.attr<std::vector<DType>>("component_types"), ", "));
  barrier->take(c, n, c.attr<bool>("allow_small_batch"), std::move(done));
  return {};
}

void run_take(KernelContext& c, Kernel::Done done) {
  if (Status s = start_take(c, done); !s.ok()) done(s);
}

Status run_close(KernelContext& c) {
  WEFT_ASSIGN(std::shared_ptr<Barrier> barrier, handle_input<Barrier>(c));
  return barrier->close(c.attr<bool>("cancel_pending_enqueues"));
}

template <bool kIncomplete>
Status run_size(KernelContext& c) {
  WEFT_ASSIGN(std::shared_ptr<Barrier> barrier, handle_input<Barrier>(c));
  c.set_output(0, Tensor::scalar(int32_t(kIncomplete ? barrier->incomplete_size() : barrier->ready_size())));
  return {};
}

Status handle_shape(ShapeContext& c) {
  c.output(0, {2});
  return {};
}

Status take_shape(ShapeContext& c) {
  for (int i = 0; i < c.num_outputs(); ++i) c.output(i, i < 2 ? PartialShape({kUnknownDim}) : PartialShape::unknown());
  return {};
}

}  // namespace

void barrier(Registry& r) {
  r.add("Barrier")
      .doc("Makes or finds a barrier, which brings together values of one key.")
      .out("handle: Ref(string)")
      .attr("component_types: list(type) >= 1")
      .attr("shapes: list(shape) >= 0 = []")
      .attr("capacity: int = -1")
      .attr("container: string = ''")
      .attr("shared_name: string = ''")
      .stateful()
      .effect_free()
      .shape(handle_shape)
      .cpu_make(HandleKernel<Barrier>::create);

  r.add("BarrierClose")
      .doc("Lets no new keys into a barrier.")
      .in("handle: Ref(string)")
      .attr("cancel_pending_enqueues: bool = false")
      .shape(shapes::no_outputs)
      .cpu(run_close);

  r.add("BarrierIncompleteSize")
      .doc("Gives the number of keys of a barrier that lack values.")
      .in("handle: Ref(string)")
      .out("size: int32")
      .shape(shapes::scalar)
      .cpu(run_size<true>);

  r.add("BarrierInsertMany")
      .doc("Puts one component of each key into a barrier.")
      .in("handle: Ref(string)")
      .in("keys: string")
      .in("values: T")
      .attr("T: type")
      .attr("component_index: int")
      .shape(shapes::no_outputs)
      .cpu(run_insert);

  r.add("BarrierReadySize")
      .doc("Gives the number of keys of a barrier that have all values.")
      .in("handle: Ref(string)")
      .out("size: int32")
      .shape(shapes::scalar)
      .cpu(run_size<false>);

  r.add("BarrierTakeMany")
      .doc("Takes keys with all their values out of a barrier when there are enough.")
      .in("handle: Ref(string)")
      .in("num_elements: int32")
      .out("indices: int64")
      .out("keys: string")
      .out("values: component_types")
      .attr("component_types: list(type) >= 1")
      .attr("allow_small_batch: bool = false")
      .attr("wait_for_incomplete: bool = false")
      .attr("timeout_ms: int = -1")
      .shape(take_shape)
      .cpu_make(AsyncKernel<run_take>::create);
}

}  // namespace weft_engine::ops
