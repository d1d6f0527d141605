// Iterators saved and restored.
#include <algorithm>
#include <functional>
#include <unordered_set>

#include "op/registry.h"
#include "ops/data/iterator_resource.h"

namespace weft_engine::ops::data {

Tensor IteratorState::to_tensor() const {
  std::vector<int64_t> numbers = {given};
  for (const auto& s : seeds) numbers.insert(numbers.end(), {s.seeds.first, s.seeds.second, s.given});
  return Tensor::vector(numbers);
}

Result<IteratorState> IteratorState::from_tensor(const Tensor& t) {
  if (t.dtype() != DType::kInt64 || t.rank() != 1 || t.dim(0) % 3 != 1) return data_loss("malformed state of an iterator");
  const int64_t* n = t.data<int64_t>();
  IteratorState state;
  state.given = n[0];
  for (int64_t i = 1; i < t.dim(0); i += 3) state.seeds.push_back({{n[i], n[i + 1]}, n[i + 2]});
  bool good = state.given >= 0;
  for (const auto& s : state.seeds) good &= s.given >= 0;
  if (!good) return data_loss("malformed state of an iterator");
  return state;
}

std::vector<SeedGenerator*> seeds_below(const Dataset& dataset) {
  std::vector<SeedGenerator*> out;
  std::unordered_set<const Dataset*> seen;
  std::function<void(const Dataset&)> visit = [&](const Dataset& d) {
    if (!seen.insert(&d).second) return;
    if (SeedGenerator* s = d.seeds(); s && std::find(out.begin(), out.end(), s) == out.end()) out.push_back(s);
    for (const DatasetPtr& input : d.inputs()) visit(*input);
  };
  visit(dataset);
  return out;
}

Result<IteratorState> IteratorResource::save() {
  std::shared_ptr<Walk> walk = this->walk();
  if (!walk)
    return failed_precondition(
        "Save() failed because the iterator has not been initialized. Ensure that you have run the initializer operation for this "
        "iterator before saving it.");
  std::lock_guard lock(walk->mutex);
  return walk->state;
}

Status IteratorResource::restore(IteratorContext& c, const IteratorState& state) {
  std::shared_ptr<Walk> old = walk();
  if (!old)
    return failed_precondition(
        "Failed to restore dataset iterator from checkpoint: Restore() failed because the iterator has not been initialized. Ensure that "
        "you have run the initializer operation for this iterator before restoring it.");
  const DatasetPtr dataset = old->iterator->dataset().shared_from_this();
  const auto generators = seeds_below(*dataset);
  if (generators.size() != state.seeds.size())
    return invalid_argument("The saved iterator walked over a dataset with ", state.seeds.size(), " random orders, this one has ", generators.size());
  for (size_t i = 0; i < generators.size(); ++i) generators[i]->restore(state.seeds[i]);
  auto fresh = std::make_shared<Walk>();
  WEFT_ASSIGN(fresh->iterator, dataset->make_iterator(c));
  fresh->state = state;
  for (int64_t i = 0; i < state.given; ++i) {
    Element element;
    bool end = false;
    Status s = fresh->iterator->next(c, element, end);
    if (s.code() == Code::kCancelled) return s;
    if (end) break;
  }
  std::lock_guard lock(mutex_);
  walk_.swap(fresh);
  return {};
}

namespace {

Status run_serialize(KernelContext& c) {
  WEFT_ASSIGN(std::shared_ptr<IteratorResource> iterator, c.resource<IteratorResource>(0));
  WEFT_ASSIGN(IteratorState state, iterator->save());
  WEFT_ASSIGN(Tensor* out, c.allocate(0, {1}));
  out->data<Variant>()[0] = Variant(std::make_shared<const IteratorState>(std::move(state)));
  return {};
}

Status run_deserialize(KernelContext& c) {
  WEFT_ASSIGN(std::shared_ptr<IteratorResource> iterator, c.resource<IteratorResource>(0));
  const Tensor& t = c.input(1);
  const IteratorState* state = t.num_elements() == 1 ? t.data<Variant>()[0].get<IteratorState>() : nullptr;
  if (!state) return invalid_argument("serialized must hold the state of an iterator");
  IteratorContext ic(c.env());
  return iterator->restore(ic, *state);
}

// Nothing is tuned here, so that there is no model of how long the parts take: as in TensorFlow where autotune is off.
Status run_model(KernelContext& c) {
  WEFT_ASSIGN(std::shared_ptr<IteratorResource> iterator, c.resource<IteratorResource>(0));
  if (!iterator->started())
    return failed_precondition(
        "GetModelProto() failed because the iterator has not been initialized. Ensure that you have run the initializer operation for this iterator "
        "before getting "
        "the next element.");
  return not_found(
      "Cannot find this iterator's analytical model. Did you disable autotune for the dataset used to create this iterator? See more information at "
      "https://www.tensorflow.org/api_docs/python/tf/data/experimental/AutotuneOptions .");
}

Status serialized_shape(ShapeContext& c) {
  c.output(0, PartialShape::vector(kUnknownDim));
  return {};
}

}  // namespace

void saved_iterators(Registry& r) {
  r.add("SerializeIterator")
      .in("resource_handle: resource")
      .out("serialized: variant")
      .attr("external_state_policy: int = 0")
      .stateful()
      .doc("The state of an iterator as a variant.")
      .shape(serialized_shape)
      .cpu(run_serialize);

  r.add("DeserializeIterator")
      .in("resource_handle: resource")
      .in("serialized: variant")
      .stateful()
      .doc("Sets an iterator to a state that SerializeIterator saved.")
      .shape(shapes::no_outputs)
      .cpu(run_deserialize);

  r.add("IteratorGetModelProto")
      .in("iterator: resource")
      .out("model_proto: string")
      .stateful()
      .doc("How an iterator is tuned; here none is.")
      .shape(shapes::scalar)
      .cpu(run_model);
}

}  // namespace weft_engine::ops::data
