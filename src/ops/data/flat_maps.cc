// Datasets that join the datasets which a function makes of each element, one after the other or in turns.
#include <thread>

#include "op/registry.h"
#include "ops/data/captured_function.h"
#include "ops/data/flat_map.h"

namespace weft_engine::ops::data {

Status call_for_dataset(const CapturedFunction& f, IteratorContext& c, Element args, std::string_view name, DatasetPtr& out) {
  Element rets;
  WEFT_RETURN_IF_ERROR(f.call(c, std::move(args), rets));
  if (rets.size() != 1 || rets[0].dtype() != DType::kVariant || rets[0].rank() != 0)
    return invalid_argument(name, " must return a single scalar of dtype DT_VARIANT.");
  WEFT_ASSIGN(out, dataset_of_tensor(rets[0]));
  return {};
}

namespace {

class FlatMapDataset final : public UnaryDataset {
 public:
  FlatMapDataset(const DatasetPtr& input, FunctionPtr f, const std::vector<DType>& types, const std::vector<PartialShape>& shapes)
      : UnaryDataset("FlatMap", input, types, shapes), f_(std::move(f)) {}
  int64_t count() const override { return kUnknownCardinality; }
  Status random_indexing() const override {
    return unimplemented(
        "Please consider applying maps on each dataset, concatenating them into one dataset and apply global shuffle dataset op onto the dataset to "
        "achieve the same result as flat map with global shuffling.");
  }

 protected:
  Result<IteratorPtr> walk(IteratorContext& c) const override { return iterate<Walk>(*this, c); }

 private:
  class Walk final : public UnaryIterator<FlatMapDataset> {
   public:
    using UnaryIterator::UnaryIterator;

   protected:
    Status advance(IteratorContext& c, Element& out, bool& end) override {
      while (true) {
        if (!current_) {
          Element args;
          WEFT_RETURN_IF_ERROR(pull(c, args, end));
          if (end) return {};
          DatasetPtr dataset;
          WEFT_RETURN_IF_ERROR(call_for_dataset(*d().f_, c, std::move(args), "Function", dataset));
          WEFT_ASSIGN(current_, make_input(c, *dataset));
        }
        Status s = current_->next(c, out, end);
        if (!s.ok() || !end) return s;
        current_.reset();
      }
    }

   private:
    IteratorPtr current_;
  };
  const FunctionPtr f_;
};

Status run_flat_map(KernelContext& c) {
  WEFT_ASSIGN(DatasetPtr input, dataset_input(c));
  WEFT_ASSIGN(FunctionPtr f, CapturedFunction::make(c, "f", "other_arguments"));
  return emit(c, std::make_shared<FlatMapDataset>(input, std::move(f), attr_types(c), attr_shapes(c)));
}

// Takes `block` elements of each of `cycle` inner datasets in turn. The forms that TensorFlow reads ahead
// in parallel give this order too, unless they are asked to be sloppy.
class InterleaveDataset final : public UnaryDataset {
 public:
  InterleaveDataset(std::string_view kind, const DatasetPtr& input, FunctionPtr f, int64_t cycle, int64_t block, const std::vector<DType>& types,
                    const std::vector<PartialShape>& shapes)
      : UnaryDataset(kind, input, types, shapes), f_(std::move(f)), cycle_(cycle), block_(block) {}
  int64_t count() const override { return kUnknownCardinality; }

 protected:
  Result<IteratorPtr> walk(IteratorContext& c) const override { return iterate<Walk>(*this, c); }

 private:
  class Walk final : public UnaryIterator<InterleaveDataset> {
   public:
    using UnaryIterator::UnaryIterator;

   protected:
    Status advance(IteratorContext& c, Element& out, bool& end) override {
      while (input_ || open_ > 0) {
        if (slot_ == slots_.size()) {
          // Slots are added as the input fills them, since the cycle may be said to be far longer than that.
          if (!input_ || int64_t(slot_) == d().cycle_) {
            slot_ = 0;
            continue;
          }
          slots_.emplace_back();
        }
        IteratorPtr& current = slots_[slot_];
        if (current) {
          WEFT_RETURN_IF_ERROR(current->next(c, out, end));
          if (!end) {
            if (++taken_ == d().block_) next_slot();
            return {};
          }
          current.reset();
          --open_;
          next_slot();
        } else if (input_) {
          WEFT_RETURN_IF_ERROR(open(c, current));
        } else {
          next_slot();
        }
      }
      end = true;
      return {};
    }

   private:
    void next_slot() {
      taken_ = 0;
      ++slot_;
    }
    Status open(IteratorContext& c, IteratorPtr& slot) {
      Element args;
      bool end = false;
      WEFT_RETURN_IF_ERROR(pull(c, args, end));
      if (end) return {};
      DatasetPtr dataset;
      WEFT_RETURN_IF_ERROR(call_for_dataset(*d().f_, c, std::move(args), "Function", dataset));
      WEFT_ASSIGN(slot, make_input(c, *dataset));
      ++open_;
      return {};
    }
    std::vector<IteratorPtr> slots_;
    size_t slot_ = 0;
    int64_t taken_ = 0, open_ = 0;
  };
  const FunctionPtr f_;
  const int64_t cycle_, block_;
};

Status make_interleave(KernelContext& c, std::string_view kind) {
  WEFT_ASSIGN(DatasetPtr input, dataset_input(c));
  WEFT_ASSIGN(int64_t cycle, scalar_input<int64_t>(c, "cycle_length"));
  if (cycle == -1) cycle = std::max<int64_t>(1, std::thread::hardware_concurrency());
  if (cycle <= 0) return invalid_argument(kind == "Interleave" ? "cycle_length must be greater than zero." : "`cycle_length` must be > 0");
  WEFT_ASSIGN(int64_t block, scalar_input<int64_t>(c, "block_length"));
  if (block <= 0) return invalid_argument(kind == "Interleave" ? "block_length must be greater than zero." : "`block_length` must be > 0");
  WEFT_ASSIGN(FunctionPtr f, CapturedFunction::make(c, "f", "other_arguments"));
  return emit(c, std::make_shared<InterleaveDataset>(kind, input, std::move(f), cycle, block, attr_types(c), attr_shapes(c)));
}

Status run_interleave(KernelContext& c) { return make_interleave(c, "Interleave"); }

Status run_parallel_interleave(KernelContext& c) {
  for (std::string_view name : {"buffer_output_elements", "prefetch_input_elements"}) {
    if (c.node().op() != "ParallelInterleaveDatasetV4") break;
    WEFT_ASSIGN(int64_t n, scalar_input<int64_t>(c, name));
    const int64_t least = name == "buffer_output_elements";
    if (n != -1 && n < least) return invalid_argument("`", name, "` must be ", n < least && least ? "> 0" : ">= 0", " or -1 (tf.data.AUTOTUNE)");
  }
  WEFT_ASSIGN(int64_t calls, scalar_input<int64_t>(c, "num_parallel_calls"));
  if (calls < 1 && calls != -1) return invalid_argument("num_parallel_calls must be greater than zero.");
  WEFT_ASSIGN(int64_t cycle, scalar_input<int64_t>(c, "cycle_length"));
  if (cycle > 0 && calls > cycle) return invalid_argument("num_parallel_calls must less than or equal to cycle_length.");
  return make_interleave(c, "ParallelInterleave");
}

// The first form: its lengths alone matter here, the rest says how far to read ahead.
Status run_legacy_parallel_interleave(KernelContext& c) {
  for (std::string_view name : {"buffer_output_elements", "prefetch_input_elements"}) {
    WEFT_ASSIGN(int64_t n, scalar_input<int64_t>(c, name));
    if (name == "buffer_output_elements" ? n <= 0 : n < 0)
      return invalid_argument("`", name, "` must be ", name == "buffer_output_elements" ? "> 0" : ">= 0");
  }
  return make_interleave(c, "LegacyParallelInterleave");
}

}  // namespace

void flat_maps(Registry& r) {
  r.add("FlatMapDataset")
      .in("input_dataset: variant")
      .in("other_arguments: Targuments")
      .out("handle: variant")
      .full_type("DATASET(FOR_EACH(PRODUCT, TENSOR(VAR:output_types), VAR:output_types))")
      .attr("f: func")
      .attr("Targuments: list(type) >= 0")
      .attr("output_types: list(type) >= 1")
      .attr("output_shapes: list(shape) >= 1")
      .attr("metadata: string = ''")
      .doc("A dataset that joins the datasets which a function makes of each element.")
      .shape(shapes::scalar)
      .cpu(run_flat_map);

  r.add("InterleaveDataset")
      .in("input_dataset: variant")
      .in("other_arguments: Targuments")
      .in("cycle_length: int64")
      .in("block_length: int64")
      .out("handle: variant")
      .full_type("DATASET(FOR_EACH(PRODUCT, TENSOR(VAR:output_types), VAR:output_types))")
      .attr("f: func")
      .attr("Targuments: list(type) >= 0")
      .attr("output_types: list(type) >= 1")
      .attr("output_shapes: list(shape) >= 1")
      .attr("metadata: string = ''")
      .doc("A dataset that takes turns among the datasets which a function makes of each element.")
      .shape([](ShapeContext& c) { return dataset_of(c, {"cycle_length", "block_length"}); })
      .cpu(run_interleave);

  r.add("ParallelInterleaveDataset")
      .in("input_dataset: variant")
      .in("other_arguments: Targuments")
      .in("cycle_length: int64")
      .in("block_length: int64")
      .in("sloppy: bool")
      .in("buffer_output_elements: int64")
      .in("prefetch_input_elements: int64")
      .out("handle: variant")
      .full_type("DATASET(FOR_EACH(PRODUCT, TENSOR(VAR:output_types), VAR:output_types))")
      .attr("f: func")
      .attr("Targuments: list(type) >= 0")
      .attr("output_types: list(type) >= 1")
      .attr("output_shapes: list(shape) >= 1")
      .attr("metadata: string = ''")
      .doc("A former version of ParallelInterleaveDatasetV4.")
      .shape([](ShapeContext& c) {
        return dataset_of(c, {"cycle_length", "block_length", "sloppy", "buffer_output_elements", "prefetch_input_elements"});
      })
      .cpu(run_legacy_parallel_interleave);

  r.add("ExperimentalParallelInterleaveDataset")
      .in("input_dataset: variant")
      .in("other_arguments: Targuments")
      .in("cycle_length: int64")
      .in("block_length: int64")
      .in("sloppy: bool")
      .in("buffer_output_elements: int64")
      .in("prefetch_input_elements: int64")
      .out("handle: variant")
      .full_type("DATASET(FOR_EACH(PRODUCT, TENSOR(VAR:output_types), VAR:output_types))")
      .attr("f: func")
      .attr("Targuments: list(type) >= 0")
      .attr("output_types: list(type) >= 1")
      .attr("output_shapes: list(shape) >= 1")
      .doc("A former version of ParallelInterleaveDatasetV4.")
      .shape([](ShapeContext& c) {
        return dataset_of(c, {"cycle_length", "block_length", "sloppy", "buffer_output_elements", "prefetch_input_elements"});
      })
      .cpu(run_legacy_parallel_interleave);

  r.add("LegacyParallelInterleaveDatasetV2")
      .in("input_dataset: variant")
      .in("other_arguments: Targuments")
      .in("cycle_length: int64")
      .in("block_length: int64")
      .in("buffer_output_elements: int64")
      .in("prefetch_input_elements: int64")
      .out("handle: variant")
      .full_type("DATASET(FOR_EACH(PRODUCT, TENSOR(VAR:output_types), VAR:output_types))")
      .attr("f: func")
      .attr("deterministic: string = 'default'")
      .attr("Targuments: list(type) >= 0")
      .attr("output_types: list(type) >= 1")
      .attr("output_shapes: list(shape) >= 1")
      .attr("metadata: string = ''")
      .doc("A former version of ParallelInterleaveDatasetV4.")
      .shape([](ShapeContext& c) { return dataset_of(c, {"cycle_length", "block_length", "buffer_output_elements", "prefetch_input_elements"}); })
      .cpu(run_legacy_parallel_interleave);

  r.add("ParallelInterleaveDatasetV2")
      .in("input_dataset: variant")
      .in("other_arguments: Targuments")
      .in("cycle_length: int64")
      .in("block_length: int64")
      .in("num_parallel_calls: int64")
      .out("handle: variant")
      .full_type("DATASET(FOR_EACH(PRODUCT, TENSOR(VAR:output_types), VAR:output_types))")
      .attr("f: func")
      .attr("Targuments: list(type) >= 0")
      .attr("output_types: list(type) >= 1")
      .attr("output_shapes: list(shape) >= 1")
      .attr("sloppy: bool = false")
      .attr("metadata: string = ''")
      .doc("A former version of ParallelInterleaveDatasetV4.")
      .shape([](ShapeContext& c) { return dataset_of(c, {"cycle_length", "block_length", "num_parallel_calls"}); })
      .cpu(run_parallel_interleave);

  r.add("ParallelInterleaveDatasetV3")
      .in("input_dataset: variant")
      .in("other_arguments: Targuments")
      .in("cycle_length: int64")
      .in("block_length: int64")
      .in("num_parallel_calls: int64")
      .out("handle: variant")
      .full_type("DATASET(FOR_EACH(PRODUCT, TENSOR(VAR:output_types), VAR:output_types))")
      .attr("f: func")
      .attr("deterministic: string = 'default'")
      .attr("Targuments: list(type) >= 0")
      .attr("output_types: list(type) >= 1")
      .attr("output_shapes: list(shape) >= 1")
      .attr("metadata: string = ''")
      .doc("A former version of ParallelInterleaveDatasetV4.")
      .shape([](ShapeContext& c) { return dataset_of(c, {"cycle_length", "block_length", "num_parallel_calls"}); })
      .cpu(run_parallel_interleave);

  r.add("ParallelInterleaveDatasetV4")
      .in("input_dataset: variant")
      .in("other_arguments: Targuments")
      .in("cycle_length: int64")
      .in("block_length: int64")
      .in("buffer_output_elements: int64")
      .in("prefetch_input_elements: int64")
      .in("num_parallel_calls: int64")
      .out("handle: variant")
      .full_type("DATASET(FOR_EACH(PRODUCT, TENSOR(VAR:output_types), VAR:output_types))")
      .attr("f: func")
      .attr("deterministic: string = 'default'")
      .attr("Targuments: list(type) >= 0")
      .attr("output_types: list(type) >= 1")
      .attr("output_shapes: list(shape) >= 1")
      .attr("metadata: string = ''")
      .doc("As InterleaveDataset, with the inner datasets read in parallel.")
      .shape([](ShapeContext& c) {
        return dataset_of(c, {"cycle_length", "block_length", "buffer_output_elements", "prefetch_input_elements", "num_parallel_calls"});
      })
      .cpu(run_parallel_interleave);
}

}  // namespace weft_engine::ops::data
