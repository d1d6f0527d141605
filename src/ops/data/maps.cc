// Datasets with a function over each element: map, filter, take while, scan.
#include "op/registry.h"
#include "ops/data/prefetch_buffer.h"
#include "ops/data/captured_function.h"
#include "ops/data/dataset.h"

namespace weft_engine::ops::data {

namespace {

// A function may end the walk by OutOfRange, unless the number of elements is promised.
Status end_by_out_of_range(Status s, bool preserve_cardinality, bool& end) {
  if (s.code() != Code::kOutOfRange) return s;
  if (preserve_cardinality) return invalid_argument("Function invocation produced OutOfRangeError: ", s.message());
  end = true;
  return {};
}

class MapDataset final : public UnaryDataset {
 public:
  // `calls`: how many at once, on threads of the iterator; 0: one by one, on the thread that asks.
  MapDataset(std::string_view kind, const DatasetPtr& input, FunctionPtr f, int calls, bool preserve_cardinality, const std::vector<DType>& types,
             const std::vector<PartialShape>& shapes)
      : UnaryDataset(kind, input, types, shapes), f_(std::move(f)), calls_(calls), preserve_cardinality_(preserve_cardinality) {}
  int64_t count() const override { return preserve_cardinality_ ? input().cardinality() : kUnknownCardinality; }
  Status random_indexing() const override { return input().random_indexing(); }

 protected:
  Result<IteratorPtr> walk(IteratorContext& c) const override { return calls_ ? iterate<ParallelWalk>(*this, c) : iterate<Walk>(*this, c); }
  Status at(IteratorContext& c, int64_t index, Element& out) const override {
    Element args;
    WEFT_RETURN_IF_ERROR(input().element_at(c, index, args));
    return f_->call(c, std::move(args), out);
  }

 private:
  class ParallelWalk final : public IteratorOf<MapDataset> {
   public:
    ParallelWalk(const MapDataset& d, IteratorPtr input)
        : IteratorOf(d),
          prefetched_(std::move(input), d.calls_, d.calls_,
                      [f = d.f_, preserve = d.preserve_cardinality_](IteratorContext& c, Element& e, bool& end) {
                        Element out;
                        Status s = end_by_out_of_range(f->call(c, std::move(e), out), preserve, end);
                        e = std::move(out);
                        return s;
                      }) {}

   protected:
    Status advance(IteratorContext& c, Element& out, bool& end) override { return prefetched_.next(c, out, end); }

   private:
    PrefetchBuffer prefetched_;
  };
  class Walk final : public UnaryIterator<MapDataset> {
   public:
    using UnaryIterator::UnaryIterator;

   protected:
    Status advance(IteratorContext& c, Element& out, bool& end) override {
      Element args;
      WEFT_RETURN_IF_ERROR(pull(c, args, end));
      if (end) return {};
      return end_by_out_of_range(d().f_->call(c, std::move(args), out), d().preserve_cardinality_, end);
    }
  };
  const FunctionPtr f_;
  const int calls_;
  const bool preserve_cardinality_;
};

Status run_map(KernelContext& c) {
  WEFT_ASSIGN(DatasetPtr input, dataset_input(c));
  WEFT_ASSIGN(FunctionPtr f, CapturedFunction::make(c, "f", "other_arguments"));
  return emit(c, std::make_shared<MapDataset>("Map", input, std::move(f), 0, c.attr<bool>("preserve_cardinality"), attr_types(c), attr_shapes(c)));
}

// Results come in the order of the elements, also where the program does not ask for it.
template <class Count>
Status run_parallel_map(KernelContext& c) {
  WEFT_ASSIGN(Count calls, scalar_input<Count>(c, "num_parallel_calls"));
  if (calls < 1 && calls != -1) return invalid_argument("num_parallel_calls must be greater than zero.");
  WEFT_ASSIGN(DatasetPtr input, dataset_input(c));
  WEFT_ASSIGN(FunctionPtr f, CapturedFunction::make(c, "f", "other_arguments"));
  return emit(c, std::make_shared<MapDataset>("ParallelMap", input, std::move(f), parallel_calls(calls), c.attr<bool>("preserve_cardinality"),
                                              attr_types(c), attr_shapes(c)));
}

class FilterDataset final : public UnaryDataset {
 public:
  FilterDataset(std::string_view kind, const DatasetPtr& input, FunctionPtr predicate)
      : UnaryDataset(kind, input), predicate_(std::move(predicate)) {}
  int64_t count() const override { return kUnknownCardinality; }
  Result<IteratorPtr> walk(IteratorContext& c) const override { return iterate<Walk>(*this, c); }

 private:
  class Walk final : public UnaryIterator<FilterDataset> {
   public:
    using UnaryIterator::UnaryIterator;

   protected:
    Status advance(IteratorContext& c, Element& out, bool& end) override {
      for (bool keep = false; !keep;) {
        WEFT_RETURN_IF_ERROR(pull(c, out, end));
        if (end) return {};
        WEFT_RETURN_IF_ERROR(d().predicate_->call_predicate(c, out, "Filter predicate `f` must return a scalar bool.", keep));
      }
      return {};
    }
  };
  const FunctionPtr predicate_;
};

Status run_filter(KernelContext& c) {
  WEFT_ASSIGN(DatasetPtr input, dataset_input(c));
  WEFT_ASSIGN(FunctionPtr predicate, CapturedFunction::make(c, "predicate", "other_arguments"));
  if (predicate->num_results() != 1) return invalid_argument("predicate function has more than one return value.");
  return emit(c, std::make_shared<FilterDataset>("Filter", input, std::move(predicate)));
}

Status run_parallel_filter(KernelContext& c) {
  WEFT_ASSIGN(int64_t calls, scalar_input<int64_t>(c, "num_parallel_calls"));
  if (calls < 1 && calls != -1) return invalid_argument("num_parallel_calls must be greater than zero.");
  WEFT_ASSIGN(DatasetPtr input, dataset_input(c));
  WEFT_ASSIGN(FunctionPtr predicate, CapturedFunction::make(c, "predicate", "other_arguments"));
  if (predicate->num_results() != 1) return invalid_argument("predicate function has more than one return value.");
  return emit(c, std::make_shared<FilterDataset>("ParallelFilter", input, std::move(predicate)));
}

// Elements whose last component is true, without that component.
class FilterByLastComponentDataset final : public UnaryDataset {
 public:
  explicit FilterByLastComponentDataset(const DatasetPtr& input)
      : UnaryDataset("FilterByLastComponent", input, {input->types().begin(), input->types().end() - 1},
                     {input->shapes().begin(), input->shapes().end() - 1}) {}
  int64_t count() const override { return kUnknownCardinality; }
  Result<IteratorPtr> walk(IteratorContext& c) const override { return iterate<Walk>(*this, c); }

 private:
  class Walk final : public UnaryIterator<FilterByLastComponentDataset> {
   public:
    using UnaryIterator::UnaryIterator;

   protected:
    Status advance(IteratorContext& c, Element& out, bool& end) override {
      for (bool keep = false; !keep;) {
        WEFT_RETURN_IF_ERROR(pull(c, out, end));
        if (end) return {};
        if (out.empty() || out.back().dtype() != DType::kBool || out.back().num_elements() != 1)
          return invalid_argument("last component must be a bool scalar.");
        keep = out.back().data<bool>()[0];
        out.pop_back();
      }
      return {};
    }
  };
};

Status run_filter_by_last_component(KernelContext& c) {
  WEFT_ASSIGN(DatasetPtr input, dataset_input(c));
  if (input->types().empty() || input->types().back() != DType::kBool || input->shapes().empty() ||
      !input->shapes().back().compatible_with(PartialShape::scalar()))
    return invalid_argument("last component must be a bool scalar.");
  return emit(c, std::make_shared<FilterByLastComponentDataset>(input));
}

class TakeWhileDataset final : public UnaryDataset {
 public:
  TakeWhileDataset(const DatasetPtr& input, FunctionPtr predicate) : UnaryDataset("TakeWhile", input), predicate_(std::move(predicate)) {}
  int64_t count() const override { return kUnknownCardinality; }
  Result<IteratorPtr> walk(IteratorContext& c) const override { return iterate<Walk>(*this, c); }

 private:
  class Walk final : public UnaryIterator<TakeWhileDataset> {
   public:
    using UnaryIterator::UnaryIterator;

   protected:
    Status advance(IteratorContext& c, Element& out, bool& end) override {
      WEFT_RETURN_IF_ERROR(pull(c, out, end));
      if (end) return {};
      bool more = false;
      WEFT_RETURN_IF_ERROR(
          end_by_out_of_range(d().predicate_->call_predicate(c, out, "TakeWhile predicate must return a scalar bool.", more), false, end));
      if (more && !end) return {};
      input_.reset();
      end = true;
      return {};
    }
  };
  const FunctionPtr predicate_;
};

Status run_take_while(KernelContext& c) {
  WEFT_ASSIGN(DatasetPtr input, dataset_input(c));
  WEFT_ASSIGN(FunctionPtr predicate, CapturedFunction::make(c, "predicate", "other_arguments"));
  return emit(c, std::make_shared<TakeWhileDataset>(input, std::move(predicate)));
}

class ScanDataset final : public UnaryDataset {
 public:
  ScanDataset(const DatasetPtr& input, FunctionPtr f, Element state, bool preserve_cardinality, const std::vector<DType>& types,
              const std::vector<PartialShape>& shapes)
      : UnaryDataset("Scan", input, types, shapes), f_(std::move(f)), state_(std::move(state)), preserve_cardinality_(preserve_cardinality) {}
  int64_t count() const override { return preserve_cardinality_ ? input().cardinality() : kUnknownCardinality; }
  Result<IteratorPtr> walk(IteratorContext& c) const override { return iterate<Walk>(*this, c); }

 private:
  class Walk final : public UnaryIterator<ScanDataset> {
   public:
    Walk(const ScanDataset& d, IteratorPtr input) : UnaryIterator(d, std::move(input)), state_(d.state_) {}

   protected:
    Status advance(IteratorContext& c, Element& out, bool& end) override {
      Element element, rets, args = state_;
      WEFT_RETURN_IF_ERROR(pull(c, element, end));
      if (end) return {};
      std::move(element.begin(), element.end(), std::back_inserter(args));
      WEFT_RETURN_IF_ERROR(end_by_out_of_range(d().f_->call(c, std::move(args), rets), d().preserve_cardinality_, end));
      if (end) return {};
      const size_t n = state_.size(), wanted = n + d().types().size();
      if (rets.size() != wanted) return invalid_argument("The function must return ", wanted, " tensors but returned ", rets.size());
      for (size_t i = 0; i < n; ++i) {
        if (rets[i].dtype() != d().state_[i].dtype())
          return invalid_argument("Got wrong type for scan_func return value ", i, " (expected ", d().state_[i].dtype(), ", got ", rets[i].dtype(),
                                  ").");
      }
      for (size_t i = n; i < wanted; ++i) {
        if (rets[i].dtype() != d().types()[i - n])
          return invalid_argument("Got wrong type for scan_func return value ", i - n, " (expected ", d().types()[i - n], ", got ", rets[i].dtype(),
                                  ").");
      }
      std::move(rets.begin(), rets.begin() + ptrdiff_t(n), state_.begin());
      out.assign(std::make_move_iterator(rets.begin() + ptrdiff_t(n)), std::make_move_iterator(rets.end()));
      return {};
    }

   private:
    Element state_;
  };
  const FunctionPtr f_;
  const Element state_;
  const bool preserve_cardinality_;
};

Status run_scan(KernelContext& c) {
  WEFT_ASSIGN(DatasetPtr input, dataset_input(c));
  WEFT_ASSIGN(FunctionPtr f, CapturedFunction::make(c, "f", "other_arguments"));
  return emit(c, std::make_shared<ScanDataset>(input, std::move(f), inputs_of(c, "initial_state"), c.attr<bool>("preserve_cardinality"),
                                               attr_types(c), attr_shapes(c)));
}

}  // namespace

void maps(Registry& r) {
  r.add("MapDataset")
      .in("input_dataset: variant")
      .in("other_arguments: Targuments")
      .out("handle: variant")
      .full_type("DATASET(FOR_EACH(PRODUCT, TENSOR(VAR:output_types), VAR:output_types))")
      .attr("f: func")
      .attr("Targuments: list(type) >= 0")
      .attr("output_types: list(type) >= 1")
      .attr("output_shapes: list(shape) >= 1")
      .attr("use_inter_op_parallelism: bool = true")
      .attr("preserve_cardinality: bool = false")
      .attr("force_synchronous: bool = false")
      .attr("metadata: string = ''")
      .doc("A dataset with a function applied to each element.")
      .shape(shapes::scalar)
      .cpu(run_map);

  r.add("ExperimentalMapDataset")
      .in("input_dataset: variant")
      .in("other_arguments: Targuments")
      .out("handle: variant")
      .full_type("DATASET(FOR_EACH(PRODUCT, TENSOR(VAR:output_types), VAR:output_types))")
      .attr("f: func")
      .attr("Targuments: list(type) >= 0")
      .attr("output_types: list(type) >= 1")
      .attr("output_shapes: list(shape) >= 1")
      .attr("use_inter_op_parallelism: bool = true")
      .attr("preserve_cardinality: bool = false")
      .attr("force_synchronous: bool = false")
      .doc("The former name of MapDataset.")
      .shape(shapes::scalar)
      .cpu(run_map);

  r.add("ParallelMapDataset")
      .in("input_dataset: variant")
      .in("other_arguments: Targuments")
      .in("num_parallel_calls: int32")
      .out("handle: variant")
      .full_type("DATASET(FOR_EACH(PRODUCT, TENSOR(VAR:output_types), VAR:output_types))")
      .attr("f: func")
      .attr("Targuments: list(type) >= 0")
      .attr("output_types: list(type) >= 1")
      .attr("output_shapes: list(shape) >= 1")
      .attr("use_inter_op_parallelism: bool = true")
      .attr("sloppy: bool = false")
      .attr("preserve_cardinality: bool = false")
      .attr("metadata: string = ''")
      .doc("A former version of ParallelMapDatasetV2.")
      .shape([](ShapeContext& c) { return dataset_of(c, {"num_parallel_calls"}); })
      .cpu(run_parallel_map<int32_t>);

  r.add("ParallelMapDatasetV2")
      .in("input_dataset: variant")
      .in("other_arguments: Targuments")
      .in("num_parallel_calls: int64")
      .out("handle: variant")
      .full_type("DATASET(FOR_EACH(PRODUCT, TENSOR(VAR:output_types), VAR:output_types))")
      .attr("f: func")
      .attr("Targuments: list(type) >= 0")
      .attr("output_types: list(type) >= 1")
      .attr("output_shapes: list(shape) >= 1")
      .attr("use_inter_op_parallelism: bool = true")
      .attr("deterministic: string = 'default'")
      .attr("preserve_cardinality: bool = false")
      .attr("use_unbounded_threadpool: bool = false")
      .attr("metadata: string = ''")
      .doc("As MapDataset, with several calls of the function at once.")
      .shape([](ShapeContext& c) { return dataset_of(c, {"num_parallel_calls"}); })
      .cpu(run_parallel_map<int64_t>);

  r.add("FilterDataset")
      .in("input_dataset: variant")
      .in("other_arguments: Targuments")
      .out("handle: variant")
      .full_type("DATASET(FOR_EACH(PRODUCT, TENSOR(VAR:output_types), VAR:output_types))")
      .attr("predicate: func")
      .attr("Targuments: list(type) >= 0")
      .attr("output_types: list(type) >= 1")
      .attr("output_shapes: list(shape) >= 1")
      .attr("metadata: string = ''")
      .doc("A dataset with those elements for which a function gives true.")
      .shape(shapes::scalar)
      .cpu(run_filter);

  r.add("ParallelFilterDataset")
      .in("input_dataset: variant")
      .in("other_arguments: Targuments")
      .in("num_parallel_calls: int64")
      .out("handle: variant")
      .full_type("DATASET(FOR_EACH(PRODUCT, TENSOR(VAR:output_types), VAR:output_types))")
      .attr("predicate: func")
      .attr("deterministic: string = 'default'")
      .attr("Targuments: list(type) >= 0")
      .attr("output_types: list(type) >= 1")
      .attr("output_shapes: list(shape) >= 1")
      .attr("metadata: string = ''")
      .doc("As FilterDataset, with several calls of the function at once.")
      .shape([](ShapeContext& c) { return dataset_of(c, {"num_parallel_calls"}); })
      .cpu(run_parallel_filter);

  r.add("FilterByLastComponentDataset")
      .in("input_dataset: variant")
      .out("output: variant")
      .full_type("DATASET(FOR_EACH(PRODUCT, TENSOR(VAR:output_types), VAR:output_types))")
      .attr("output_types: list(type) >= 1")
      .attr("output_shapes: list(shape) >= 1")
      .doc("A dataset of those elements whose last component is true, without it.")
      .shape(shapes::scalar)
      .cpu(run_filter_by_last_component);

  r.add("TakeWhileDataset")
      .in("input_dataset: variant")
      .in("other_arguments: Targuments")
      .out("handle: variant")
      .full_type("DATASET(FOR_EACH(PRODUCT, TENSOR(VAR:output_types), VAR:output_types))")
      .attr("predicate: func")
      .attr("Targuments: list(type) >= 0")
      .attr("output_types: list(type) >= 1")
      .attr("output_shapes: list(shape) >= 1")
      .attr("metadata: string = ''")
      .doc("A dataset of the elements before the first for which a function gives false.")
      .shape(shapes::scalar)
      .cpu(run_take_while);

  r.add("ExperimentalTakeWhileDataset")
      .in("input_dataset: variant")
      .in("other_arguments: Targuments")
      .out("handle: variant")
      .full_type("DATASET(FOR_EACH(PRODUCT, TENSOR(VAR:output_types), VAR:output_types))")
      .attr("predicate: func")
      .attr("Targuments: list(type) >= 0")
      .attr("output_types: list(type) >= 1")
      .attr("output_shapes: list(shape) >= 1")
      .doc("The former name of TakeWhileDataset.")
      .shape(shapes::scalar)
      .cpu(run_take_while);

  r.add("ScanDataset")
      .in("input_dataset: variant")
      .in("initial_state: Tstate")
      .in("other_arguments: Targuments")
      .out("handle: variant")
      .full_type("DATASET(FOR_EACH(PRODUCT, TENSOR(VAR:output_types), VAR:output_types))")
      .attr("f: func")
      .attr("Tstate: list(type) >= 1")
      .attr("Targuments: list(type) >= 0")
      .attr("output_types: list(type) >= 1")
      .attr("output_shapes: list(shape) >= 1")
      .attr("preserve_cardinality: bool = false")
      .attr("use_default_device: bool = true")
      .attr("metadata: string = ''")
      .doc("A dataset with a function applied to each element and a state that it carries along.")
      .shape(shapes::scalar)
      .cpu(run_scan);

  r.add("ExperimentalScanDataset")
      .in("input_dataset: variant")
      .in("initial_state: Tstate")
      .in("other_arguments: Targuments")
      .out("handle: variant")
      .full_type("DATASET(FOR_EACH(PRODUCT, TENSOR(VAR:output_types), VAR:output_types))")
      .attr("f: func")
      .attr("Tstate: list(type) >= 1")
      .attr("Targuments: list(type) >= 0")
      .attr("output_types: list(type) >= 1")
      .attr("output_shapes: list(shape) >= 1")
      .attr("preserve_cardinality: bool = false")
      .doc("The former name of ScanDataset.")
      .shape(shapes::scalar)
      .cpu(run_scan);
}

}  // namespace weft_engine::ops::data
