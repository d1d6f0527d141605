// Iterators: made, pointed at a dataset, asked for elements.
#include <functional>

#include "op/optional.h"
#include "op/registry.h"
#include "ops/data/captured_function.h"
#include "ops/data/iterator_resource.h"
#include "ops/state/waiters.h"
#include "wire/proto.h"

namespace weft_engine::ops::data {

Result<std::shared_ptr<IteratorResource>> IteratorResource::make(const KernelContext& c, const std::string&) {
  if (attr_types(c).size() != attr_shapes(c).size())
    return invalid_argument("output_types and output_shapes must have the same length: ", attr_types(c).size(), " and ", attr_shapes(c).size());
  return std::make_shared<IteratorResource>(attr_types(c), attr_shapes(c));
}

Status IteratorResource::check_shared(const KernelContext& c) const {
  WEFT_RETURN_IF_ERROR(verify_types(attr_types(c), types_));
  return verify_shapes(attr_shapes(c), shapes_);
}

Status IteratorResource::start(IteratorContext& c, const Dataset& dataset) {
  auto walk = std::make_shared<Walk>();
  for (SeedGenerator* generator : seeds_below(dataset)) walk->state.seeds.push_back(generator->state());
  WEFT_ASSIGN(walk->iterator, dataset.make_iterator(c));
  WEFT_RETURN_IF_ERROR(verify_types(types_, dataset.types()));
  WEFT_RETURN_IF_ERROR(verify_shapes(shapes_, dataset.shapes()));
  std::lock_guard lock(mutex_);
  walk_.swap(walk);
  return {};
}

Status IteratorResource::next(IteratorContext& c, Element& out, bool& end) {
  std::shared_ptr<Walk> walk = this->walk();
  if (!walk)
    return failed_precondition(
        "GetNext() failed because the iterator has not been initialized. Ensure that you have run the initializer operation for this "
        "iterator before getting the next element.");
  std::lock_guard lock(walk->mutex);
  Status s = walk->iterator->next(c, out, end);
  walk->state.given += !end;
  return s;
}

std::shared_ptr<IteratorResource::Walk> IteratorResource::walk() {
  std::lock_guard lock(mutex_);
  return walk_;
}

namespace {

class StringHandles final : public core::Resource {
 public:
  static constexpr const char* kTypeName = "weft::StringHandles";
  static Result<std::shared_ptr<StringHandles>> of(const KernelContext& c) {
    return c.resources().find_or_create<StringHandles>("", "string_handles",
                                                       []() -> Result<std::shared_ptr<StringHandles>> { return std::make_shared<StringHandles>(); });
  }
  std::string type_name() const override { return "StringHandles"; }
  void add(const std::shared_ptr<const ResourceHandle::Info>& info) {
    std::lock_guard lock(mutex_);
    std::erase_if(known_, [](const auto& entry) { return entry.second.expired(); });
    known_[info->hash_code] = info;
  }
  std::shared_ptr<const ResourceHandle::Info> find(uint64_t hash_code) {
    std::lock_guard lock(mutex_);
    auto it = known_.find(hash_code);
    return it == known_.end() ? nullptr : it->second.lock();
  }

 private:
  std::mutex mutex_;
  std::map<uint64_t, std::weak_ptr<const ResourceHandle::Info>> known_;
};

struct Deleter final : core::VariantObject {
  std::string type_name() const override { return "tensorflow::ResourceDeleter"; }
};

}  // namespace

Tensor deleter_tensor() { return Tensor::scalar(Variant(std::make_shared<Deleter>())); }

// The message ResourceHandleProto: device, container, name, hash code and type name are fields 1 to 5.
Status run_to_string_handle(KernelContext& c) {
  const Tensor& t = c.input(0);
  if (t.rank() != 0) return invalid_argument("resource_handle must be a scalar");
  const auto& info = t.data<ResourceHandle>()[0].shared_info();
  if (!info) return invalid_argument("the resource handle is empty");
  WEFT_ASSIGN(std::shared_ptr<StringHandles> handles, StringHandles::of(c));
  handles->add(info);
  wire::ProtoWriter w;
  w.bytes(1, info->device);
  w.bytes(2, info->container);
  w.bytes(3, info->name);
  w.varint(4, info->hash_code);
  w.bytes(5, info->type_name);
  c.set_output(0, Tensor::scalar(tstring(w.take())));
  return {};
}

Result<Tensor> handle_from_string(KernelContext& c, const Tensor& text, const char* type_name) {
  if (text.rank() != 0) return invalid_argument("string_handle must be a scalar");
  std::string device, container, name, type;
  uint64_t hash_code = 0;
  wire::ProtoReader r(text.data<tstring>()[0].view());
  while (r.next()) {
    switch (r.field()) {
      case 1: device = r.string(); break;
      case 2: container = r.string(); break;
      case 3: name = r.string(); break;
      case 4: hash_code = r.varint(); break;
      case 5: type = r.string(); break;
      default: break;
    }
  }
  if (!r.ok()) return invalid_argument("Could not parse string_handle as a valid ResourceHandle");
  if (device != c.device().name())
    return invalid_argument("Attempted create an iterator on device \"", c.device().name(), "\" from handle defined on device \"", device, "\"");
  WEFT_ASSIGN(std::shared_ptr<StringHandles> handles, StringHandles::of(c));
  if (auto info = handles->find(hash_code)) return Tensor::scalar(ResourceHandle(std::move(info)));
  if (!c.resources().lookup(container, type_name, name)) return c.resources().absent(container, type_name, name);
  return make_handle(device, container, name, type_name);
}

namespace {

Result<std::unique_ptr<Kernel>> handle_kernel(const NodeInfo& node) { return HandleKernel<IteratorResource>::create(node); }

Status run_anonymous(KernelContext& c) {
  WEFT_ASSIGN(std::shared_ptr<IteratorResource> made, IteratorResource::make(c, ""));
  c.set_output(
      0, make_handle(c.device().name(), c.resources().default_container(), "AnonymousIterator", IteratorResource::kTypeName, std::move(made), true));
  return {};
}

Status run_anonymous_v2(KernelContext& c) {
  WEFT_RETURN_IF_ERROR(run_anonymous(c));
  c.set_output(1, deleter_tensor());
  return {};
}

// The iterator is freed with its last handle.
Status run_delete(KernelContext& c) { return c.resource<IteratorResource>(0).status(); }

Status run_make_iterator(KernelContext& c) {
  WEFT_ASSIGN(DatasetPtr dataset, dataset_input(c));
  WEFT_ASSIGN(std::shared_ptr<IteratorResource> iterator, c.resource<IteratorResource>(1));
  IteratorContext ic(c.env());
  return iterator->start(ic, *dataset);
}

Status run_get_next(KernelContext& c) {
  WEFT_ASSIGN(std::shared_ptr<IteratorResource> iterator, c.resource<IteratorResource>(0));
  IteratorContext ic(c.env());
  Element element;
  bool end = false;
  WEFT_RETURN_IF_ERROR(iterator->next(ic, element, end));
  if (end) return out_of_range("End of sequence");
  WEFT_RETURN_IF_ERROR(verify_element(attr_types(c), attr_shapes(c), element));
  for (size_t i = 0; i < element.size(); ++i) c.set_output(int(i), std::move(element[i]));
  return {};
}

Status run_get_next_as_optional(KernelContext& c) {
  WEFT_ASSIGN(std::shared_ptr<IteratorResource> iterator, c.resource<IteratorResource>(0));
  IteratorContext ic(c.env());
  auto optional = std::make_shared<Optional>();
  bool end = false;
  WEFT_RETURN_IF_ERROR(iterator->next(ic, optional->values, end));
  optional->has_value = !end;
  if (!end) WEFT_RETURN_IF_ERROR(verify_element(attr_types(c), attr_shapes(c), optional->values));
  c.set_output(0, Tensor::scalar(Variant(std::move(optional))));
  return {};
}

Status run_from_string_handle(KernelContext& c) {
  WEFT_ASSIGN(Tensor handle, handle_from_string(c, c.input(0), IteratorResource::kTypeName));
  WEFT_ASSIGN(std::shared_ptr<IteratorResource> iterator, c.resources().get<IteratorResource>(handle.data<ResourceHandle>()[0]));
  if (!attr_types(c).empty()) WEFT_RETURN_IF_ERROR(verify_types(attr_types(c), iterator->types()));
  if (!attr_shapes(c).empty()) WEFT_RETURN_IF_ERROR(verify_shapes(attr_shapes(c), iterator->shapes()));
  c.set_output(0, std::move(handle));
  return {};
}

// A handle that leads nowhere.
Status run_dummy_counter(KernelContext& c) {
  c.set_output(0, make_handle(c.device().name(), c.resources().default_container(), "dummy_resource", "N10tensorflow4data16IterationCounterE"));
  return {};
}

Status run_get_device(KernelContext& c) {
  WEFT_RETURN_IF_ERROR(c.resource<IteratorResource>(0).status());
  c.set_output(0, Tensor::scalar(tstring(c.device().name())));
  return {};
}

// Makes its dataset by a function without arguments, once.
class OneShotKernel final : public Kernel {
 public:
  static Result<std::unique_ptr<Kernel>> create(const NodeInfo&) { return std::unique_ptr<Kernel>(std::make_unique<OneShotKernel>()); }
  Status run(KernelContext& c) override {
    std::lock_guard lock(mutex_);
    if (!handle_.valid()) {
      auto make = [&] { return start(c); };
      if (c.attr<std::string>("shared_name").empty()) {
        WEFT_ASSIGN(std::shared_ptr<IteratorResource> made, make());
        handle_ = make_handle(c.device().name(), container_of(c), c.node().name(), IteratorResource::kTypeName, std::move(made), true);
      } else {
        WEFT_RETURN_IF_ERROR(shared_resource<IteratorResource>(c, make).status());
        handle_ = make_handle(c.device().name(), container_of(c), c.attr<std::string>("shared_name"), IteratorResource::kTypeName);
      }
    }
    c.set_output(0, handle_);
    return {};
  }

 private:
  static Result<std::shared_ptr<IteratorResource>> start(KernelContext& c) {
    WEFT_ASSIGN(FunctionPtr factory, CapturedFunction::make(c, "dataset_factory", Element()));
    WEFT_ASSIGN(std::shared_ptr<IteratorResource> iterator, IteratorResource::make(c, ""));
    IteratorContext ic(c.env());
    Element rets;
    WEFT_RETURN_IF_ERROR(factory->call(ic, {}, rets));
    if (rets.size() != 1 || rets[0].dtype() != DType::kVariant || rets[0].rank() != 0)
      return invalid_argument("The `dataset_factory` function must return a single scalar of dtype DT_VARIANT.");
    WEFT_ASSIGN(DatasetPtr dataset, dataset_of_tensor(rets[0]));
    WEFT_RETURN_IF_ERROR(iterator->start(ic, *dataset));
    return iterator;
  }
  std::mutex mutex_;
  Tensor handle_;
};

Status next_shape(ShapeContext& c) {
  WEFT_RETURN_IF_ERROR(c.with_rank(0, 0).status());
  return components_shape(c);
}

Status target_shape(ShapeContext& c) {
  WEFT_RETURN_IF_ERROR(c.with_rank(0, 0).status());
  return c.with_rank(1, 0).status();
}

}  // namespace

void iterators(Registry& r) {
  r.add("Iterator")
      .out("handle: resource")
      .attr("shared_name: string")
      .attr("container: string")
      .attr("output_types: list(type) >= 1")
      .attr("output_shapes: list(shape) >= 1")
      .stateful()
      .doc("The former name of IteratorV2.")
      .shape(shapes::scalar)
      .cpu_make(handle_kernel);

  r.add("IteratorV2")
      .out("handle: resource")
      .attr("shared_name: string")
      .attr("container: string")
      .attr("output_types: list(type) >= 1")
      .attr("output_shapes: list(shape) >= 1")
      .stateful()
      .doc("An iterator over datasets, shared by name.")
      .shape(shapes::scalar)
      .cpu_make(handle_kernel);

  r.add("AnonymousIterator")
      .out("handle: resource")
      .attr("output_types: list(type) >= 1")
      .attr("output_shapes: list(shape) >= 1")
      .stateful()
      .doc("A former version of AnonymousIteratorV3.")
      .shape(shapes::scalar)
      .cpu(run_anonymous);

  r.add("AnonymousIteratorV2")
      .out("handle: resource")
      .out("deleter: variant")
      .attr("output_types: list(type) >= 1")
      .attr("output_shapes: list(shape) >= 1")
      .stateful()
      .doc("A former version of AnonymousIteratorV3, with a deleter that ends the iterator.")
      .shape(shapes::scalar)
      .cpu(run_anonymous_v2);

  r.add("AnonymousIteratorV3")
      .out("handle: resource")
      .attr("output_types: list(type) >= 1")
      .attr("output_shapes: list(shape) >= 1")
      .stateful()
      .doc("An iterator over datasets that lives as long as its handle.")
      .shape(shapes::scalar)
      .cpu(run_anonymous);

  r.add("OneShotIterator")
      .out("handle: resource")
      .attr("dataset_factory: func")
      .attr("output_types: list(type) >= 1")
      .attr("output_shapes: list(shape) >= 1")
      .attr("container: string = ''")
      .attr("shared_name: string = ''")
      .stateful()
      .doc("An iterator over the dataset that a function makes.")
      .shape(shapes::scalar)
      .cpu_make(OneShotKernel::create);

  r.add("DeleteIterator").in("handle: resource").in("deleter: variant").stateful().doc("Ends an iterator.").shape(shapes::no_outputs).cpu(run_delete);

  r.add("MakeIterator")
      .in("dataset: variant")
      .in("iterator: resource")
      .stateful()
      .doc("Points an iterator at the start of a dataset.")
      .shape(target_shape)
      .cpu(run_make_iterator);

  r.add("IteratorGetNext")
      .in("iterator: resource")
      .out("components: output_types")
      .attr("output_types: list(type) >= 1")
      .attr("output_shapes: list(shape) >= 1")
      .stateful()
      .doc("The next element of an iterator; fails at the end.")
      .shape(next_shape)
      .cpu(run_get_next);

  r.add("IteratorGetNextSync")
      .in("iterator: resource")
      .out("components: output_types")
      .attr("output_types: list(type) >= 1")
      .attr("output_shapes: list(shape) >= 1")
      .stateful()
      .doc("As IteratorGetNext, on the calling thread.")
      .shape(next_shape)
      .cpu(run_get_next);

  r.add("IteratorGetNextAsOptional")
      .in("iterator: resource")
      .out("optional: variant")
      .full_type("OPTIONAL(FOR_EACH(PRODUCT, TENSOR(VAR:output_types), VAR:output_types))")
      .attr("output_types: list(type) >= 1")
      .attr("output_shapes: list(shape) >= 1")
      .stateful()
      .doc("The next element of an iterator as an optional, which is empty at the end.")
      .shape(shapes::scalar)
      .cpu(run_get_next_as_optional);

  r.add("IteratorToStringHandle")
      .in("resource_handle: resource")
      .out("string_handle: string")
      .stateful()
      .doc("A string that names an iterator.")
      .shape([](ShapeContext& c) { return dataset_of(c, {"resource_handle"}); })
      .cpu(run_to_string_handle);

  r.add("IteratorFromStringHandle")
      .in("string_handle: string")
      .out("resource_handle: resource")
      .attr("output_types: list(type) >= 0 = []")
      .attr("output_shapes: list(shape) >= 0 = []")
      .stateful()
      .doc("The iterator behind a string handle.")
      .shape([](ShapeContext& c) { return dataset_of(c, {"string_handle"}); })
      .cpu(run_from_string_handle);

  r.add("IteratorFromStringHandleV2")
      .in("string_handle: string")
      .out("resource_handle: resource")
      .attr("output_types: list(type) >= 0 = []")
      .attr("output_shapes: list(shape) >= 0 = []")
      .stateful()
      .doc("The iterator behind a string handle.")
      .shape([](ShapeContext& c) { return dataset_of(c, {"string_handle"}); })
      .cpu(run_from_string_handle);

  r.add("DummyIterationCounter")
      .out("handle: resource")
      .stateful()
      .doc("A handle to a counter of iterations that is never read.")
      .shape(shapes::scalar)
      .cpu(run_dummy_counter);

  r.add("IteratorGetDevice")
      .in("resource: resource")
      .out("device: string")
      .stateful()
      .doc("The device that an iterator is on.")
      .shape([](ShapeContext& c) { return dataset_of(c, {"resource"}); })
      .cpu(run_get_device);

  r.add("ExperimentalIteratorGetDevice")
      .in("resource: resource")
      .out("device: string")
      .stateful()
      .doc("The former name of IteratorGetDevice.")
      .shape([](ShapeContext& c) { return dataset_of(c, {"resource"}); })
      .cpu(run_get_device);
}

}  // namespace weft_engine::ops::data
