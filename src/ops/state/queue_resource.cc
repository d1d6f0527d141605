#include "ops/state/queue_resource.h"

#include <algorithm>
#include <limits>

#include "ops/random/random_common.h"

namespace weft_engine::ops {

using namespace weft_engine::op;  // NOLINT

namespace {

std::string shape_list(const std::vector<PartialShape>& shapes) { return cat("[", join(shapes, ", "), "]"); }

constexpr const char* kEnqueueCancelled = "Enqueue operation was cancelled";
constexpr const char* kDequeueCancelled = "Dequeue operation was cancelled";

// The element with the smallest priority comes first.
bool later(const Queue::Element& a, const Queue::Element& b) { return a[0].data<int64_t>()[0] > b[0].data<int64_t>()[0]; }

}  // namespace

const char* Queue::kind_name() const {
  switch (spec_.kind) {
    case Kind::kFifo: return "FIFOQueue";
    case Kind::kPadding: return "PaddingFIFOQueue";
    case Kind::kPriority: return "PriorityQueue";
    default: return "RandomShuffleQueue";
  }
}

Result<Queue::Spec> Queue::spec_of(const NodeInfo& node) {
  const std::string_view op = node.op();
  Spec s;
  s.kind = op.starts_with("FIFO")       ? Kind::kFifo
           : op.starts_with("Padding")  ? Kind::kPadding
           : op.starts_with("Priority") ? Kind::kPriority
                                        : Kind::kShuffle;
  s.dtypes = node.attr<std::vector<DType>>("component_types");
  s.shapes = node.attr<std::vector<PartialShape>>("shapes");
  s.capacity = node.attr<int64_t>("capacity");
  if (s.capacity < 0) s.capacity = std::numeric_limits<int32_t>::max();
  if (s.kind == Kind::kPadding) {
    for (const auto& shape : s.shapes) {
      if (!shape.has_rank()) return invalid_argument("shape ", shape, " must have known rank.");
    }
    if (s.shapes.size() != s.dtypes.size())
      return invalid_argument("Shapes must be provided for all components, but received ", s.dtypes.size(), " dtypes and ", s.shapes.size(),
                              " shapes.");
  } else {
    for (const auto& shape : s.shapes) {
      if (!shape.fully_known()) return invalid_argument("Shape ", shape, " is not fully defined");
    }
  }
  if (s.kind == Kind::kShuffle) {
    s.min_after_dequeue = node.attr<int64_t>("min_after_dequeue");
    if (s.min_after_dequeue < 0) return invalid_argument("min_after_dequeue ", s.min_after_dequeue, " must be >= 0");
    if (s.min_after_dequeue >= s.capacity) return invalid_argument("min_after_dequeue ", s.min_after_dequeue, " must be < capacity ", s.capacity);
  }
  if (s.kind == Kind::kPriority) {
    s.dtypes.insert(s.dtypes.begin(), DType::kInt64);
    if (!s.shapes.empty() || s.dtypes.size() == 1) s.shapes.insert(s.shapes.begin(), PartialShape::scalar());
  }
  if (!s.shapes.empty() && s.shapes.size() != s.dtypes.size())
    return invalid_argument("Different number of component types.  Types: ", join(s.dtypes, ", "), ", Shapes: ", shape_list(s.shapes));
  return s;
}

Result<std::shared_ptr<Queue>> Queue::make(const KernelContext& c, std::string name) {
  WEFT_ASSIGN(Spec spec, spec_of(c.node()));
  const bool shuffles = spec.kind == Kind::kShuffle;
  std::shared_ptr<Queue> q(new Queue(std::move(spec), std::move(name)));
  if (shuffles) {
    uint64_t seed = uint64_t(c.attr<int64_t>("seed")), seed2 = uint64_t(c.attr<int64_t>("seed2"));
    if (seed == 0 && seed2 == 0) {
      seed = entropy();
      seed2 = entropy();
    }
    q->philox_ = kernels::Philox::from_seeds(seed, seed2);
  }
  return q;
}

Status Queue::check_shared(const KernelContext& c) const {
  WEFT_ASSIGN(Spec wanted, spec_of(c.node()));
  auto refuse = [&](const auto&... why) { return invalid_argument("Shared queue '", name_, "' has ", why...); };
  if (wanted.kind != spec_.kind) return refuse("type '", kind_name(), "' that does not match type of Node '", c.node().name(), "': ", c.node().op());
  if (wanted.capacity != spec_.capacity) return refuse("capacity ", spec_.capacity, " but requested capacity was ", wanted.capacity);
  if (wanted.dtypes != spec_.dtypes)
    return refuse("component types ", join(spec_.dtypes, ", "), " but requested component types were ", join(wanted.dtypes, ", "));
  if (wanted.shapes != spec_.shapes)
    return refuse("component shapes ", shape_list(spec_.shapes), " but requested component shapes were ", shape_list(wanted.shapes));
  if (wanted.min_after_dequeue != spec_.min_after_dequeue)
    return refuse("min_after_dequeue ", spec_.min_after_dequeue, " but requested min_after_dequeue was ", wanted.min_after_dequeue, ".");
  return {};
}

Status Queue::check_element(std::span<const Tensor* const> components) const {
  for (size_t i = 0; i < components.size(); ++i) {
    const Shape& got = components[i]->shape();
    // Without shapes the priority is a scalar all the same: the order is taken from it.
    const bool priority = spec_.kind == Kind::kPriority && i == 0;
    const PartialShape expected = !spec_.shapes.empty() ? spec_.shapes[i] : priority ? PartialShape::scalar() : PartialShape::unknown();
    if (!expected.compatible_with(got)) return invalid_argument("Shape mismatch in tuple component ", i, ". Expected ", expected, ", got ", got);
  }
  return {};
}

Status Queue::check_batch(std::span<const Tensor* const> components) const {
  const int64_t batch = components[0]->rank() > 0 ? components[0]->dim(0) : -1;
  for (size_t i = 0; i < components.size(); ++i) {
    const Shape& got = components[i]->shape();
    if (got.rank() < 1) return invalid_argument("Expected at least one dimension in tuple component ", i, ", got ", got);
    const bool priority = spec_.kind == Kind::kPriority && i == 0;
    if (!spec_.shapes.empty() || priority) {
      const PartialShape expected = PartialShape::vector(batch).concat(spec_.shapes.empty() ? PartialShape::scalar() : spec_.shapes[i]);
      if (!expected.compatible_with(got)) return invalid_argument("Shape mismatch in tuple component ", i, ". Expected ", expected, ", got ", got);
    } else if (got.dim(0) != batch) {
      return invalid_argument("All input tensors must have the same size in the 0th dimension. Component ", i, " has ", got.dim(0),
                              ", and should have ", batch);
    }
  }
  return {};
}

// What TensorFlow's padding queue inherits names the other.
const char* Queue::inherited_name() const { return spec_.kind == Kind::kPadding ? "FIFOQueue" : kind_name(); }

Status Queue::insufficient(const char* kind, int64_t wanted, int64_t size) const {
  return out_of_range(kind, " '", name_, "' is closed and has insufficient elements (requested ", wanted, ", current size ", size, ")");
}

uint32_t Queue::random() {
  if (used_ == block_.size()) {
    block_ = philox_();
    used_ = 0;
  }
  return block_[used_++];
}

void Queue::put(Element e) {
  items_.push_back(std::move(e));
  if (spec_.kind == Kind::kPriority) std::push_heap(items_.begin(), items_.end(), later);
}

Queue::Element Queue::take() {
  if (spec_.kind == Kind::kPriority) {
    std::pop_heap(items_.begin(), items_.end(), later);
  } else if (spec_.kind == Kind::kShuffle) {
    std::swap(items_[random() % items_.size()], items_.back());
  } else {
    Element e = std::move(items_.front());
    items_.pop_front();
    return e;
  }
  Element e = std::move(items_.back());
  items_.pop_back();
  return e;
}

void Queue::put_back(std::vector<Element> taken) {
  for (size_t i = taken.size(); i-- > 0;) {
    if (spec_.kind == Kind::kPriority || spec_.kind == Kind::kShuffle) put(std::move(taken[i]));
    else items_.push_front(std::move(taken[i]));
  }
}

Waiters::Outcome Queue::try_enqueue(std::vector<Element>& elements, size_t& next) {
  if (closed_) return Waiters::finished(cancelled(inherited_name(), " '", name_, "' is closed."));
  const size_t before = next;
  while (next < elements.size() && int64_t(items_.size()) < spec_.capacity) put(std::move(elements[next++]));
  if (next == elements.size()) return Waiters::finished();
  return next == before ? Waiters::wait() : Waiters::progress();
}

void Queue::enqueue(const KernelContext& c, std::vector<Element> elements, Done done) {
  auto shared = std::make_shared<std::vector<Element>>(std::move(elements));
  waiters_.submit(Waiters::kFirst, [self = shared_from_this(), shared, next = size_t(0)]() mutable { return self->try_enqueue(*shared, next); },
                  std::move(done), {c.env().cancellation, kEnqueueCancelled, nullptr});
}

void Queue::take_one(const KernelContext& c, std::function<void(Status, Element)> done) {
  auto taken = std::make_shared<Element>();
  auto attempt = [self = shared_from_this(), taken] {
    const int64_t size = int64_t(self->items_.size());
    if (self->closed_ && size == 0) return Waiters::finished(self->insufficient(self->inherited_name(), 1, 0));
    if (size <= (self->closed_ ? 0 : self->spec_.min_after_dequeue)) return Waiters::wait();
    *taken = self->take();
    return Waiters::finished();
  };
  waiters_.submit(Waiters::kSecond, std::move(attempt), [taken, done = std::move(done)](Status s) { done(std::move(s), std::move(*taken)); },
                  {c.env().cancellation, kDequeueCancelled, nullptr});
}

void Queue::dequeue(KernelContext& c, Done done) {
  take_one(c, [&c, done = std::move(done)](Status s, Element e) {
    for (size_t i = 0; i < e.size(); ++i) c.set_output(int(i), std::move(e[i]));
    done(std::move(s));
  });
}

Waiters::Outcome Queue::try_dequeue_many(KernelContext& c, Request& r, bool up_to) {
  if (const int64_t size = int64_t(items_.size()); closed_ && size < r.left) {
    put_back(std::move(r.taken));
    r.taken.clear();
    if (!up_to || items_.empty()) return Waiters::finished(insufficient(kind_name(), r.left, size));
    r.left = int64_t(items_.size());
  }
  const int64_t least = closed_ ? 0 : spec_.min_after_dequeue;
  bool moved = false;
  while (int64_t(items_.size()) > least) {
    r.taken.push_back(take());
    moved = true;
    if (--r.left == 0) return Waiters::finished(stack(c, r.taken));
  }
  return moved ? Waiters::progress() : Waiters::wait();
}

void Queue::dequeue_many(KernelContext& c, int64_t n, bool up_to, Done done) {
  if (spec_.shapes.empty())
    return done(invalid_argument(kind_name(), "'s DequeueMany and DequeueUpTo require the components to have specified shapes."));
  if (n == 0) return done(stack(c, {}));
  auto request = std::make_shared<Request>(Request{n, {}});
  auto attempt = [self = shared_from_this(), request, &c, up_to] { return self->try_dequeue_many(c, *request, up_to); };
  auto undo = [this, request] { put_back(std::move(request->taken)); };
  waiters_.submit(Waiters::kSecond, std::move(attempt), std::move(done), {c.env().cancellation, kDequeueCancelled, std::move(undo)});
}

Status Queue::stack(KernelContext& c, const std::vector<Element>& elements) const {
  for (size_t i = 0; i < spec_.dtypes.size(); ++i) WEFT_RETURN_IF_ERROR(stack_component(c, int(i), elements));
  return {};
}

// One tensor from that component of all elements; unknown dimensions are as large as the largest, filled with zeros.
Status Queue::stack_component(KernelContext& c, int component, const std::vector<Element>& elements) const {
  const size_t k = size_t(component);
  std::vector<int64_t> dims = spec_.shapes[k].dims();
  bool pads = false;
  for (size_t d = 0; d < dims.size(); ++d) {
    if (dims[d] >= 0) continue;
    dims[d] = 0;
    for (const Element& e : elements) dims[d] = std::max(dims[d], e[k].dim(int(d)));
    pads = true;
  }
  const Shape row(dims);
  const Shape shape = Shape({int64_t(elements.size())}).concat(row);
  if (pads) {
    WEFT_ASSIGN(Tensor zeros, Tensor::zeros(spec_.dtypes[k], shape));
    c.set_output(component, std::move(zeros));
  } else {
    WEFT_RETURN_IF_ERROR(c.allocate(component, shape).status());
  }
  Tensor& out = c.output(component);
  const int rank = row.rank();
  for (size_t i = 0; i < elements.size(); ++i) {
    const Tensor& t = elements[i][k];
    const int64_t base = int64_t(i) * row.num_elements();
    if (!pads || t.shape() == row || t.num_elements() == 0) {
      copy_elements(t, 0, out, base, t.num_elements());
      continue;
    }
    // Line by line of the last dimension (pads, so there is one).
    const int64_t length = t.dim(rank - 1);
    for (int64_t line = 0; line < t.num_elements() / length; ++line) {
      int64_t rest = line, at = 0, stride = row.dim(rank - 1);
      for (int d = rank - 2; d >= 0; --d) {
        at += rest % t.dim(d) * stride;
        rest /= t.dim(d);
        stride *= row.dim(d);
      }
      copy_elements(t, line * length, out, base + at, length);
    }
  }
  return {};
}

void Queue::close(const KernelContext& c, bool cancel_pending, Done done) {
  if (cancel_pending) {
    waiters_.change([&] {
      closed_ = true;
      waiters_.cancel(Waiters::kFirst, cancelled(kEnqueueCancelled));
    });
    return done({});
  }
  // Behind the elements that already wait to get in.
  auto attempt = [self = shared_from_this()] {
    if (self->closed_) return Waiters::finished(cancelled("Queue '", self->name_, "' is already closed."));
    self->closed_ = true;
    return Waiters::finished();
  };
  waiters_.submit(Waiters::kFirst, std::move(attempt), std::move(done), {c.env().cancellation, kEnqueueCancelled, nullptr});
}

int64_t Queue::size() const {
  std::lock_guard lock(waiters_.mutex());
  return int64_t(items_.size());
}

bool Queue::closed() const {
  std::lock_guard lock(waiters_.mutex());
  return closed_;
}

}  // namespace weft_engine::ops
