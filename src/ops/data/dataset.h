// Dataset: what a variant made by the dataset ops holds: a recipe for elements, immutable and shared.
// Iterator: one walk over a dataset. Elements are made when they are asked for, on the thread that asks;
// iterators are kept by resources (iterator_resource.h) or by the kernel that folds a dataset.
#pragma once

#include <array>
#include <atomic>
#include <initializer_list>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "core/variant.h"
#include "op/data_service.h"
#include "op/kernel.h"
#include "op/shape_context.h"

namespace weft_engine::op {
class Registry;
}
namespace weft_engine::ops {
class WalkGenerators;
}

namespace weft_engine::ops::data {

using namespace weft_engine::op;  // NOLINT: an ops file is written in the vocabulary of op/

using Element = std::vector<Tensor>;
class Dataset;
class SeedGenerator;
struct StatsSink;
using DatasetPtr = std::shared_ptr<const Dataset>;

inline constexpr int64_t kInfiniteCardinality = -1, kUnknownCardinality = -2;

// Where an iterator stands: its kind, and the iterators that draw from it, up to the root.
struct Path {
  std::string_view kind;
  std::shared_ptr<const Path> parent;
  std::shared_ptr<WalkGenerators> generators;  // those of the root
  const Dataset* of = nullptr;
  Splits splits;                                          // of the sources below; empty where the dataset is walked as a whole
  mutable std::vector<const Dataset*> made_inputs = {};   // whose splits are given away
  std::string to_string() const;  // "Iterator::Root::Batch::Map"
};

// What a walk over a globally shuffled dataset drew: the key of its order. Shuffles below it have theirs too.
struct ShuffleKey {
  const Dataset* of;
  std::array<uint32_t, 3> key;
};

// The surroundings of one request for an element: those of the kernel that asks, so that its cancellation
// reaches the functions which are called on the way. An iterator keeps nothing of it.
struct IteratorContext {
  explicit IteratorContext(const KernelEnv& e) : env(e) {}
  KernelEnv env;
  std::shared_ptr<const Path> path;      // of the iterator that is asked, or that makes another
  WalkGenerators* generators = nullptr;  // of the walk that is asked
  std::shared_ptr<const StatsSink> stats;  // null: nobody asked for statistics
  const std::vector<ShuffleKey>* shuffles = nullptr;  // set where a global shuffle asks for an element by its index
  Splits splits;  // for the root that is made
};

class Iterator {
 public:
  explicit Iterator(const Dataset& of);
  virtual ~Iterator() = default;
  // The next element, or `end`. Asked by one thread at a time; after the end it may be asked again.
  Status next(IteratorContext& c, Element& out, bool& end);
  const Dataset& dataset() const { return *dataset_; }
  const std::shared_ptr<const Path>& path() const { return path_; }

 protected:
  // `out` comes empty and `end` false.
  virtual Status advance(IteratorContext& c, Element& out, bool& end) = 0;
  // The iterator of a dataset that this one draws from, made while it walks.
  Result<std::unique_ptr<Iterator>> make_input(IteratorContext& c, const Dataset& input);

 private:
  friend class Dataset;
  DatasetPtr dataset_;
  std::shared_ptr<const Path> path_;
};
using IteratorPtr = std::unique_ptr<Iterator>;

class Dataset : public core::VariantObject, public std::enable_shared_from_this<Dataset> {
 public:
  // `kind` is TensorFlow's name without "Dataset": "ParallelMap". The inputs are those that elements come from.
  Dataset(std::string_view kind, std::vector<DType> types, std::vector<PartialShape> shapes, std::vector<DatasetPtr> inputs = {});
  std::string type_name() const override { return "tensorflow::DatasetVariantWrapper"; }

  std::string_view kind() const { return kind_; }
  const std::vector<DType>& types() const { return types_; }
  const std::vector<PartialShape>& shapes() const { return shapes_; }
  const std::vector<DatasetPtr>& inputs() const { return inputs_; }
  const std::string& options() const { return options_; }  // a serialized message Options, gathered from the inputs
  int depth() const { return depth_; }

  // How many elements there are, or one of the codes. Counted once: datasets may share inputs, and a count
  // that asked each of them again would take for ever.
  int64_t cardinality() const;
  // How the op that made it was called; null for a dataset that no op made. Kept by emit().
  struct Origin {
    NodeInfo node;
    Element inputs;  // but for resources
    std::shared_ptr<const void> functions;  // those that it calls (op/graph_message.h); null if there are none
  };
  const Origin* origin() const { return origin_.get(); }
  // What gives each walk its seeds, where the order is random.
  virtual SeedGenerator* seeds() const { return nullptr; }
  Result<IteratorPtr> make_iterator(IteratorContext& c) const;
  // OK where a global shuffle may ask for elements in any order; else FailedPrecondition or Unimplemented.
  virtual Status random_indexing() const;
  // Whether it is a source that can be walked by splits.
  virtual bool splittable() const { return false; }
  // How TensorFlow names it in errors: "RangeDatasetOp(0, 10, 1)::Dataset".
  virtual std::string debug_string() const { return std::string(kind_) + "DatasetOp::Dataset"; }
  // One element, without a walk. Unimplemented for datasets that cannot tell it, OutOfRange beyond the end.
  Status element_at(IteratorContext& c, int64_t index, Element& out) const;

 protected:
  virtual Status at(IteratorContext& c, int64_t index, Element& out) const;  // the index is one of the dataset's
  virtual int64_t count() const { return kUnknownCardinality; }
  virtual Result<IteratorPtr> walk(IteratorContext& c) const = 0;
  std::string options_;

 private:
  friend Status emit(KernelContext& c, DatasetPtr dataset);
  std::string_view kind_;
  std::vector<DType> types_;
  std::vector<PartialShape> shapes_;
  std::vector<DatasetPtr> inputs_;
  // After the inputs, so that these let go of the datasets below last: that way is the shorter on the stack.
  mutable std::shared_ptr<const Origin> origin_;
  int depth_ = 1;
  mutable std::atomic<bool> counted_{false};
  mutable std::atomic<int64_t> cardinality_{0};
};

// A dataset made of one other.
class UnaryDataset : public Dataset {
 public:
  // With the element type of the input, or with another.
  UnaryDataset(std::string_view kind, const DatasetPtr& input) : Dataset(kind, input->types(), input->shapes(), {input}) {}
  UnaryDataset(std::string_view kind, const DatasetPtr& input, std::vector<DType> types, std::vector<PartialShape> shapes)
      : Dataset(kind, std::move(types), std::move(shapes), {input}) {}
  const Dataset& input() const { return *inputs()[0]; }

 protected:
  int64_t count() const override { return input().cardinality(); }
};

// An iterator over a D; one over a D with one input, which it draws from.
template <class D>
class IteratorOf : public Iterator {
 public:
  explicit IteratorOf(const D& d) : Iterator(d) {}

 protected:
  const D& d() const { return static_cast<const D&>(dataset()); }
};
template <class D>
class UnaryIterator : public IteratorOf<D> {
 public:
  UnaryIterator(const D& d, IteratorPtr input) : IteratorOf<D>(d), input_(std::move(input)) {}

 protected:
  // The next element of the input; after its end the input is dropped and `end` stays true.
  Status pull(IteratorContext& c, Element& out, bool& end) {
    end = !input_;
    if (end) return {};
    Status s = input_->next(c, out, end);
    if (end) input_.reset();
    return s;
  }
  IteratorPtr input_;
};

// I(d) as the iterator of a source; I(d, iterator of the input) as that of a dataset of one input.
template <class I, class D>
Result<IteratorPtr> iterate_source(const D& d) {
  return IteratorPtr(std::make_unique<I>(d));
}
template <class I, class D>
Result<IteratorPtr> iterate(const D& d, IteratorContext& c) {
  WEFT_ASSIGN(IteratorPtr input, d.input().make_iterator(c));
  return IteratorPtr(std::make_unique<I>(d, std::move(input)));
}

// Rows [begin, end) of a tensor: its memory shared where they stay aligned as kernels expect it, else copied.
Result<Tensor> take_rows(const Tensor& t, int64_t begin, int64_t end);
// One row, without the dimension of rows.
Result<Tensor> take_row(const Tensor& t, int64_t row);

// Inputs of kernels.
Result<DatasetPtr> dataset_of_tensor(const Tensor& t);
inline Result<DatasetPtr> dataset_input(const KernelContext& c, int i = 0) { return dataset_of_tensor(c.input(i)); }
Status check_scalar(const KernelContext& c, std::string_view name);  // "count must be a scalar"
template <class T>
Result<T> scalar_input(const KernelContext& c, std::string_view name) {
  WEFT_RETURN_IF_ERROR(check_scalar(c, name));
  return c.input(name).data<T>()[0];
}
// Of an input of strings or int64: a scalar or a vector as a list.
Result<std::vector<std::string>> strings_input(const KernelContext& c, std::string_view name);
Element inputs_of(const KernelContext& c, std::string_view name);
inline const std::vector<DType>& attr_types(const KernelContext& c) { return c.attr<std::vector<DType>>("output_types"); }
inline const std::vector<PartialShape>& attr_shapes(const KernelContext& c) { return c.attr<std::vector<PartialShape>>("output_shapes"); }

// Every n-th element, from the i-th on.
DatasetPtr sharded(const DatasetPtr& input, int64_t n, int64_t i);

// Output 0 of a kernel. ResourceExhausted where datasets are nested so deep that a walk would overflow the stack.
Tensor dataset_tensor(DatasetPtr dataset);
Status emit(KernelContext& c, DatasetPtr dataset);

// Do types and shapes that are promised fit those that are there? In TensorFlow's words.
Status verify_types(const std::vector<DType>& expected, const std::vector<DType>& got);
Status verify_shapes(const std::vector<PartialShape>& expected, const std::vector<PartialShape>& got);
Status verify_element(const std::vector<DType>& types, const std::vector<PartialShape>& shapes, const Element& got);
// The most specific shapes that describe both.
std::vector<PartialShape> common_shapes(const std::vector<PartialShape>& a, const std::vector<PartialShape>& b);

// Shape rule: a dataset is a scalar; the named inputs must be scalars.
Status dataset_of(ShapeContext& c, std::initializer_list<std::string_view> scalars);
// Shape rule: outputs as the attribute output_shapes promises.
Status components_shape(ShapeContext& c);

// The parts of the family, each in a file of its own.

}  // namespace weft_engine::ops::data
