// Datasets of datasets: windows that move over the elements of another.
#include <algorithm>
#include <deque>
#include <limits>

#include "op/registry.h"
#include "ops/data/batch.h"
#include "ops/data/flat_map.h"

namespace weft_engine::ops::data {

namespace {

// The elements of one window.
class Window final : public Dataset {
 public:
  Window(std::vector<Element> elements, std::vector<DType> types, std::vector<PartialShape> shapes)
      : Dataset("Window", std::move(types), std::move(shapes)), elements_(std::move(elements)) {}
  int64_t count() const override { return int64_t(elements_.size()); }

 protected:
  Result<IteratorPtr> walk(IteratorContext&) const override { return iterate_source<Walk>(*this); }

 private:
  class Walk final : public IteratorOf<Window> {
   public:
    using IteratorOf::IteratorOf;

   protected:
    Status advance(IteratorContext&, Element& out, bool& end) override {
      end = at_ >= d().elements_.size();
      if (!end) out = d().elements_[at_++];
      return {};
    }

   private:
    size_t at_ = 0;
  };
  const std::vector<Element> elements_;
};

}  // namespace

DatasetPtr window_of(std::vector<Element> elements, std::vector<DType> types, std::vector<PartialShape> shapes) {
  return std::make_shared<Window>(std::move(elements), std::move(types), std::move(shapes));
}

namespace {

struct WindowSpec {
  int64_t size, shift, stride;
  bool drop_remainder;
  // How many elements a window reaches over.
  int64_t span() const {
    int64_t n;
    if (__builtin_mul_overflow(size - 1, stride, &n) || n == std::numeric_limits<int64_t>::max()) return std::numeric_limits<int64_t>::max();
    return n + 1;
  }
};

class WindowDataset final : public UnaryDataset {
 public:
  // A window as a dataset for each component, or (stacked) as a batch.
  WindowDataset(const DatasetPtr& input, const WindowSpec& spec, bool stacked)
      : UnaryDataset(
            stacked ? "SlidingWindow" : "Window", input, stacked ? input->types() : std::vector<DType>(input->types().size(), DType::kVariant),
            stacked ? batched_shapes(input->shapes(), kUnknownDim) : std::vector<PartialShape>(input->types().size(), PartialShape::scalar())),
        spec_(spec),
        stacked_(stacked) {}
  int64_t count() const override {
    const int64_t n = input().cardinality();
    if (n < 0) return n;
    if (spec_.drop_remainder) return n < spec_.span() ? 0 : (n - spec_.span()) / spec_.shift + 1;
    return n / spec_.shift + (n % spec_.shift != 0);
  }

 protected:
  Result<IteratorPtr> walk(IteratorContext& c) const override { return iterate<Walk>(*this, c); }

 private:
  // An element, or the error of making it: a window fails only where it needs that element.
  struct Entry {
    Element element;
    Status status;
  };
  class Walk final : public UnaryIterator<WindowDataset> {
   public:
    using UnaryIterator::UnaryIterator;

   protected:
    Status advance(IteratorContext& c, Element& out, bool& end) override {
      const WindowSpec& spec = d().spec_;
      const size_t span = size_t(spec.span());
      while (input_ && buffer_.size() < span) {
        Entry entry;
        bool done = false;
        entry.status = pull(c, entry.element, done);
        if (entry.status.code() == Code::kCancelled) return entry.status;
        if (!done) buffer_.push_back(std::move(entry));
      }
      end = buffer_.empty() || (spec.drop_remainder && buffer_.size() < span);
      if (end) return {};
      std::vector<Element> window;
      Status status;
      for (size_t i = 0; i < buffer_.size() && status.ok(); i += size_t(spec.stride)) {
        status = buffer_[i].status;
        window.push_back(buffer_[i].element);
        if (buffer_.size() - i <= size_t(spec.stride)) break;
      }
      WEFT_RETURN_IF_ERROR(shift(c));
      WEFT_RETURN_IF_ERROR(status);
      return d().stacked_ ? stack(window, out) : emit_window(window, out);
    }

   private:
    Status shift(IteratorContext& c) {
      const size_t by = size_t(d().spec_.shift), have = buffer_.size();
      if (by < have) {
        buffer_.erase(buffer_.begin(), buffer_.begin() + ptrdiff_t(by));
        return {};
      }
      buffer_.clear();
      for (size_t i = have; input_ && i < by; ++i) {
        Element skipped;
        bool done = false;
        Status s = pull(c, skipped, done);
        if (s.code() == Code::kCancelled) return s;
      }
      return {};
    }
    // One dataset for each component.
    Status emit_window(const std::vector<Element>& window, Element& out) const {
      const Dataset& input = d().input();
      for (size_t k = 0; k < input.types().size(); ++k) {
        std::vector<Element> column;
        for (const Element& e : window) {
          if (k >= e.size()) return internal_error("an element with too few components");
          column.push_back({e[k]});
        }
        out.push_back(dataset_tensor(
            window_of(std::move(column), {input.types()[k]}, {k < input.shapes().size() ? input.shapes()[k] : PartialShape::unknown()})));
      }
      return {};
    }
    std::deque<Entry> buffer_;
  };
  const WindowSpec spec_;
  const bool stacked_;
};

Status run_window(KernelContext& c) {
  WEFT_ASSIGN(DatasetPtr input, dataset_input(c));
  WindowSpec spec;
  WEFT_ASSIGN(spec.size, scalar_input<int64_t>(c, "size"));
  if (spec.size <= 0) return invalid_argument("Window size must be greater than zero.");
  WEFT_ASSIGN(spec.shift, scalar_input<int64_t>(c, "shift"));
  if (spec.shift <= 0) return invalid_argument("Window shift must be greater than zero.");
  WEFT_ASSIGN(spec.stride, scalar_input<int64_t>(c, "stride"));
  if (spec.stride <= 0) return invalid_argument("Window stride must be greater than zero.");
  WEFT_ASSIGN(spec.drop_remainder, scalar_input<bool>(c, "drop_remainder"));
  return emit(c, std::make_shared<WindowDataset>(input, spec, false));
}

template <bool kFirst>
Status run_sliding_window(KernelContext& c) {
  WEFT_ASSIGN(DatasetPtr input, dataset_input(c));
  WindowSpec spec;
  WEFT_ASSIGN(spec.size, scalar_input<int64_t>(c, "window_size"));
  if (spec.size <= 0) return invalid_argument("Window size must be greater than zero.");
  WEFT_ASSIGN(spec.shift, scalar_input<int64_t>(c, "window_shift"));
  if (spec.shift <= 0) return invalid_argument("Window shift must be greater than zero.");
  WEFT_ASSIGN(spec.stride, scalar_input<int64_t>(c, "window_stride"));
  if (spec.stride <= 0) return invalid_argument("window_stride must be greater than zero.");
  if constexpr (kFirst) spec.drop_remainder = true;
  else spec.drop_remainder = c.attr<bool>("drop_remainder");
  return emit(c, std::make_shared<WindowDataset>(input, spec, true));
}

// As many elements as the inputs give, one after the other.
Status run_window_op(KernelContext& c) {
  const Element inputs = inputs_of(c, "inputs");
  const size_t width = attr_shapes(c).size();
  std::vector<Element> elements;
  for (size_t i = 0; i + width <= inputs.size(); i += width)
    elements.emplace_back(inputs.begin() + ptrdiff_t(i), inputs.begin() + ptrdiff_t(i + width));
  return emit(c, window_of(std::move(elements), attr_types(c), attr_shapes(c)));
}

}  // namespace

void windows(Registry& r) {
  r.add("SlidingWindowDataset")
      .in("input_dataset: variant")
      .in("window_size: int64")
      .in("window_shift: int64")
      .in("window_stride: int64")
      .out("handle: variant")
      .full_type("DATASET(FOR_EACH(PRODUCT, TENSOR(VAR:output_types), VAR:output_types))")
      .attr("drop_remainder: bool = true")
      .attr("output_types: list(type) >= 1")
      .attr("output_shapes: list(shape) >= 1")
      .doc("A dataset of batches, each a window of elements.")
      .shape([](ShapeContext& c) { return dataset_of(c, {"window_size", "window_shift", "window_stride"}); })
      .cpu(run_sliding_window<false>);

  r.add("WindowDataset")
      .in("input_dataset: variant")
      .in("size: int64")
      .in("shift: int64")
      .in("stride: int64")
      .in("drop_remainder: bool")
      .out("handle: variant")
      .full_type("DATASET(FOR_EACH(PRODUCT, TENSOR(VAR:output_types), VAR:output_types))")
      .attr("output_types: list(type) >= 1")
      .attr("output_shapes: list(shape) >= 1")
      .attr("metadata: string = ''")
      .doc("A dataset of datasets, each a window of elements.")
      .shape([](ShapeContext& c) { return dataset_of(c, {"size", "shift", "stride", "drop_remainder"}); })
      .cpu(run_window);

  r.add("ExperimentalSlidingWindowDataset")
      .in("input_dataset: variant")
      .in("window_size: int64")
      .in("window_shift: int64")
      .in("window_stride: int64")
      .out("handle: variant")
      .full_type("DATASET(FOR_EACH(PRODUCT, TENSOR(VAR:output_types), VAR:output_types))")
      .attr("output_types: list(type) >= 1")
      .attr("output_shapes: list(shape) >= 1")
      .doc("The former name of SlidingWindowDataset.")
      .shape([](ShapeContext& c) { return dataset_of(c, {"window_size", "window_shift", "window_stride"}); })
      .cpu(run_sliding_window<true>);

  r.add("WindowOp")
      .in("inputs: Tinputs")
      .out("handle: variant")
      .full_type("DATASET(FOR_EACH(PRODUCT, TENSOR(VAR:output_types), VAR:output_types))")
      .attr("output_types: list(type) >= 1")
      .attr("output_shapes: list(shape) >= 1")
      .attr("Tinputs: list(type) >= 1")
      .doc("A dataset of the given tensors, as WindowDataset makes them.")
      .shape(shapes::scalar)
      .cpu(run_window_op);
}

}  // namespace weft_engine::ops::data
