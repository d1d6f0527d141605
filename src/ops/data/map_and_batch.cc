// A function over each element and batches of its results, in one step.
#include "op/registry.h"
#include "ops/data/batch.h"
#include "ops/data/captured_function.h"

namespace weft_engine::ops::data {

namespace {

class MapAndBatchDataset final : public UnaryDataset {
 public:
  MapAndBatchDataset(const DatasetPtr& input, FunctionPtr f, int64_t size, bool drop_remainder, bool preserve_cardinality,
                     const std::vector<DType>& types, const std::vector<PartialShape>& shapes)
      : UnaryDataset("MapAndBatch", input, types, shapes),
        f_(std::move(f)),
        size_(size),
        drop_remainder_(drop_remainder),
        preserve_cardinality_(preserve_cardinality) {}
  int64_t count() const override {
    return preserve_cardinality_ ? batched_cardinality(input().cardinality(), size_, drop_remainder_) : kUnknownCardinality;
  }

 protected:
  Result<IteratorPtr> walk(IteratorContext& c) const override { return iterate<Walk>(*this, c); }

 private:
  class Walk final : public UnaryIterator<MapAndBatchDataset> {
   public:
    using UnaryIterator::UnaryIterator;

   protected:
    Status advance(IteratorContext& c, Element& out, bool& end) override {
      std::vector<Element> elements;
      while (int64_t(elements.size()) < d().size_) {
        Element args, result;
        WEFT_RETURN_IF_ERROR(pull(c, args, end));
        if (end) break;
        Status s = d().f_->call(c, std::move(args), result);
        if (s.code() == Code::kOutOfRange) {
          if (d().preserve_cardinality_) return invalid_argument("Function invocation produced OutOfRangeError: ", s.message());
          input_.reset();  // the function may end the walk
          break;
        }
        WEFT_RETURN_IF_ERROR(s);
        elements.push_back(std::move(result));
      }
      end = elements.empty() || (d().drop_remainder_ && int64_t(elements.size()) < d().size_);
      return end ? Status() : stack(elements, out);
    }
  };
  const FunctionPtr f_;
  const int64_t size_;
  const bool drop_remainder_, preserve_cardinality_;
};

Status run_map_and_batch(KernelContext& c) {
  WEFT_ASSIGN(DatasetPtr input, dataset_input(c));
  WEFT_ASSIGN(int64_t size, scalar_input<int64_t>(c, "batch_size"));
  if (size <= 0) return invalid_argument("batch_size must be greater than zero.");
  WEFT_ASSIGN(int64_t calls, scalar_input<int64_t>(c, "num_parallel_calls"));
  if (calls < 1 && calls != -1) return invalid_argument("num_parallel_calls must be greater than zero.");
  WEFT_ASSIGN(bool drop_remainder, scalar_input<bool>(c, "drop_remainder"));
  WEFT_ASSIGN(FunctionPtr f, CapturedFunction::make(c, "f", "other_arguments"));
  return emit(c, std::make_shared<MapAndBatchDataset>(input, std::move(f), size, drop_remainder, c.attr<bool>("preserve_cardinality"), attr_types(c),
                                                      attr_shapes(c)));
}

}  // namespace

void map_and_batch(Registry& r) {
  r.add("MapAndBatchDataset")
      .in("input_dataset: variant")
      .in("other_arguments: Targuments")
      .in("batch_size: int64")
      .in("num_parallel_calls: int64")
      .in("drop_remainder: bool")
      .out("handle: variant")
      .full_type("DATASET(FOR_EACH(PRODUCT, TENSOR(VAR:output_types), VAR:output_types))")
      .attr("f: func")
      .attr("Targuments: list(type) >= 0")
      .attr("output_types: list(type) >= 1")
      .attr("output_shapes: list(shape) >= 1")
      .attr("preserve_cardinality: bool = false")
      .attr("metadata: string = ''")
      .doc("A dataset of batches of what a function makes of the elements.")
      .shape([](ShapeContext& c) { return dataset_of(c, {"batch_size", "num_parallel_calls", "drop_remainder"}); })
      .cpu(run_map_and_batch);

  r.add("ExperimentalMapAndBatchDataset")
      .in("input_dataset: variant")
      .in("other_arguments: Targuments")
      .in("batch_size: int64")
      .in("num_parallel_calls: int64")
      .in("drop_remainder: bool")
      .out("handle: variant")
      .full_type("DATASET(FOR_EACH(PRODUCT, TENSOR(VAR:output_types), VAR:output_types))")
      .attr("f: func")
      .attr("Targuments: list(type) >= 0")
      .attr("output_types: list(type) >= 1")
      .attr("output_shapes: list(shape) >= 1")
      .attr("preserve_cardinality: bool = false")
      .doc("The former name of MapAndBatchDataset.")
      .shape([](ShapeContext& c) { return dataset_of(c, {"batch_size", "num_parallel_calls", "drop_remainder"}); })
      .cpu(run_map_and_batch);
}

}  // namespace weft_engine::ops::data
