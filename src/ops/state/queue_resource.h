// Queue: the resource behind FIFOQueueV2, PaddingFIFOQueueV2, PriorityQueueV2 and RandomShuffleQueueV2.
#pragma once

#include <deque>
#include <string>
#include <vector>

#include "core/resource.h"
#include "kernels/cpu/philox.h"
#include "ops/state/waiters.h"

namespace weft_engine::ops {

class Queue final : public core::Resource, public std::enable_shared_from_this<Queue> {
 public:
  static constexpr const char* kTypeName = "N10tensorflow14QueueInterfaceE";
  using Element = std::vector<core::Tensor>;  // one tensor for each component
  using Done = op::Kernel::Done;

  // From the attributes of the node, whose op says which kind it is.
  static core::Result<std::shared_ptr<Queue>> make(const op::KernelContext& c, std::string name);
  core::Status check_shared(const op::KernelContext& c) const;
  std::string type_name() const override { return kind_name(); }

  const std::vector<core::DType>& dtypes() const { return spec_.dtypes; }
  core::Status check_element(std::span<const core::Tensor* const> components) const;
  core::Status check_batch(std::span<const core::Tensor* const> components) const;

  void enqueue(const op::KernelContext& c, std::vector<Element> elements, Done done);
  void take_one(const op::KernelContext& c, std::function<void(core::Status, Element)> done);
  // Sets the outputs of c.
  void dequeue(op::KernelContext& c, Done done);
  void dequeue_many(op::KernelContext& c, int64_t n, bool up_to, Done done);
  void close(const op::KernelContext& c, bool cancel_pending, Done done);
  int64_t size() const;
  bool closed() const;

 private:
  enum class Kind { kFifo, kPadding, kPriority, kShuffle };
  struct Spec {
    Kind kind;
    std::vector<core::DType> dtypes;
    std::vector<core::PartialShape> shapes;  // none: not known
    int64_t capacity, min_after_dequeue = 0;
  };
  struct Request {
    int64_t left;
    std::vector<Element> taken;
  };
  static core::Result<Spec> spec_of(const op::NodeInfo& node);
  Queue(Spec spec, std::string name) : spec_(std::move(spec)), name_(std::move(name)) {}
  const char* kind_name() const;
  const char* inherited_name() const;
  core::Status insufficient(const char* kind, int64_t wanted, int64_t size) const;
  void put(Element e);
  Element take();
  void put_back(std::vector<Element> taken);
  Waiters::Outcome try_enqueue(std::vector<Element>& elements, size_t& next);
  Waiters::Outcome try_dequeue_many(op::KernelContext& c, Request& r, bool up_to);
  core::Status stack(op::KernelContext& c, const std::vector<Element>& elements) const;
  core::Status stack_component(op::KernelContext& c, int component, const std::vector<Element>& elements) const;
  uint32_t random();

  const Spec spec_;
  const std::string name_;
  Waiters waiters_;  // its mutex guards what follows
  std::deque<Element> items_;
  bool closed_ = false;
  kernels::Philox philox_;
  kernels::Philox::Block block_{};
  size_t used_ = 4;
};

}  // namespace weft_engine::ops
