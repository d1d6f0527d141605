#include "ops/data/dataset.h"

#include <algorithm>
#include <cstdint>

#include "op/graph_message.h"
#include "op/cancellation.h"
#include "ops/data/splits.h"
#include "ops/random/random_common.h"

namespace weft_engine::ops::data {

namespace {

// A walk over a chain of datasets, and its end, need a few hundred bytes of stack for each link.
constexpr int kMaxDepth = 3000;

}  // namespace

std::string Path::to_string() const {
  std::string below = cat("::", kind);
  for (const Path* p = parent.get(); p; p = p->parent.get()) below = cat("::", p->kind, below);
  return "Iterator::Root" + below;
}

Iterator::Iterator(const Dataset& of) : dataset_(of.shared_from_this()) {}

Status Iterator::next(IteratorContext& c, Element& out, bool& end) {
  out.clear();
  end = false;
  if (path_) c.generators = path_->generators.get();
  if (c.env.cancellation && c.env.cancellation->asked_to_stop()) return cancelled("Iterator was cancelled");
  Status s = advance(c, out, end);
  if (s.code() == Code::kOutOfRange) [[unlikely]]
    return internal_error("Iterator \"", path_ ? path_->to_string() : std::string(dataset_->kind()),
                          "\" returned `OutOfRange`. This indicates an implementation error as `OutOfRange` errors are not expected to be "
                          "returned here. Original message: ",
                          s.message());
  return s;
}

Dataset::Dataset(std::string_view kind, std::vector<DType> types, std::vector<PartialShape> shapes, std::vector<DatasetPtr> inputs)
    : kind_(kind), types_(std::move(types)), shapes_(std::move(shapes)), inputs_(std::move(inputs)) {
  for (const DatasetPtr& input : inputs_) {
    depth_ = std::max(depth_, input->depth() + 1);
    // Messages are merged by putting one behind the other; one that is there already changes nothing.
    if (options_.find(input->options()) == std::string::npos) options_ += input->options();
  }
}

int64_t Dataset::cardinality() const {
  if (!counted_.load(std::memory_order_acquire)) {
    cardinality_.store(count(), std::memory_order_relaxed);
    counted_.store(true, std::memory_order_release);
  }
  return cardinality_.load(std::memory_order_relaxed);
}

Result<IteratorPtr> Iterator::make_input(IteratorContext& c, const Dataset& input) {
  std::shared_ptr<const Path> outer = std::exchange(c.path, path_);
  Result<IteratorPtr> made = input.make_iterator(c);
  c.path = std::move(outer);
  return made;
}

Result<IteratorPtr> Dataset::make_iterator(IteratorContext& c) const {
  auto path = std::make_shared<const Path>(Path{kind_, c.path, c.path ? c.path->generators : std::make_shared<WalkGenerators>(), this,
                                                c.path ? splits_for(*c.path, *this) : std::move(c.splits)});
  std::shared_ptr<const Path> outer = std::exchange(c.path, path);
  Result<IteratorPtr> made = walk(c);
  c.path = std::move(outer);
  if (made.ok()) (*made)->path_ = std::move(path);
  return made;
}

Status Dataset::element_at(IteratorContext& c, int64_t index, Element& out) const {
  const int64_t n = cardinality();
  if (n == kInfiniteCardinality)
    return failed_precondition("Dataset of type ", debug_string(), " has infinite cardinality, which does not support random access.");
  if (index < 0 || (n >= 0 && index >= n)) return out_of_range("Index out of range [0, ", n, "):", index);
  return at(c, index, out);
}

Status Dataset::at(IteratorContext&, int64_t, Element&) const {
  return unimplemented("Random access is not implemented for dataset ", debug_string());
}

Status Dataset::random_indexing() const {
  return failed_precondition(origin_ ? std::string(origin_->node.op()) : cat(kind_, "Dataset"), " does not support random access.");
}

Result<Tensor> take_rows(const Tensor& t, int64_t begin, int64_t end) {
  constexpr uintptr_t kAlignment = 64;
  const int64_t row = t.shape().elements_in(1, t.rank());
  Tensor part = t.slice_rows(begin, end);
  if (is_simple(t.dtype()) && reinterpret_cast<uintptr_t>(part.raw()) % kAlignment == 0) return part;
  WEFT_ASSIGN(Tensor copy, Tensor::allocate(t.dtype(), t.shape().with_dim(0, end - begin)));
  copy_elements(t, begin * row, copy, 0, (end - begin) * row);
  return copy;
}

Result<Tensor> take_row(const Tensor& t, int64_t row) {
  WEFT_ASSIGN(Tensor rows, take_rows(t, row, row + 1));
  return rows.reshaped(t.shape().slice(1, t.rank()));
}

Result<DatasetPtr> dataset_of_tensor(const Tensor& t) {
  if (t.dtype() != DType::kVariant || t.rank() != 0) return invalid_argument("Dataset tensor must be a scalar of dtype DT_VARIANT.");
  auto dataset = t.data<Variant>()[0].share<Dataset>();
  if (!dataset) return invalid_argument("Tensor must be a Dataset object.");
  return DatasetPtr(std::move(dataset));
}

Status check_scalar(const KernelContext& c, std::string_view name) {
  if (c.input(name).rank() != 0) return invalid_argument(name, " must be a scalar");
  return {};
}

Result<std::vector<std::string>> strings_input(const KernelContext& c, std::string_view name) {
  const Tensor& t = c.input(name);
  if (t.rank() > 1) return invalid_argument("`", name, "` must be a scalar or a vector.");
  std::vector<std::string> out;
  for (const tstring& s : t.span<tstring>()) out.push_back(s.str());
  return out;
}

Element inputs_of(const KernelContext& c, std::string_view name) {
  Element out;
  for (const Tensor* t : c.input_list(name)) out.push_back(*t);
  return out;
}

Tensor dataset_tensor(DatasetPtr dataset) { return Tensor::scalar(Variant(std::move(dataset))); }

Status emit(KernelContext& c, DatasetPtr dataset) {
  if (dataset->depth() > kMaxDepth) return resource_exhausted("more than ", kMaxDepth, " datasets are built one upon the other");
  if (!dataset->origin_) {
    auto origin = std::make_shared<Dataset::Origin>(Dataset::Origin{c.node(), Element(size_t(c.num_inputs())), nullptr});
    if (const GraphMessages* m = graph_messages.load(); m && c.env().functions) origin->functions = m->hold(*c.env().functions, c.node().attrs());
    for (const ArgSpec& arg : c.node().spec().signature().inputs) {
      const bool captured = arg.type_list_attr >= 0;
      const auto range = c.node().input_range(arg.name);
      for (int i = range.begin; i < range.end; ++i) {
        if (captured || c.input(i).dtype() != DType::kResource) origin->inputs[size_t(i)] = c.input(i);
      }
    }
    dataset->origin_ = std::move(origin);
  }
  c.set_output(0, dataset_tensor(std::move(dataset)));
  return {};
}

Status verify_types(const std::vector<DType>& expected, const std::vector<DType>& got) {
  if (expected.size() != got.size())
    return invalid_argument("Number of components does not match: expected ", expected.size(), " types but got ", got.size(), ".");
  for (size_t i = 0; i < got.size(); ++i) {
    if (expected[i] != got[i])
      return invalid_argument("Data type mismatch at component ", i, ": expected ", dtype_name(expected[i]), " but got ", dtype_name(got[i]), ".");
  }
  return {};
}

Status verify_shapes(const std::vector<PartialShape>& expected, const std::vector<PartialShape>& got) {
  if (expected.size() != got.size())
    return invalid_argument("Number of components does not match: expected ", expected.size(), " shapes but got ", got.size(), ".");
  for (size_t i = 0; i < got.size(); ++i) {
    if (!expected[i].compatible_with(got[i]))
      return invalid_argument("Incompatible shapes at component ", i, ": expected ", expected[i], " but got ", got[i], ".");
  }
  return {};
}

Status verify_element(const std::vector<DType>& types, const std::vector<PartialShape>& shapes, const Element& got) {
  if (types.size() != got.size())
    return invalid_argument("Number of components does not match: expected ", types.size(), " types but got ", got.size(), ".");
  for (size_t i = 0; i < got.size(); ++i) {
    if (types[i] != got[i].dtype())
      return invalid_argument("Data type mismatch at component ", i, ": expected ", dtype_name(types[i]), " but got ", dtype_name(got[i].dtype()),
                              ".");
  }
  if (shapes.size() != got.size())
    return invalid_argument("Number of components does not match: expected ", shapes.size(), " shapes but got ", got.size(), ".");
  for (size_t i = 0; i < got.size(); ++i) {
    if (!shapes[i].compatible_with(got[i].shape()))
      return invalid_argument("Incompatible shapes at component ", i, ": expected ", shapes[i], " but got ", got[i].shape(), ".");
  }
  return {};
}

std::vector<PartialShape> common_shapes(const std::vector<PartialShape>& a, const std::vector<PartialShape>& b) {
  std::vector<PartialShape> out;
  for (size_t i = 0; i < std::min(a.size(), b.size()); ++i) {
    if (!a[i].has_rank() || a[i].rank() != b[i].rank()) {
      out.push_back(PartialShape::unknown());
      continue;
    }
    PartialShape s = a[i];
    for (int d = 0; d < s.rank(); ++d) {
      if (a[i].dim(d) != b[i].dim(d)) s.set_dim(d, kUnknownDim);
    }
    out.push_back(std::move(s));
  }
  return out;
}

Status dataset_of(ShapeContext& c, std::initializer_list<std::string_view> scalars) {
  for (std::string_view name : scalars) WEFT_RETURN_IF_ERROR(c.with_rank(c.node().input_range(name).begin, 0).status());
  return shapes::scalar(c);
}

Status components_shape(ShapeContext& c) {
  const auto& wanted = c.attr<std::vector<PartialShape>>("output_shapes");
  if (int(wanted.size()) != c.num_outputs())
    return invalid_argument("`output_shapes` must be the same length as `output_types` (", wanted.size(), " vs. ", c.num_outputs(), ")");
  for (int i = 0; i < c.num_outputs(); ++i) c.output(i, wanted[size_t(i)]);
  return {};
}

}  // namespace weft_engine::ops::data
