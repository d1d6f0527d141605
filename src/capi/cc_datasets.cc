// Datasets for TensorFlow's C++ headers (core/framework/dataset.h): those of C++ classes seen from tf.data, and the engine's seen from C++ sources.
#include <map>
#include <mutex>
#include <set>

#include "capi/cc_internal.h"
#include "capi/cc_resources.h"
#include "op/cancellation.h"
#include "op/held.h"
#include "ops/data/dataset.h"
#include "ops/data/external_state.h"

using namespace weft_engine::capi;  // NOLINT
using weft_engine::op::CancellationManager;
using weft_engine::op::KernelContext;
using weft_engine::ops::data::Dataset;
using weft_engine::ops::data::DatasetPtr;
using weft_engine::ops::data::Element;
using weft_engine::ops::data::Iterator;
using weft_engine::ops::data::IteratorContext;
using weft_engine::ops::data::IteratorPtr;

// What C++ sources see of a dataset lasts as long as the dataset, so this must not keep it.
struct weft_dataset {
  std::weak_ptr<const Dataset> dataset;
  std::vector<weft_engine::core::DType> types;
  std::vector<PartialShape> shapes;
};
struct weft_iterator {
  IteratorPtr iterator;
};
struct weft_walk {
  IteratorContext context;
  std::shared_ptr<const void> functions;  // where this outlasts the request
};

namespace {

void add_to(void* element, const TF_Tensor* tensor) { static_cast<Element*>(element)->push_back(tensor ? tensor->tensor : Tensor()); }
void hand_over(const Element& element, void* sink, weft_add_tensor add) {
  for (const Tensor& t : element) add(sink, as_c(&t));
}

// Names of ops, for ever.
std::string_view kept(std::string_view op) {
  static std::mutex mutex;
  static auto* names = new std::set<std::string, std::less<>>;
  const std::lock_guard lock(mutex);
  return *names->emplace(op).first;
}

class CcDataset final : public Dataset, public weft_engine::ops::data::ExternalState {
 public:
  CcDataset(std::string_view kind, std::vector<DType> types, std::vector<PartialShape> shapes, std::vector<DatasetPtr> inputs, void* object,
            const weft_dataset_functions* f)
      : Dataset(kind, std::move(types), std::move(shapes), std::move(inputs)), object_(object, f->resource), f_(f) {}
  void* object() const { return object_.get(); }
  const weft_dataset_functions* functions() const { return f_; }
  std::string debug_string() const override {
    std::string text;
    (void)caught([&] { return text = object_.describe(), Status(); });
    return text;
  }
  Status external_state() const override {
    return caught([&] { return taken(f_->external_state(object_.get())); });
  }

 protected:
  int64_t count() const override {
    int64_t n = weft_engine::ops::data::kUnknownCardinality;
    (void)caught([&] { return n = f_->cardinality(object_.get()), Status(); });
    return n;
  }
  Status at(IteratorContext& c, int64_t index, Element& out) const override {
    weft_walk walk{c, nullptr};
    WEFT_RETURN_IF_ERROR(caught([&] { return taken(f_->at(object_.get(), &walk, index, &out, add_to)); }));
    return weft_engine::ops::data::verify_types(types(), types_of(out));
  }
  weft_engine::op::Result<IteratorPtr> walk(IteratorContext& c) const override;

 private:
  friend class CcIterator;
  static std::vector<DType> types_of(const Element& element) {
    std::vector<DType> types;
    for (const Tensor& t : element) types.push_back(t.valid() ? t.dtype() : DType::kInvalid);
    return types;
  }
  const CountedObject object_;
  const weft_dataset_functions* const f_;
};

// The program's iterator may register callbacks that outlast the step in which they are registered: it has a cancellation of its own, which that of
// the step that asks reaches while it asks.
class CcIterator final : public Iterator {
 public:
  explicit CcIterator(const CcDataset& d) : Iterator(d) {}
  ~CcIterator() override {
    cancellation_.start_cancel();
    if (object_) (void)caught([&] { return of().f_->end(object_), Status(); });
  }
  Status make(IteratorContext& c) {
    const std::string prefix = c.path && c.path->parent ? c.path->parent->to_string() : "Iterator::Root";
    return asked(c, [&](weft_walk* walk) { return of().f_->iterate(of().object(), walk, text_of(prefix), &object_); });
  }

 protected:
  Status advance(IteratorContext& c, Element& out, bool& end) override {
    int ended = 0;
    Status s = asked(c, [&](weft_walk* walk) { return of().f_->next(object_, walk, &out, add_to, &ended); });
    end = ended != 0;
    if (!s.ok() || end) {
      out.clear();
      return s;
    }
    return weft_engine::ops::data::verify_types(of().types(), CcDataset::types_of(out));
  }

 private:
  const CcDataset& of() const { return static_cast<const CcDataset&>(dataset()); }
  template <class F>
  Status asked(IteratorContext& c, F&& f) {
    weft_walk walk{c, nullptr};
    walk.context.env.cancellation = &cancellation_;
    if (path()) walk.context.path = path();
    CancellationManager* const step = c.env.cancellation;
    const CancellationManager::Token token = step ? step->get_token() : 0;
    if (step && !step->register_callback(token, [this] { cancellation_.start_cancel(); })) return cancelled("Operation was cancelled");
    Status s = caught([&] { return taken(f(&walk)); });
    if (step) step->deregister_callback(token);
    return s;
  }
  CancellationManager cancellation_;
  void* object_ = nullptr;
};

weft_engine::op::Result<IteratorPtr> CcDataset::walk(IteratorContext& c) const {
  auto made = std::make_unique<CcIterator>(*this);
  WEFT_RETURN_IF_ERROR(made->make(c));
  return IteratorPtr(std::move(made));
}

// The objects that C++ sources see of the engine's datasets, by dataset and library. Those of datasets that are gone are let go of when another comes.
class Wrapped {
 public:
  static Wrapped& get() {
    static auto* all = new Wrapped;
    return *all;
  }
  void* find_or_make(const DatasetPtr& dataset, const weft_dataset_functions* f, void* (*wrap)(weft_dataset*)) {
    std::vector<std::shared_ptr<void>> gone;  // destroyed without the lock
    const std::lock_guard lock(mutex_);
    auto it = objects_.find({dataset.get(), f});
    if (it != objects_.end() && it->second.dataset.lock() == dataset) return it->second.object.get();
    for (auto old = objects_.begin(); old != objects_.end();) {
      if (!old->second.dataset.expired()) {
        ++old;
        continue;
      }
      gone.push_back(std::move(old->second.object));
      old = objects_.erase(old);
    }
    const auto unref = f->resource.unref;
    std::shared_ptr<void> object(wrap(new weft_dataset{dataset, dataset->types(), dataset->shapes()}), [unref](void* o) { unref(o); });
    return (objects_[{dataset.get(), f}] = {dataset, std::move(object)}).object.get();
  }

 private:
  struct Entry {
    std::weak_ptr<const Dataset> dataset;
    std::shared_ptr<void> object;
  };
  std::mutex mutex_;
  std::map<std::pair<const Dataset*, const weft_dataset_functions*>, Entry> objects_;
};

weft_engine::op::Result<DatasetPtr> engine_dataset(weft_dataset* d) {
  DatasetPtr dataset = d->dataset.lock();
  if (!dataset) return failed_precondition("the dataset is gone: the tensor that held it, and the dataset that was made of it");
  return dataset;
}

}  // namespace

TF_Status* weft_dataset_make(weft_run* run, const weft_dataset_def* def, void* object, const weft_dataset_functions* f, TF_Tensor** out) {
  return returned(caught([&]() -> Status {
    const CountedObject until_made(object, f->resource);  // also on an error: the reference is ours
    std::vector<DType> types;
    for (size_t i = 0; i < def->num_types; ++i) {
      WEFT_ASSIGN(DType type, dtype_from(static_cast<TF_DataType>(def->types[i])));
      types.push_back(type);
    }
    std::vector<PartialShape> shapes;
    for (size_t i = 0; i < def->num_shapes; ++i) shapes.push_back(partial_of(def->shapes[i]));
    if (types.size() != shapes.size())
      return invalid_argument("a dataset of ", types.size(), " components has ", shapes.size(),
                              " shapes: output_dtypes() and output_shapes() must agree");
    std::string_view kind = kept(view_of(def->op));
    if (const size_t at = kind.rfind("Dataset"); at != std::string_view::npos && at > 0) kind = kind.substr(0, at);
    std::vector<DatasetPtr> inputs;
    auto* c = reinterpret_cast<KernelContext*>(run);
    for (int i = 0; c && i < c->num_inputs(); ++i) {
      const Tensor& t = c->input(i);
      if (!t.valid() || t.dtype() != DType::kVariant) continue;
      if (auto input = weft_engine::ops::data::dataset_of_tensor(t); input.ok()) inputs.push_back(std::move(input).value());
    }
    DatasetPtr made = std::make_shared<CcDataset>(kind, std::move(types), std::move(shapes), std::move(inputs), until_made.referenced(), f);
    if (c) {
      WEFT_RETURN_IF_ERROR(emit(*c, made));
    }
    *out = new TF_Tensor{weft_engine::ops::data::dataset_tensor(std::move(made))};
    return {};
  }));
}

TF_Status* weft_dataset_object(const TF_Tensor* variant, const weft_dataset_functions* f, void* (*wrap)(weft_dataset*), void** object) {
  return returned(caught([&]() -> Status {
    if (!variant || !variant->tensor.valid()) return invalid_argument("Tensor must be a Dataset object.");
    WEFT_ASSIGN(DatasetPtr dataset, weft_engine::ops::data::dataset_of_tensor(variant->tensor));
    if (const auto* ours = dynamic_cast<const CcDataset*>(dataset.get()); ours && ours->functions() == f) {
      *object = ours->object();
      return {};
    }
    *object = Wrapped::get().find_or_make(dataset, f, wrap);
    return {};
  }));
}

void weft_dataset_delete(weft_dataset* d) { delete d; }
size_t weft_dataset_num_components(weft_dataset* d) { return d->types.size(); }
int weft_dataset_type(weft_dataset* d, size_t i) { return int(d->types[i]); }
weft_dims weft_dataset_shape(weft_dataset* d, size_t i) { return dims_of(d->shapes[i]); }
int64_t weft_dataset_cardinality(weft_dataset* d) {
  const DatasetPtr dataset = d->dataset.lock();
  return dataset ? dataset->cardinality() : weft_engine::ops::data::kUnknownCardinality;
}
TF_Buffer* weft_dataset_debug_string(weft_dataset* d) {
  const DatasetPtr dataset = d->dataset.lock();
  const std::string text = dataset ? dataset->debug_string() : "";
  return TF_NewBufferFromString(text.data(), text.size());
}
TF_Status* weft_dataset_at(weft_dataset* d, weft_walk* walk, int64_t index, void* sink, weft_add_tensor add) {
  return returned(caught([&]() -> Status {
    WEFT_ASSIGN(DatasetPtr dataset, engine_dataset(d));
    Element element;
    WEFT_RETURN_IF_ERROR(dataset->element_at(walk->context, index, element));
    hand_over(element, sink, add);
    return {};
  }));
}
TF_Status* weft_dataset_iterate(weft_dataset* d, weft_walk* walk, weft_iterator** out) {
  return returned(caught([&]() -> Status {
    WEFT_ASSIGN(DatasetPtr dataset, engine_dataset(d));
    WEFT_ASSIGN(IteratorPtr iterator, dataset->make_iterator(walk->context));
    *out = new weft_iterator{std::move(iterator)};
    return {};
  }));
}
TF_Status* weft_iterator_next(weft_iterator* it, weft_walk* walk, void* sink, weft_add_tensor add, int* end) {
  return returned(caught([&]() -> Status {
    Element element;
    bool ended = false;
    WEFT_RETURN_IF_ERROR(it->iterator->next(walk->context, element, ended));
    *end = ended;
    hand_over(element, sink, add);
    return {};
  }));
}
void weft_iterator_delete(weft_iterator* it) { delete it; }

weft_walk* weft_walk_of_run(weft_run* run) { return new weft_walk{IteratorContext(reinterpret_cast<KernelContext*>(run)->env()), nullptr}; }
weft_walk* weft_walk_copy(weft_walk* walk) {
  auto* copy = new weft_walk(*walk);
  IteratorContext& c = copy->context;
  if (c.env.functions && !copy->functions) copy->functions = weft_engine::op::hold(*c.env.functions);
  c.env.rendezvous = nullptr;
  c.env.trace = nullptr;
  c.shuffles = nullptr;
  return copy;
}
void weft_walk_delete(weft_walk* walk) { delete walk; }
weft_pool* weft_walk_pool(weft_walk* walk) { return reinterpret_cast<weft_pool*>(walk->context.env.pool); }
weft_resources* weft_walk_resources(weft_walk* walk) { return reinterpret_cast<weft_resources*>(walk->context.env.resources); }
weft_cancellation* weft_walk_cancellation(weft_walk* walk) { return reinterpret_cast<weft_cancellation*>(walk->context.env.cancellation); }
