// Datasets that gather elements by a key which a function gives.
#include <map>

#include "op/registry.h"
#include "ops/data/flat_map.h"

namespace weft_engine::ops::data {

namespace {

class GroupByWindowDataset final : public UnaryDataset {
 public:
  GroupByWindowDataset(const DatasetPtr& input, FunctionPtr key, FunctionPtr reduce, FunctionPtr window_size, const std::vector<DType>& types,
                       const std::vector<PartialShape>& shapes)
      : UnaryDataset("GroupByWindow", input, types, shapes), key_(std::move(key)), reduce_(std::move(reduce)), window_size_(std::move(window_size)) {}
  int64_t count() const override { return kUnknownCardinality; }

 protected:
  Result<IteratorPtr> walk(IteratorContext& c) const override { return iterate<Walk>(*this, c); }

 private:
  class Walk final : public UnaryIterator<GroupByWindowDataset> {
   public:
    using UnaryIterator::UnaryIterator;

   protected:
    Status advance(IteratorContext& c, Element& out, bool& end) override {
      do {
        if (current_) {
          WEFT_RETURN_IF_ERROR(current_->next(c, out, end));
          if (!end) return {};
          current_.reset();
        }
        while (input_ && !current_) WEFT_RETURN_IF_ERROR(gather(c));
        // The input is used up: what is left over is given by rising keys.
        if (!current_ && !groups_.empty()) WEFT_RETURN_IF_ERROR(flush(c, groups_.begin()->first));
      } while (current_ || input_);
      end = true;
      return {};
    }

   private:
    // Puts the next element into its group, and starts to give the group away when it is full.
    Status gather(IteratorContext& c) {
      Element e;
      bool end = false;
      WEFT_RETURN_IF_ERROR(pull(c, e, end));
      if (end) return {};
      int64_t key = 0;
      WEFT_RETURN_IF_ERROR(d().key_->call_number(c, e, "`key_func` must return a scalar int64.", key));
      if (!sizes_.contains(key)) {
        int64_t size = 0;
        WEFT_RETURN_IF_ERROR(d().window_size_->call_number(c, {Tensor::scalar(key)}, "`window_size_func` must return a scalar int64.", size));
        if (size <= 0) return invalid_argument("Window size must be greater than zero, but got ", size, ".");
        sizes_[key] = size;
      }
      auto& group = groups_[key];
      group.push_back(std::move(e));
      return int64_t(group.size()) == sizes_[key] ? flush(c, key) : Status();
    }
    Status flush(IteratorContext& c, int64_t key) {
      auto group = groups_.extract(key);
      DatasetPtr window = window_of(std::move(group.mapped()), d().input().types(), d().input().shapes()), reduced;
      WEFT_RETURN_IF_ERROR(call_for_dataset(*d().reduce_, c, {Tensor::scalar(key), dataset_tensor(std::move(window))}, "`reduce_func`", reduced));
      WEFT_ASSIGN(current_, make_input(c, *reduced));
      return {};
    }
    IteratorPtr current_;
    std::map<int64_t, std::vector<Element>> groups_;
    std::map<int64_t, int64_t> sizes_;
  };
  const FunctionPtr key_, reduce_, window_size_;
};

Status run_group_by_window(KernelContext& c) {
  WEFT_ASSIGN(DatasetPtr input, dataset_input(c));
  WEFT_ASSIGN(FunctionPtr key, CapturedFunction::make(c, "key_func", "key_func_other_arguments"));
  WEFT_ASSIGN(FunctionPtr reduce, CapturedFunction::make(c, "reduce_func", "reduce_func_other_arguments"));
  WEFT_ASSIGN(FunctionPtr size, CapturedFunction::make(c, "window_size_func", "window_size_func_other_arguments"));
  return emit(c, std::make_shared<GroupByWindowDataset>(input, std::move(key), std::move(reduce), std::move(size), attr_types(c), attr_shapes(c)));
}

class GroupByReducerDataset final : public UnaryDataset {
 public:
  GroupByReducerDataset(const DatasetPtr& input, FunctionPtr key, FunctionPtr init, FunctionPtr reduce, FunctionPtr finalize,
                        const std::vector<DType>& types, const std::vector<PartialShape>& shapes)
      : UnaryDataset("GroupByReducer", input, types, shapes),
        key_(std::move(key)),
        init_(std::move(init)),
        reduce_(std::move(reduce)),
        finalize_(std::move(finalize)) {}
  int64_t count() const override { return kUnknownCardinality; }

 protected:
  Result<IteratorPtr> walk(IteratorContext& c) const override { return iterate<Walk>(*this, c); }

 private:
  class Walk final : public UnaryIterator<GroupByReducerDataset> {
   public:
    using UnaryIterator::UnaryIterator;

   protected:
    Status advance(IteratorContext& c, Element& out, bool& end) override {
      while (input_) WEFT_RETURN_IF_ERROR(gather(c));
      end = states_.empty();
      if (end) return {};
      Element state = std::move(states_.begin()->second);
      states_.erase(states_.begin());
      return d().finalize_->call(c, std::move(state), out);
    }

   private:
    Status gather(IteratorContext& c) {
      Element e;
      bool end = false;
      WEFT_RETURN_IF_ERROR(pull(c, e, end));
      if (end) return {};
      int64_t key = 0;
      WEFT_RETURN_IF_ERROR(d().key_->call_number(c, e, "`key_func` must return a scalar int64.", key));
      auto it = states_.find(key);
      if (it == states_.end()) {
        Element fresh;
        WEFT_RETURN_IF_ERROR(d().init_->call(c, {Tensor::scalar(key)}, fresh));
        it = states_.emplace(key, std::move(fresh)).first;
      }
      Element args = std::move(it->second);
      std::move(e.begin(), e.end(), std::back_inserter(args));
      return d().reduce_->call(c, std::move(args), it->second);
    }
    std::map<int64_t, Element> states_;
  };
  const FunctionPtr key_, init_, reduce_, finalize_;
};

Status run_group_by_reducer(KernelContext& c) {
  WEFT_ASSIGN(DatasetPtr input, dataset_input(c));
  WEFT_ASSIGN(FunctionPtr key, CapturedFunction::make(c, "key_func", "key_func_other_arguments"));
  WEFT_ASSIGN(FunctionPtr init, CapturedFunction::make(c, "init_func", "init_func_other_arguments"));
  WEFT_ASSIGN(FunctionPtr reduce, CapturedFunction::make(c, "reduce_func", "reduce_func_other_arguments"));
  WEFT_ASSIGN(FunctionPtr finalize, CapturedFunction::make(c, "finalize_func", "finalize_func_other_arguments"));
  return emit(c, std::make_shared<GroupByReducerDataset>(input, std::move(key), std::move(init), std::move(reduce), std::move(finalize),
                                                         attr_types(c), attr_shapes(c)));
}

}  // namespace

void groups(Registry& r) {
  r.add("GroupByWindowDataset")
      .in("input_dataset: variant")
      .in("key_func_other_arguments: Tkey_func_other_arguments")
      .in("reduce_func_other_arguments: Treduce_func_other_arguments")
      .in("window_size_func_other_arguments: Twindow_size_func_other_arguments")
      .out("handle: variant")
      .full_type("DATASET(FOR_EACH(PRODUCT, TENSOR(VAR:output_types), VAR:output_types))")
      .attr("key_func: func")
      .attr("reduce_func: func")
      .attr("window_size_func: func")
      .attr("Tkey_func_other_arguments: list(type) >= 0")
      .attr("Treduce_func_other_arguments: list(type) >= 0")
      .attr("Twindow_size_func_other_arguments: list(type) >= 0")
      .attr("output_types: list(type) >= 1")
      .attr("output_shapes: list(shape) >= 1")
      .attr("metadata: string = ''")
      .doc("A dataset that gathers elements by key and makes a dataset of each full group.")
      .shape(shapes::scalar)
      .cpu(run_group_by_window);

  r.add("ExperimentalGroupByWindowDataset")
      .in("input_dataset: variant")
      .in("key_func_other_arguments: Tkey_func_other_arguments")
      .in("reduce_func_other_arguments: Treduce_func_other_arguments")
      .in("window_size_func_other_arguments: Twindow_size_func_other_arguments")
      .out("handle: variant")
      .full_type("DATASET(FOR_EACH(PRODUCT, TENSOR(VAR:output_types), VAR:output_types))")
      .attr("key_func: func")
      .attr("reduce_func: func")
      .attr("window_size_func: func")
      .attr("Tkey_func_other_arguments: list(type) >= 0")
      .attr("Treduce_func_other_arguments: list(type) >= 0")
      .attr("Twindow_size_func_other_arguments: list(type) >= 0")
      .attr("output_types: list(type) >= 1")
      .attr("output_shapes: list(shape) >= 1")
      .doc("The former name of GroupByWindowDataset.")
      .shape(shapes::scalar)
      .cpu(run_group_by_window);

  r.add("GroupByReducerDataset")
      .in("input_dataset: variant")
      .in("key_func_other_arguments: Tkey_func_other_arguments")
      .in("init_func_other_arguments: Tinit_func_other_arguments")
      .in("reduce_func_other_arguments: Treduce_func_other_arguments")
      .in("finalize_func_other_arguments: Tfinalize_func_other_arguments")
      .out("handle: variant")
      .full_type("DATASET(FOR_EACH(PRODUCT, TENSOR(VAR:output_types), VAR:output_types))")
      .attr("key_func: func")
      .attr("init_func: func")
      .attr("reduce_func: func")
      .attr("finalize_func: func")
      .attr("Tkey_func_other_arguments: list(type) >= 0")
      .attr("Tinit_func_other_arguments: list(type) >= 0")
      .attr("Treduce_func_other_arguments: list(type) >= 0")
      .attr("Tfinalize_func_other_arguments: list(type) >= 0")
      .attr("output_types: list(type) >= 1")
      .attr("output_shapes: list(shape) >= 1")
      .stateful()
      .doc("A dataset that folds the elements of each key into one.")
      .shape(shapes::scalar)
      .cpu(run_group_by_reducer);

  r.add("ExperimentalGroupByReducerDataset")
      .in("input_dataset: variant")
      .in("key_func_other_arguments: Tkey_func_other_arguments")
      .in("init_func_other_arguments: Tinit_func_other_arguments")
      .in("reduce_func_other_arguments: Treduce_func_other_arguments")
      .in("finalize_func_other_arguments: Tfinalize_func_other_arguments")
      .out("handle: variant")
      .full_type("DATASET(FOR_EACH(PRODUCT, TENSOR(VAR:output_types), VAR:output_types))")
      .attr("key_func: func")
      .attr("init_func: func")
      .attr("reduce_func: func")
      .attr("finalize_func: func")
      .attr("Tkey_func_other_arguments: list(type) >= 0")
      .attr("Tinit_func_other_arguments: list(type) >= 0")
      .attr("Treduce_func_other_arguments: list(type) >= 0")
      .attr("Tfinalize_func_other_arguments: list(type) >= 0")
      .attr("output_types: list(type) >= 1")
      .attr("output_shapes: list(shape) >= 1")
      .stateful()
      .doc("The former name of GroupByReducerDataset.")
      .shape(shapes::scalar)
      .cpu(run_group_by_reducer);
}

}  // namespace weft_engine::ops::data
