// Queues. The queue itself is in queue_resource.h; staging areas, accumulators, mutexes and barriers, which
// belong to the same family, have files of their own. Version 1 (FIFOQueue, QueueEnqueue ...) has handles of
// its own kind, see ref_handle.h, and the same kernels.
#include "op/registry.h"
#include "ops/all.h"
#include "ops/state/queue_resource.h"

namespace weft_engine::ops {

using namespace weft_engine::op;  // NOLINT: an ops file is written in the vocabulary of op/

namespace {

// The inputs behind the handle, and the outputs, must be as the queue has them.
// "Signature mismatch, have: resource->float expected: resource->float, int64"
Status check_types(const KernelContext& c, const std::vector<DType>& inputs, const std::vector<DType>& outputs) {
  const auto &in = c.node().input_types(), &out = c.node().output_types();
  std::vector<DType> expected{in[0]};
  expected.insert(expected.end(), inputs.begin(), inputs.end());
  if (in == expected && out == outputs) return {};
  return invalid_argument("Signature mismatch, have: ", join(in, ", "), "->", join(out, ", "), " expected: ", join(expected, ", "), "->",
                          join(outputs, ", "));
}

Status start_enqueue(KernelContext& c, Kernel::Done& done) {
  WEFT_ASSIGN(std::shared_ptr<Queue> q, handle_input<Queue>(c));
  WEFT_RETURN_IF_ERROR(check_types(c, q->dtypes(), {}));
  const auto components = c.input_list("components");
  WEFT_RETURN_IF_ERROR(q->check_element(components));
  Queue::Element element;
  for (const Tensor* t : components) element.push_back(*t);
  q->enqueue(c, {std::move(element)}, std::move(done));
  return {};
}

Status start_enqueue_many(KernelContext& c, Kernel::Done& done) {
  WEFT_ASSIGN(std::shared_ptr<Queue> q, handle_input<Queue>(c));
  WEFT_RETURN_IF_ERROR(check_types(c, q->dtypes(), {}));
  const auto components = c.input_list("components");
  WEFT_RETURN_IF_ERROR(q->check_batch(components));
  // Rows without elements cost nothing in the tensor, but each is an element of the queue.
  constexpr int64_t kMostEmptyRows = int64_t(1) << 24;
  if (components[0]->num_elements() == 0 && components[0]->dim(0) > kMostEmptyRows)
    return resource_exhausted("too many empty rows to enqueue: ", components[0]->dim(0));
  std::vector<Queue::Element> elements(size_t(components[0]->dim(0)));
  for (const Tensor* t : components) {
    const Shape row = t->shape().slice(1, t->rank());
    for (size_t i = 0; i < elements.size(); ++i) elements[i].push_back(t->slice_rows(int64_t(i), int64_t(i) + 1).reshaped(row));
  }
  if (elements.empty()) {
    done({});
  } else {
    q->enqueue(c, std::move(elements), std::move(done));
  }
  return {};
}

Status start_dequeue(KernelContext& c, Kernel::Done& done) {
  WEFT_ASSIGN(std::shared_ptr<Queue> q, handle_input<Queue>(c));
  WEFT_RETURN_IF_ERROR(check_types(c, {}, q->dtypes()));
  q->dequeue(c, std::move(done));
  return {};
}

template <bool kUpTo>
Status start_dequeue_many(KernelContext& c, Kernel::Done& done) {
  WEFT_ASSIGN(std::shared_ptr<Queue> q, handle_input<Queue>(c));
  if (c.input(1).num_elements() != 1) return invalid_argument("n must be a scalar, got shape ", c.input(1).shape());
  const int32_t n = c.input(1).data<int32_t>()[0];
  if (n < 0) return invalid_argument(kUpTo ? "DequeueUpToOp" : "DequeueManyOp", " requested ", n, " < 0 elements");
  WEFT_RETURN_IF_ERROR(check_types(c, {DType::kInt32}, q->dtypes()));
  q->dequeue_many(c, n, kUpTo, std::move(done));
  return {};
}

Status start_close(KernelContext& c, Kernel::Done& done) {
  WEFT_ASSIGN(std::shared_ptr<Queue> q, handle_input<Queue>(c));
  q->close(c, c.attr<bool>("cancel_pending_enqueues"), std::move(done));
  return {};
}

template <Status (*kStart)(KernelContext&, Kernel::Done&)>
void start(KernelContext& c, Kernel::Done done) {
  if (Status s = kStart(c, done); !s.ok()) done(s);
}

Status run_is_closed(KernelContext& c) {
  WEFT_ASSIGN(std::shared_ptr<Queue> q, handle_input<Queue>(c));
  c.set_output(0, Tensor::scalar(q->closed()));
  return {};
}

Status run_size(KernelContext& c) {
  WEFT_ASSIGN(std::shared_ptr<Queue> q, handle_input<Queue>(c));
  c.set_output(0, Tensor::scalar(int32_t(q->size())));
  return {};
}

// A version 1 handle of the queue that a resource handle names.
class FakeQueue final : public Kernel {
 public:
  static Result<std::unique_ptr<Kernel>> create(const NodeInfo&) { return std::unique_ptr<Kernel>(std::make_unique<FakeQueue>()); }
  Status run(KernelContext& c) override {
    WEFT_ASSIGN(std::shared_ptr<Queue> q, c.resource<Queue>(0));
    WEFT_ASSIGN(ResourceName n, handle_name(c, 0));
    // Ops of version 1 look for it by name; a handle that carries its queue has not told the manager of it.
    WEFT_RETURN_IF_ERROR(c.resources().find_or_create<Queue>(n.container, n.name, [&]() -> Result<std::shared_ptr<Queue>> { return q; }).status());
    Tensor handle = Tensor::vector(std::vector<tstring>{tstring(n.container), tstring(n.name)});
    {
      std::unique_lock lock(ref_.mutex());
      ref_.tensor() = handle;
    }
    c.set_output(0, std::move(handle));
    c.set_output_ref(0, &ref_);
    return {};
  }

 private:
  RefVariable ref_;
};

// Container and name.
Status ref_handle(ShapeContext& c) {
  c.output(0, {2});
  return {};
}

}  // namespace

void queue(Registry& r) {
  r.add("FakeQueue")
      .doc("A version 1 handle of a queue that has another.")
      .in("resource: resource")
      .out("handle: Ref(string)")
      .stateful()
      .shape(ref_handle)
      .cpu_make(FakeQueue::create);

  r.add("FIFOQueue")
      .doc("Makes or finds a queue that gives its elements in the order they came, behind a version 1 handle.")
      .out("handle: Ref(string)")
      .attr("component_types: list(type) >= 1")
      .attr("shapes: list(shape) >= 0 = []")
      .attr("capacity: int = -1")
      .attr("container: string = ''")
      .attr("shared_name: string = ''")
      .stateful()
      .effect_free()
      .shape(ref_handle)
      .cpu_make(HandleKernel<Queue>::create);

  r.add("FIFOQueueV2")
      .doc("Makes or finds a queue that gives its elements in the order they came.")
      .out("handle: resource")
      .attr("component_types: list(type) >= 1")
      .attr("shapes: list(shape) >= 0 = []")
      .attr("capacity: int = -1")
      .attr("container: string = ''")
      .attr("shared_name: string = ''")
      .stateful()
      .effect_free()
      .shape(shapes::scalar)
      .cpu_make(HandleKernel<Queue>::create);

  r.add("PaddingFIFOQueue")
      .doc("Makes or finds a queue in order whose batches are padded to one shape, behind a version 1 handle.")
      .out("handle: Ref(string)")
      .attr("component_types: list(type) >= 1")
      .attr("shapes: list(shape) >= 0 = []")
      .attr("capacity: int = -1")
      .attr("container: string = ''")
      .attr("shared_name: string = ''")
      .stateful()
      .effect_free()
      .shape(ref_handle)
      .cpu_make(HandleKernel<Queue>::create);

  r.add("PaddingFIFOQueueV2")
      .doc("Makes or finds a queue in order whose batches are padded to one shape.")
      .out("handle: resource")
      .attr("component_types: list(type) >= 1")
      .attr("shapes: list(shape) >= 0 = []")
      .attr("capacity: int = -1")
      .attr("container: string = ''")
      .attr("shared_name: string = ''")
      .stateful()
      .effect_free()
      .shape(shapes::scalar)
      .cpu_make(HandleKernel<Queue>::create);

  r.add("PriorityQueue")
      .doc("Makes or finds a queue that gives the element of smallest priority first, behind a version 1 handle.")
      .out("handle: Ref(string)")
      .attr("component_types: list(type) >= 0 = []")
      .attr("shapes: list(shape) >= 0")
      .attr("capacity: int = -1")
      .attr("container: string = ''")
      .attr("shared_name: string = ''")
      .stateful()
      .effect_free()
      .shape(ref_handle)
      .cpu_make(HandleKernel<Queue>::create);

  r.add("PriorityQueueV2")
      .doc("Makes or finds a queue that gives the element of smallest priority first.")
      .out("handle: resource")
      .attr("component_types: list(type) >= 0 = []")
      .attr("shapes: list(shape) >= 0")
      .attr("capacity: int = -1")
      .attr("container: string = ''")
      .attr("shared_name: string = ''")
      .stateful()
      .effect_free()
      .shape(shapes::scalar)
      .cpu_make(HandleKernel<Queue>::create);

  r.add("RandomShuffleQueue")
      .doc("Makes or finds a queue that gives its elements in random order, behind a version 1 handle.")
      .out("handle: Ref(string)")
      .attr("component_types: list(type) >= 1")
      .attr("shapes: list(shape) >= 0 = []")
      .attr("capacity: int = -1")
      .attr("min_after_dequeue: int = 0")
      .attr("seed: int = 0")
      .attr("seed2: int = 0")
      .attr("container: string = ''")
      .attr("shared_name: string = ''")
      .stateful()
      .effect_free()
      .shape(ref_handle)
      .cpu_make(HandleKernel<Queue>::create);

  r.add("RandomShuffleQueueV2")
      .doc("Makes or finds a queue that gives its elements in random order.")
      .out("handle: resource")
      .attr("component_types: list(type) >= 1")
      .attr("shapes: list(shape) >= 0 = []")
      .attr("capacity: int = -1")
      .attr("min_after_dequeue: int = 0")
      .attr("seed: int = 0")
      .attr("seed2: int = 0")
      .attr("container: string = ''")
      .attr("shared_name: string = ''")
      .stateful()
      .effect_free()
      .shape(shapes::scalar)
      .cpu_make(HandleKernel<Queue>::create);

  r.add("QueueClose")
      .doc("Lets nothing more into a queue, by a version 1 handle.")
      .in("handle: Ref(string)")
      .attr("cancel_pending_enqueues: bool = false")
      .shape(shapes::no_outputs)
      .no_grad()
      .cpu_make(AsyncKernel<start<start_close>>::create);

  r.add("QueueCloseV2")
      .doc("Lets nothing more into a queue.")
      .in("handle: resource")
      .attr("cancel_pending_enqueues: bool = false")
      .stateful()
      .shape(shapes::no_outputs)
      .cpu_make(AsyncKernel<start<start_close>>::create);

  r.add("QueueDequeueMany")
      .doc("Takes n elements out of a queue, stacked, when there are so many, by a version 1 handle.")
      .in("handle: Ref(string)")
      .in("n: int32")
      .out("components: component_types")
      .attr("component_types: list(type) >= 1")
      .attr("timeout_ms: int = -1")
      .shape(shapes::unknown)
      .no_grad()
      .cpu_make(AsyncKernel<start<start_dequeue_many<false>>>::create);

  r.add("QueueDequeueManyV2")
      .doc("Takes n elements out of a queue, stacked, when there are so many.")
      .in("handle: resource")
      .in("n: int32")
      .out("components: component_types")
      .attr("component_types: list(type) >= 1")
      .attr("timeout_ms: int = -1")
      .stateful()
      .shape(shapes::unknown)
      .cpu_make(AsyncKernel<start<start_dequeue_many<false>>>::create);

  r.add("QueueDequeueUpTo")
      .doc("Takes n elements out of a queue, stacked, or what is left when it is closed, by a version 1 handle.")
      .in("handle: Ref(string)")
      .in("n: int32")
      .out("components: component_types")
      .attr("component_types: list(type) >= 1")
      .attr("timeout_ms: int = -1")
      .shape(shapes::unknown)
      .no_grad()
      .cpu_make(AsyncKernel<start<start_dequeue_many<true>>>::create);

  r.add("QueueDequeueUpToV2")
      .doc("Takes n elements out of a queue, stacked, or what is left when it is closed.")
      .in("handle: resource")
      .in("n: int32")
      .out("components: component_types")
      .attr("component_types: list(type) >= 1")
      .attr("timeout_ms: int = -1")
      .stateful()
      .shape(shapes::unknown)
      .cpu_make(AsyncKernel<start<start_dequeue_many<true>>>::create);

  r.add("QueueDequeue")
      .doc("Takes one element out of a queue when there is one, by a version 1 handle.")
      .in("handle: Ref(string)")
      .out("components: component_types")
      .attr("component_types: list(type) >= 1")
      .attr("timeout_ms: int = -1")
      .shape(shapes::unknown)
      .no_grad()
      .cpu_make(AsyncKernel<start<start_dequeue>>::create);

  r.add("QueueDequeueV2")
      .doc("Takes one element out of a queue when there is one.")
      .in("handle: resource")
      .out("components: component_types")
      .attr("component_types: list(type) >= 1")
      .attr("timeout_ms: int = -1")
      .stateful()
      .shape(shapes::unknown)
      .cpu_make(AsyncKernel<start<start_dequeue>>::create);

  r.add("QueueEnqueueMany")
      .doc("Puts the rows of tensors into a queue when there is room, by a version 1 handle.")
      .in("handle: Ref(string)")
      .in("components: Tcomponents")
      .attr("Tcomponents: list(type) >= 1")
      .attr("timeout_ms: int = -1")
      .shape(shapes::no_outputs)
      .no_grad()
      .cpu_make(AsyncKernel<start<start_enqueue_many>>::create);

  r.add("QueueEnqueueManyV2")
      .doc("Puts the rows of tensors into a queue when there is room.")
      .in("handle: resource")
      .in("components: Tcomponents")
      .attr("Tcomponents: list(type) >= 1")
      .attr("timeout_ms: int = -1")
      .stateful()
      .shape(shapes::no_outputs)
      .cpu_make(AsyncKernel<start<start_enqueue_many>>::create);

  r.add("QueueEnqueue")
      .doc("Puts one element into a queue when there is room, by a version 1 handle.")
      .in("handle: Ref(string)")
      .in("components: Tcomponents")
      .attr("Tcomponents: list(type) >= 1")
      .attr("timeout_ms: int = -1")
      .shape(shapes::no_outputs)
      .no_grad()
      .cpu_make(AsyncKernel<start<start_enqueue>>::create);

  r.add("QueueEnqueueV2")
      .doc("Puts one element into a queue when there is room.")
      .in("handle: resource")
      .in("components: Tcomponents")
      .attr("Tcomponents: list(type) >= 1")
      .attr("timeout_ms: int = -1")
      .stateful()
      .shape(shapes::no_outputs)
      .cpu_make(AsyncKernel<start<start_enqueue>>::create);

  r.add("QueueIsClosed")
      .doc("Tells whether a queue is closed, by a version 1 handle.")
      .in("handle: Ref(string)")
      .out("is_closed: bool")
      .shape(shapes::scalar)
      .cpu(run_is_closed);

  r.add("QueueIsClosedV2")
      .doc("Tells whether a queue is closed.")
      .in("handle: resource")
      .out("is_closed: bool")
      .stateful()
      .effect_free()
      .shape(shapes::scalar)
      .cpu(run_is_closed);

  r.add("QueueSize")
      .doc("Gives the number of elements in a queue, by a version 1 handle.")
      .in("handle: Ref(string)")
      .out("size: int32")
      .shape(shapes::scalar)
      .no_grad()
      .cpu(run_size);

  r.add("QueueSizeV2")
      .doc("Gives the number of elements in a queue.")
      .in("handle: resource")
      .out("size: int32")
      .stateful()
      .effect_free()
      .shape(shapes::scalar)
      .cpu(run_size);
}

}  // namespace weft_engine::ops
