// Iterators that deal the elements of one dataset out to several devices in turn.
#include <deque>
#include <mutex>

#include "op/registry.h"
#include "ops/data/iterator_resource.h"
#include "ops/state/waiters.h"

namespace weft_engine::ops::data {

namespace {

class MultiDeviceIterator final : public core::Resource {
 public:
  static constexpr const char* kTypeName = "N10tensorflow4data12_GLOBAL__N_119MultiDeviceIteratorE";
  MultiDeviceIterator(std::vector<DType> types, std::vector<PartialShape> shapes, size_t shards)
      : types_(std::move(types)), shapes_(std::move(shapes)), waiting_(shards) {}
  std::string type_name() const override { return "MultiDeviceIterator"; }
  static Result<std::shared_ptr<MultiDeviceIterator>> make(const KernelContext& c, const std::string&) {
    if (attr_types(c).size() != attr_shapes(c).size()) return invalid_argument("output_types and output_shapes must have the same length");
    return std::make_shared<MultiDeviceIterator>(attr_types(c), attr_shapes(c), c.attr<std::vector<std::string>>("devices").size());
  }
  Status check_shared(const KernelContext& c) const { return check(attr_types(c), attr_shapes(c)); }
  Status check(const std::vector<DType>& types, const std::vector<PartialShape>& shapes) const {
    WEFT_RETURN_IF_ERROR(verify_types(types, types_));
    return verify_shapes(shapes, shapes_);
  }

  // Gives the number of this start, which requests must name.
  Result<int64_t> start(IteratorContext& c, const Dataset& dataset) {
    WEFT_RETURN_IF_ERROR(verify_types(types_, dataset.types()));
    WEFT_RETURN_IF_ERROR(verify_shapes(shapes_, dataset.shapes()));
    WEFT_ASSIGN(IteratorPtr made, dataset.make_iterator(c));
    std::lock_guard lock(mutex_);
    iterator_ = std::move(made);
    for (auto& queue : waiting_) queue.clear();
    turn_ = 0;
    return ++incarnation_;
  }
  Status next(IteratorContext& c, int64_t shard, int64_t incarnation, Element& out, bool& end) {
    std::lock_guard lock(mutex_);
    if (incarnation != incarnation_ || incarnation_ == 0)
      return invalid_argument("Invalid incarnation id. Provided: ", incarnation, "; Expected: ", incarnation_);
    if (shard < 0 || shard >= int64_t(waiting_.size()))
      return invalid_argument("shard_num must be between 0 and ", waiting_.size() - 1, ", got ", shard);
    auto& queue = waiting_[size_t(shard)];
    while (queue.empty() && iterator_) {
      Element e;
      bool done = false;
      WEFT_RETURN_IF_ERROR(iterator_->next(c, e, done));
      if (done) {
        iterator_.reset();
        break;
      }
      waiting_[turn_].push_back(std::move(e));
      turn_ = (turn_ + 1) % waiting_.size();
    }
    end = queue.empty();
    if (end) return {};
    out = std::move(queue.front());
    queue.pop_front();
    return {};
  }

 private:
  const std::vector<DType> types_;
  const std::vector<PartialShape> shapes_;
  std::mutex mutex_;
  IteratorPtr iterator_;
  std::vector<std::deque<Element>> waiting_;  // dealt out, not asked for yet
  size_t turn_ = 0;
  int64_t incarnation_ = 0;
};

Result<std::unique_ptr<Kernel>> handle_kernel(const NodeInfo& node) { return HandleKernel<MultiDeviceIterator>::create(node); }

Status run_anonymous(KernelContext& c) {
  WEFT_ASSIGN(std::shared_ptr<MultiDeviceIterator> made, MultiDeviceIterator::make(c, ""));
  c.set_output(0, make_handle(c.device().name(), c.resources().default_container(), "AnonymousMultiDeviceIterator", MultiDeviceIterator::kTypeName,
                              std::move(made), true));
  if (c.num_outputs() > 1) c.set_output(1, deleter_tensor());
  return {};
}

Status run_init(KernelContext& c) {
  WEFT_ASSIGN(DatasetPtr dataset, dataset_input(c));
  WEFT_ASSIGN(std::shared_ptr<MultiDeviceIterator> iterator, c.resource<MultiDeviceIterator>(1));
  WEFT_ASSIGN(int64_t buffer, scalar_input<int64_t>(c, "max_buffer_size"));
  if (buffer < 0) return invalid_argument("max_buffer_size must not be negative, got ", buffer);
  IteratorContext ic(c.env());
  WEFT_ASSIGN(int64_t incarnation, iterator->start(ic, *dataset));
  c.set_output(0, Tensor::scalar(incarnation));
  return {};
}

Status run_get_next(KernelContext& c) {
  WEFT_ASSIGN(std::shared_ptr<MultiDeviceIterator> iterator, c.resource<MultiDeviceIterator>(0));
  WEFT_ASSIGN(int32_t shard, scalar_input<int32_t>(c, "shard_num"));
  WEFT_ASSIGN(int64_t incarnation, scalar_input<int64_t>(c, "incarnation_id"));
  IteratorContext ic(c.env());
  Element element;
  bool end = false;
  WEFT_RETURN_IF_ERROR(iterator->next(ic, shard, incarnation, element, end));
  if (end) return out_of_range("End of sequence");
  WEFT_RETURN_IF_ERROR(verify_element(attr_types(c), attr_shapes(c), element));
  for (size_t i = 0; i < element.size(); ++i) c.set_output(int(i), std::move(element[i]));
  return {};
}

Status run_from_string(KernelContext& c) {
  WEFT_ASSIGN(Tensor handle, handle_from_string(c, c.input(0), MultiDeviceIterator::kTypeName));
  WEFT_ASSIGN(std::shared_ptr<MultiDeviceIterator> iterator, c.resources().get<MultiDeviceIterator>(handle.data<ResourceHandle>()[0]));
  if (!attr_types(c).empty()) WEFT_RETURN_IF_ERROR(iterator->check(attr_types(c), attr_shapes(c)));
  c.set_output(0, std::move(handle));
  return {};
}

// The iterator is freed with its last handle.
Status run_delete(KernelContext& c) { return c.resource<MultiDeviceIterator>(0).status(); }

Status shard_shape(ShapeContext& c) {
  for (int i = 0; i < 3; ++i) WEFT_RETURN_IF_ERROR(c.with_rank(i, 0).status());
  return components_shape(c);
}

}  // namespace

void multi_device_iterators(Registry& r) {
  r.add("MultiDeviceIterator")
      .out("handle: resource")
      .attr("devices: list(string) >= 1")
      .attr("shared_name: string")
      .attr("container: string")
      .attr("output_types: list(type) >= 1")
      .attr("output_shapes: list(shape) >= 1")
      .stateful()
      .doc("An iterator that feeds several devices, shared by name.")
      .shape(shapes::scalar)
      .cpu_make(handle_kernel);

  r.add("AnonymousMultiDeviceIterator")
      .out("handle: resource")
      .out("deleter: variant")
      .attr("devices: list(string) >= 1")
      .attr("output_types: list(type) >= 1")
      .attr("output_shapes: list(shape) >= 1")
      .stateful()
      .doc("A former version of AnonymousMultiDeviceIteratorV3.")
      .shape(shapes::scalar)
      .cpu(run_anonymous);

  r.add("AnonymousMultiDeviceIteratorV3")
      .out("handle: resource")
      .attr("devices: list(string) >= 1")
      .attr("output_types: list(type) >= 1")
      .attr("output_shapes: list(shape) >= 1")
      .stateful()
      .doc("An iterator that feeds several devices and lives as long as its handle.")
      .shape(shapes::scalar)
      .cpu(run_anonymous);

  r.add("MultiDeviceIteratorInit")
      .in("dataset: variant")
      .in("multi_device_iterator: resource")
      .in("max_buffer_size: int64")
      .out("incarnation_id: int64")
      .stateful()
      .doc("Points a multi-device iterator at a dataset and gives the number of this start.")
      .shape([](ShapeContext& c) { return dataset_of(c, {"max_buffer_size"}); })
      .cpu(run_init);

  r.add("MultiDeviceIteratorGetNextFromShard")
      .in("multi_device_iterator: resource")
      .in("shard_num: int32")
      .in("incarnation_id: int64")
      .out("components: output_types")
      .attr("output_types: list(type) >= 1")
      .attr("output_shapes: list(shape) >= 1")
      .stateful()
      .doc("The next element of one device's share of a multi-device iterator.")
      .shape(shard_shape)
      .cpu(run_get_next);

  r.add("MultiDeviceIteratorToStringHandle")
      .in("multi_device_iterator: resource")
      .out("string_handle: string")
      .stateful()
      .doc("A string that names a multi-device iterator.")
      .shape([](ShapeContext& c) { return dataset_of(c, {"multi_device_iterator"}); })
      .cpu(run_to_string_handle);

  r.add("MultiDeviceIteratorFromStringHandle")
      .in("string_handle: string")
      .out("multi_device_iterator: resource")
      .attr("output_types: list(type) >= 0 = []")
      .attr("output_shapes: list(shape) >= 0 = []")
      .stateful()
      .doc("The multi-device iterator behind a string handle.")
      .shape([](ShapeContext& c) { return dataset_of(c, {"string_handle"}); })
      .cpu(run_from_string);

  r.add("DeleteMultiDeviceIterator")
      .in("multi_device_iterator: resource")
      .in("iterators: N * resource")
      .in("deleter: variant")
      .attr("N: int >= 0")
      .stateful()
      .doc("Ends an iterator that feeds several devices.")
      .shape(shapes::no_outputs)
      .cpu(run_delete);
}

}  // namespace weft_engine::ops::data
