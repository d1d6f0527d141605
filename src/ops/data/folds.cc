// Ops that walk over a whole dataset: fold it, take its only element, count it.
#include "op/registry.h"
#include "ops/data/captured_function.h"
#include "ops/data/dataset.h"

namespace weft_engine::ops::data {

namespace {

Status run_reduce(KernelContext& c) {
  WEFT_ASSIGN(DatasetPtr dataset, dataset_input(c));
  WEFT_ASSIGN(FunctionPtr f, CapturedFunction::make(c, "f", "other_arguments"));
  IteratorContext ic(c.env());
  WEFT_ASSIGN(IteratorPtr iterator, dataset->make_iterator(ic));
  Element state = inputs_of(c, "initial_state"), element;
  const auto& types = c.attr<std::vector<DType>>("Tstate");
  while (true) {
    bool end = false;
    WEFT_RETURN_IF_ERROR(iterator->next(ic, element, end));
    if (end) break;
    Element args = std::move(state);
    std::move(element.begin(), element.end(), std::back_inserter(args));
    Status s = f->call(ic, std::move(args), state);
    if (s.code() == Code::kOutOfRange) return invalid_argument("Function invocation produced OutOfRangeError: ", s.message());
    WEFT_RETURN_IF_ERROR(s);
    if (state.size() != types.size())
      return invalid_argument("The reduce function must return ", types.size(), " tensors but returned ", state.size());
  }
  WEFT_RETURN_IF_ERROR(verify_element(attr_types(c), attr_shapes(c), state));
  for (size_t i = 0; i < state.size(); ++i) c.set_output(int(i), std::move(state[i]));
  return {};
}

Status run_single_element(KernelContext& c) {
  WEFT_ASSIGN(DatasetPtr dataset, dataset_input(c));
  IteratorContext ic(c.env());
  WEFT_ASSIGN(IteratorPtr iterator, dataset->make_iterator(ic));
  Element element, another;
  bool end = false;
  WEFT_RETURN_IF_ERROR(iterator->next(ic, element, end));
  if (end) return invalid_argument("Dataset was empty.");
  WEFT_RETURN_IF_ERROR(verify_element(attr_types(c), attr_shapes(c), element));
  WEFT_RETURN_IF_ERROR(iterator->next(ic, another, end));
  if (!end) return invalid_argument("Dataset had more than one element.");
  for (size_t i = 0; i < element.size(); ++i) c.set_output(int(i), std::move(element[i]));
  return {};
}

Status run_element_at(KernelContext& c) {
  WEFT_ASSIGN(DatasetPtr dataset, dataset_input(c));
  WEFT_ASSIGN(int64_t index, scalar_input<int64_t>(c, "index"));
  IteratorContext ic(c.env());
  Element element;
  WEFT_RETURN_IF_ERROR(dataset->element_at(ic, index, element));
  WEFT_RETURN_IF_ERROR(verify_element(attr_types(c), attr_shapes(c), element));
  for (size_t i = 0; i < element.size(); ++i) c.set_output(int(i), std::move(element[i]));
  return {};
}

Status run_cardinality(KernelContext& c) {
  WEFT_ASSIGN(DatasetPtr dataset, dataset_input(c));
  c.set_output(0, Tensor::scalar(dataset->cardinality()));
  return {};
}

Status run_get_options(KernelContext& c) {
  WEFT_ASSIGN(DatasetPtr dataset, dataset_input(c));
  c.set_output(0, Tensor::scalar(tstring(dataset->options())));
  return {};
}

// A dataset as a value of its own kind and back: for programs that put datasets into ops which unpack variants.
struct WrappedDataset final : core::VariantObject {
  std::string type_name() const override { return "tensorflow::data::WrappedDatasetVariantWrapper"; }
  Tensor dataset;
};

Status run_wrap(KernelContext& c) {
  WEFT_RETURN_IF_ERROR(dataset_input(c).status());
  auto wrapped = std::make_shared<WrappedDataset>();
  wrapped->dataset = c.input(0);
  c.set_output(0, Tensor::scalar(Variant(std::move(wrapped))));
  return {};
}

Status run_unwrap(KernelContext& c) {
  const Tensor& t = c.input(0);
  const WrappedDataset* wrapped = t.rank() == 0 ? t.data<Variant>()[0].get<WrappedDataset>() : nullptr;
  if (!wrapped) return invalid_argument("Tensor must be a WrappedDataset variant object.");
  c.set_output(0, wrapped->dataset);
  return {};
}

}  // namespace

void folds(Registry& r) {
  r.add("ReduceDataset")
      .in("input_dataset: variant")
      .in("initial_state: Tstate")
      .in("other_arguments: Targuments")
      .out("components: output_types")
      .attr("f: func")
      .attr("Tstate: list(type) >= 1")
      .attr("Targuments: list(type) >= 0")
      .attr("output_types: list(type) >= 1")
      .attr("output_shapes: list(shape) >= 1")
      .attr("use_inter_op_parallelism: bool = true")
      .attr("metadata: string = ''")
      .stateful()
      .doc("Folds the elements of a dataset into a state with a function.")
      .shape(components_shape)
      .no_grad()
      .cpu(run_reduce);

  r.add("DatasetToSingleElement")
      .in("dataset: variant")
      .out("components: output_types")
      .attr("output_types: list(type) >= 1")
      .attr("output_shapes: list(shape) >= 1")
      .attr("metadata: string = ''")
      .stateful()
      .doc("The only element of a dataset; an error if it has none or several.")
      .shape(components_shape)
      .cpu(run_single_element);

  r.add("GetElementAtIndex")
      .in("dataset: variant")
      .in("index: int64")
      .out("components: output_types")
      .attr("output_types: list(type) >= 1")
      .attr("output_shapes: list(shape) >= 1")
      .doc("The element of a dataset at an index, if it can be computed without the others.")
      .shape(components_shape)
      .cpu(run_element_at);

  r.add("DatasetCardinality")
      .in("input_dataset: variant")
      .out("cardinality: int64")
      .attr("cardinality_options: string = ''")
      .doc("How many elements a dataset has, or a negative number for endless or unknown.")
      .shape(shapes::scalar)
      .cpu(run_cardinality);

  r.add("ExperimentalDatasetCardinality")
      .in("input_dataset: variant")
      .out("cardinality: int64")
      .doc("The former name of DatasetCardinality.")
      .shape(shapes::scalar)
      .cpu(run_cardinality);

  r.add("GetOptions")
      .in("input_dataset: variant")
      .out("serialized_options: string")
      .doc("The options of a dataset as a serialized message.")
      .shape(shapes::scalar)
      .cpu(run_get_options);

  r.add("WrapDatasetVariant")
      .in("input_handle: variant")
      .out("output_handle: variant")
      .doc("Wraps a dataset so that it can pass through ops that open variants.")
      .shape(shapes::scalar)
      .cpu(run_wrap);

  r.add("UnwrapDatasetVariant")
      .in("input_handle: variant")
      .out("output_handle: variant")
      .doc("The dataset that WrapDatasetVariant wrapped.")
      .shape(shapes::scalar)
      .cpu(run_unwrap);
}

}  // namespace weft_engine::ops::data
