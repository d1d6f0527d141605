// tf.SequenceExample, one or a batch, into tensors.
#include <unordered_map>

#include "op/registry.h"
#include "ops/all.h"
#include "ops/io/example_columns.h"
#include "wire/example.h"

namespace weft_engine::ops {

using namespace weft_engine::op;  // NOLINT: an ops file is written in the vocabulary of op/

namespace {

using wire::Feature;
enum class Form { kSparse, kDense, kRagged };

// A wanted feature of the context.
struct ContextFeature {
  Form form;
  int index;  // among those of its form
  Column column;
  PartialShape shape = {};
  const Tensor* fallback = nullptr;
};

// A wanted feature list: `column` has one entry per step, `steps` says how many steps each example has.
struct ListFeature {
  Form form;
  int index;
  Column column;
  PartialShape shape = {};
  bool may_be_missing = true;
  std::vector<int64_t> step_ends = {};
  int64_t first_step(size_t i) const { return i ? step_ends[i - 1] : 0; }
  int64_t steps(size_t i) const { return step_ends[i] - first_step(i); }
  int64_t most_steps() const {
    int64_t n = 0;
    for (size_t i = 0; i < step_ends.size(); ++i) n = std::max(n, steps(i));
    return n;
  }
};

int64_t elements(const PartialShape& s) {
  int64_t n = 1;
  for (int64_t d : s.dims()) n = multiply_without_overflow(n, d);
  return n;
}

class SequenceParser {
 public:
  bool batched = true;
  bool single = false;  // ParseSingleSequenceExample words its errors otherwise
  std::vector<std::string_view> serialized, names;
  std::vector<ContextFeature> context;
  std::vector<ListFeature> lists;

  Status want_context(std::string_view key, ContextFeature f) {
    if (f.form == Form::kDense) {
      if (!f.shape.fully_known() || elements(f.shape) < 0)
        return invalid_argument("context_dense_shapes[", f.index, "] is not fully defined: ", f.shape);
      if (f.fallback->num_elements() > 0 && !f.shape.compatible_with(f.fallback->shape()))
        return invalid_argument("def_value[", f.index, "].shape() == ", f.fallback->shape(), " != context_dense_shapes_[", f.index, "] == ", f.shape);
    }
    f.column.key = key;
    context.push_back(std::move(f));
    return {};
  }
  Status want_list(std::string_view key, ListFeature f) {
    if (f.form == Form::kDense && (!f.shape.fully_known() || elements(f.shape) < 0))
      return invalid_argument("feature_list_dense_shapes[", f.index, "] is not fully defined: ", f.shape);
    f.column.key = key;
    lists.push_back(std::move(f));
    return {};
  }

  Status run(KernelContext& c) {
    for (size_t i = 0; i < serialized.size(); ++i) WEFT_RETURN_IF_ERROR(read(i));
    for (ContextFeature& f : context) WEFT_RETURN_IF_ERROR(emit_context(c, f));
    for (ListFeature& f : lists) WEFT_RETURN_IF_ERROR(emit_list(c, f));
    return {};
  }

 private:
  std::string name(size_t i) const { return names.empty() ? "<unknown>" : std::string(names[i]); }
  Status read(size_t i);
  Status take_context(size_t i, const Feature* feature, ContextFeature& f) const;
  Status take_list(size_t i, const std::vector<Feature>* steps, ListFeature& f) const;
  Status emit_context(KernelContext& c, const ContextFeature& f) const;
  Status emit_context_dense(KernelContext& c, const ContextFeature& f, int output) const;
  Status emit_list(KernelContext& c, const ListFeature& f) const;
  Status emit_list_dense(KernelContext& c, const ListFeature& f) const;
  Status emit_list_sparse(KernelContext& c, const ListFeature& f) const;
};

Status SequenceParser::read(size_t i) {
  wire::FeatureMap features;
  wire::FeatureLists feature_lists;
  if (!wire::read_sequence_example(serialized[i], features, feature_lists)) {
    if (single) return invalid_argument("Could not parse example input, value: '", serialized[i], "'");
    return invalid_argument("Invalid protocol message input, example id: ", name(i));
  }
  // The last of several with one name counts.
  std::unordered_map<std::string_view, const Feature*> by_name;
  for (const auto& [key, feature] : features) by_name[key] = &feature;
  std::unordered_map<std::string_view, const std::vector<Feature>*> lists_by_name;
  for (const auto& [key, steps] : feature_lists) lists_by_name[key] = &steps;
  for (ContextFeature& f : context) {
    const auto found = by_name.find(f.column.key);
    WEFT_RETURN_IF_ERROR(take_context(i, found == by_name.end() ? nullptr : found->second, f));
  }
  for (ListFeature& f : lists) {
    const auto found = lists_by_name.find(f.column.key);
    WEFT_RETURN_IF_ERROR(take_list(i, found == lists_by_name.end() ? nullptr : found->second, f));
  }
  return {};
}

Status SequenceParser::take_context(size_t i, const Feature* feature, ContextFeature& f) const {
  FeatureValues& values = f.column.values;
  const bool present = feature && (feature->present() || (single && f.form == Form::kDense));
  if (present && feature->dtype() != values.dtype())
    return invalid_argument("Name: ", name(i), ", Context feature: ", f.column.key,
                            ".  Data types don't match. Expected type: ", dtype_name(values.dtype()), single ? "  Feature is: " : "",
                            single ? dtype_name(feature->dtype()) : "");
  if (!present && single && f.form == Form::kDense && f.fallback->num_elements() == 0)
    return invalid_argument("Name: ", name(i), ", Context feature '", f.column.key, "' is required but could not be found.");
  if (present && !values.append(*feature)) return invalid_argument("Invalid protocol message input, example id: ", name(i));
  f.column.ends.push_back(values.size());
  f.column.present.push_back(present);
  if (single && present && f.form == Form::kDense && values.size() != elements(f.shape))
    return invalid_argument("Name: ", name(i), ", Key: ", f.column.key, ", Index: 0.  Number of ", dtype_name(values.dtype()),
                            " values != expected.  values size: ", values.size(), " but output shape: ", f.shape);
  return {};
}

Status SequenceParser::take_list(size_t i, const std::vector<Feature>* steps, ListFeature& f) const {
  FeatureValues& values = f.column.values;
  if (!steps && f.form == Form::kDense && !f.may_be_missing)
    return invalid_argument("Name: ", name(i), ", Feature list '", f.column.key,
                            "' is required but could not be found.  Did you mean to include it in ",
                            "feature_list_dense_missing_assumed_empty or feature_list_dense_defaults?");
  const int64_t before = values.size();
  const size_t first = f.column.ends.size();
  for (size_t k = 0; steps && k < steps->size(); ++k) {
    const Feature& feature = (*steps)[k];
    if (feature.present() && feature.dtype() != values.dtype())
      return invalid_argument("Name: ", name(i), single ? ", Feature List: " : ", Feature list: ", f.column.key, ", Index: ", k,
                              ".  Data types don't match. Expected type: ", dtype_name(values.dtype()), single ? "  Feature is: " : "",
                              single ? dtype_name(feature.dtype()) : "");
    if (feature.present() && !values.append(feature)) return invalid_argument("Invalid protocol message input, example id: ", name(i));
    f.column.ends.push_back(values.size());
  }
  f.step_ends.push_back(int64_t(f.column.ends.size()));
  if (f.form != Form::kDense) return {};
  const int64_t each = elements(f.shape), total = values.size() - before;
  if (!single && each > 0 && total % each != 0) {
    PartialShape shape = PartialShape::vector(kUnknownDim).concat(f.shape);
    return invalid_argument("Feature list '", f.column.key, "' has an unexpected number of values.  Total values size: ", total,
                            " is not consistent with output shape: ", shape);
  }
  for (size_t k = first; k < f.column.ends.size(); ++k) {
    if (f.column.count(int64_t(k)) != each)
      return invalid_argument("Name: ", name(i), ", Key: ", f.column.key, ", Index: ", k - first,
                              ".  Number of values != expected.  values size: ", f.column.count(int64_t(k)), " but output shape: ", f.shape);
  }
  return {};
}

Status SequenceParser::emit_context_dense(KernelContext& c, const ContextFeature& f, int output) const {
  const int64_t each = elements(f.shape);
  const int64_t most = std::max(f.column.longest(), f.fallback->num_elements());
  if (!single && most != each)
    return invalid_argument("Inconsistent max number of elements for feature ", f.column.key, ": expected ", each, ", but found ", most);
  Shape shape;
  if (batched) shape.add_dim(int64_t(serialized.size()));
  for (int64_t d : f.shape.dims()) shape.add_dim(d);
  WEFT_ASSIGN(Tensor* out, c.allocate(output, shape));
  for (int64_t i = 0; i < int64_t(serialized.size()); ++i) {
    if (f.column.present[size_t(i)]) {
      if (f.column.count(i) != each) return invalid_argument("Unexpected number of elements in example ", name(size_t(i)));
      f.column.values.copy_to(f.column.begin(i), each, *out, i * each);
    } else if (f.fallback->num_elements() == 0) {
      return invalid_argument("Feature: ", f.column.key, " (data type: ", dtype_name(f.column.values.dtype()),
                              ") is required but could not be found.");
    } else {
      copy_elements(*f.fallback, 0, *out, i * each, each);
    }
  }
  return {};
}

Status SequenceParser::emit_context(KernelContext& c, const ContextFeature& f) const {
  auto at = [&](std::string_view name) { return c.output_range(name).begin + f.index; };
  switch (f.form) {
    case Form::kSparse:
      return f.column.emit_sparse(c, batched, at("context_sparse_indices"), at("context_sparse_values"), at("context_sparse_shapes"));
    case Form::kDense: return emit_context_dense(c, f, at("context_dense_values"));
    case Form::kRagged: break;
  }
  WEFT_RETURN_IF_ERROR(f.column.emit_values(c, at("context_ragged_values")));
  if (batched) return f.column.emit_splits(c, at("context_ragged_row_splits"));
  WEFT_ASSIGN(Tensor zero, Tensor::zeros(c.output_type(at("context_ragged_row_splits")), Shape()));
  c.set_output(at("context_ragged_row_splits"), zero);
  return {};
}

Status SequenceParser::emit_list_dense(KernelContext& c, const ListFeature& f) const {
  auto at = [&](std::string_view name) { return c.output_range(name).begin + f.index; };
  const int64_t most = f.most_steps(), each = elements(f.shape);
  Shape shape;
  if (batched) shape.add_dim(int64_t(serialized.size()));
  shape.add_dim(most);
  for (int64_t d : f.shape.dims()) shape.add_dim(d);
  WEFT_ASSIGN(Tensor* out, c.allocate(at("feature_list_dense_values"), shape));
  if (is_simple(out->dtype()) && out->byte_size()) std::memset(out->raw(), 0, out->byte_size());
  for (size_t i = 0; i < serialized.size(); ++i) f.column.values.copy_to(f.first_step(i) * each, f.steps(i) * each, *out, int64_t(i) * most * each);
  if (single) return {};
  WEFT_ASSIGN(Tensor* lengths, c.allocate(at("feature_list_dense_lengths"), batched ? Shape({int64_t(serialized.size())}) : Shape()));
  for (size_t i = 0; i < serialized.size(); ++i) lengths->data<int64_t>()[i] = f.steps(i);
  return {};
}

Status SequenceParser::emit_list_sparse(KernelContext& c, const ListFeature& f) const {
  auto at = [&](std::string_view name) { return c.output_range(name).begin + f.index; };
  const int64_t rank = batched ? 3 : 2;
  WEFT_RETURN_IF_ERROR(f.column.emit_values(c, at("feature_list_sparse_values")));
  WEFT_ASSIGN(Tensor* indices, c.allocate(at("feature_list_sparse_indices"), Shape({f.column.values.size(), rank})));
  int64_t* to = indices->data<int64_t>();
  for (size_t i = 0; i < serialized.size(); ++i) {
    for (int64_t step = 0; step < f.steps(i); ++step) {
      for (int64_t k = 0; k < f.column.count(f.first_step(i) + step); ++k) {
        if (batched) *to++ = int64_t(i);
        *to++ = step;
        *to++ = k;
      }
    }
  }
  WEFT_ASSIGN(Tensor* shape, c.allocate(at("feature_list_sparse_shapes"), Shape({rank})));
  to = shape->data<int64_t>();
  if (batched) *to++ = int64_t(serialized.size());
  *to++ = f.most_steps();
  *to++ = f.column.longest();
  return {};
}

Status SequenceParser::emit_list(KernelContext& c, const ListFeature& f) const {
  auto at = [&](std::string_view name) { return c.output_range(name).begin + f.index; };
  if (f.form == Form::kDense) return emit_list_dense(c, f);
  if (f.form == Form::kSparse) return emit_list_sparse(c, f);
  WEFT_RETURN_IF_ERROR(f.column.emit_values(c, at("feature_list_ragged_values")));
  WEFT_RETURN_IF_ERROR(Column::emit_split_list(c, at("feature_list_ragged_inner_splits"), f.column.ends));
  if (batched) return Column::emit_split_list(c, at("feature_list_ragged_outer_splits"), f.step_ends);
  WEFT_ASSIGN(Tensor zero, Tensor::zeros(c.output_type(at("feature_list_ragged_outer_splits")), Shape()));
  c.set_output(at("feature_list_ragged_outer_splits"), zero);
  return {};
}

Status read_batch(SequenceParser& p, const Tensor& serialized, const Tensor& names) {
  if (serialized.rank() > 1) return invalid_argument("Expected serialized to be a scalar or vector, got shape: ", serialized.shape());
  p.batched = serialized.rank() == 1;
  for (const tstring& s : serialized.span<tstring>()) p.serialized.push_back(s.view());
  if (names.num_elements() == 0) return {};
  if (names.num_elements() != serialized.num_elements())
    return invalid_argument("example_names must be empty or have the correct number of elements");
  for (const tstring& s : names.span<tstring>()) p.names.push_back(s.view());
  return {};
}

template <class Keys>
Status want_contexts(SequenceParser& p, const NodeInfo& node, const Keys& sparse, const Keys& dense, std::span<const Tensor* const> defaults) {
  const auto& types = node.attr<std::vector<DType>>("context_sparse_types");
  const auto& shapes = node.attr<std::vector<PartialShape>>("context_dense_shapes");
  if (types.size() != sparse.size()) return invalid_argument("len(context_sparse_keys) != len(context_sparse_types)");
  if (defaults.size() != dense.size()) return invalid_argument("len(context_dense_keys) != len(context_dense_types)");
  if (shapes.size() != dense.size()) return invalid_argument("len(context_dense_keys) != len(context_dense_shapes)");
  for (size_t k = 0; k < dense.size(); ++k)
    WEFT_RETURN_IF_ERROR(p.want_context(
        dense[k], {.form = Form::kDense, .index = int(k), .column = Column(defaults[k]->dtype()), .shape = shapes[k], .fallback = defaults[k]}));
  for (size_t k = 0; k < sparse.size(); ++k)
    WEFT_RETURN_IF_ERROR(p.want_context(sparse[k], {.form = Form::kSparse, .index = int(k), .column = Column(types[k])}));
  return {};
}

template <class Keys, class MayBeMissing>
Status want_lists(SequenceParser& p, const NodeInfo& node, const Keys& sparse, const Keys& dense, MayBeMissing may_be_missing) {
  const auto &sparse_types = node.attr<std::vector<DType>>("feature_list_sparse_types"),
             &dense_types = node.attr<std::vector<DType>>("feature_list_dense_types");
  const auto& shapes = node.attr<std::vector<PartialShape>>("feature_list_dense_shapes");
  if (sparse_types.size() != sparse.size()) return invalid_argument("len(feature_list_sparse_keys) != len(feature_list_sparse_types)");
  if (dense_types.size() != dense.size()) return invalid_argument("len(feature_list_dense_keys) != len(feature_list_dense_types)");
  if (shapes.size() != dense.size()) return invalid_argument("len(feature_list_dense_keys) != len(feature_list_dense_shapes)");
  for (size_t k = 0; k < sparse.size(); ++k)
    WEFT_RETURN_IF_ERROR(p.want_list(sparse[k], {.form = Form::kSparse, .index = int(k), .column = Column(sparse_types[k])}));
  for (size_t k = 0; k < dense.size(); ++k)
    WEFT_RETURN_IF_ERROR(p.want_list(
        dense[k],
        {.form = Form::kDense, .index = int(k), .column = Column(dense_types[k]), .shape = shapes[k], .may_be_missing = may_be_missing(k)}));
  return {};
}

bool contains(const std::vector<std::string>& list, std::string_view key) { return std::find(list.begin(), list.end(), key) != list.end(); }

Status run_parse_sequence(KernelContext& c) {
  using Keys = std::vector<std::string>;
  SequenceParser p;
  WEFT_RETURN_IF_ERROR(read_batch(p, c.input(0), c.input(1)));
  const auto& missing = c.attr<Keys>("feature_list_dense_missing_assumed_empty");
  const auto& dense = c.attr<Keys>("feature_list_dense_keys");
  if (int64_t(dense.size()) != c.attr<int64_t>("Nfeature_list_dense") ||
      int64_t(c.attr<Keys>("feature_list_sparse_keys").size()) != c.attr<int64_t>("Nfeature_list_sparse") ||
      int64_t(c.attr<Keys>("context_sparse_keys").size()) != c.attr<int64_t>("Ncontext_sparse"))
    return invalid_argument("the numbers of keys do not match the numbers of outputs");
  WEFT_RETURN_IF_ERROR(
      want_contexts(p, c.node(), c.attr<Keys>("context_sparse_keys"), c.attr<Keys>("context_dense_keys"), c.input_list("context_dense_defaults")));
  WEFT_RETURN_IF_ERROR(
      want_lists(p, c.node(), c.attr<Keys>("feature_list_sparse_keys"), dense, [&](size_t k) { return contains(missing, dense[k]); }));
  return p.run(c);
}

Status run_parse_sequence_v2(KernelContext& c) {
  SequenceParser p;
  WEFT_RETURN_IF_ERROR(read_batch(p, c.input(0), c.input(1)));
  auto types = [&](std::string_view name) -> const std::vector<DType>& { return c.attr<std::vector<DType>>(name); };
  const auto defaults = c.input_list("context_dense_defaults");
  const auto &context_types = types("context_ragged_value_types"), &list_types = types("feature_list_ragged_value_types");
  if (types("context_ragged_split_types").size() != context_types.size() || types("feature_list_ragged_split_types").size() != list_types.size())
    return invalid_argument("ragged value types and split types must be equally many");
  WEFT_ASSIGN(auto context_sparse, vector_keys(c.input("context_sparse_keys"), "context_sparse_keys", size_t(c.attr<int64_t>("Ncontext_sparse"))));
  WEFT_ASSIGN(auto context_dense, vector_keys(c.input("context_dense_keys"), "context_dense_keys", defaults.size()));
  WEFT_ASSIGN(auto context_ragged, vector_keys(c.input("context_ragged_keys"), "context_ragged_keys", context_types.size()));
  WEFT_ASSIGN(auto list_sparse,
              vector_keys(c.input("feature_list_sparse_keys"), "feature_list_sparse_keys", size_t(c.attr<int64_t>("Nfeature_list_sparse"))));
  WEFT_ASSIGN(auto list_dense,
              vector_keys(c.input("feature_list_dense_keys"), "feature_list_dense_keys", size_t(c.attr<int64_t>("Nfeature_list_dense"))));
  WEFT_ASSIGN(auto list_ragged, vector_keys(c.input("feature_list_ragged_keys"), "feature_list_ragged_keys", list_types.size()));
  const Tensor& missing = c.input("feature_list_dense_missing_assumed_empty");
  if (missing.num_elements() != int64_t(list_dense.size()))
    return invalid_argument("Expected feature_list_dense_missing_assumed_empty to have ", list_dense.size(), " elements, got ",
                            missing.num_elements());
  WEFT_RETURN_IF_ERROR(want_contexts(p, c.node(), context_sparse, context_dense, defaults));
  for (size_t k = 0; k < context_ragged.size(); ++k)
    WEFT_RETURN_IF_ERROR(p.want_context(context_ragged[k], {.form = Form::kRagged, .index = int(k), .column = Column(context_types[k])}));
  WEFT_RETURN_IF_ERROR(want_lists(p, c.node(), list_sparse, list_dense, [&](size_t k) { return missing.data<bool>()[k]; }));
  for (size_t k = 0; k < list_ragged.size(); ++k)
    WEFT_RETURN_IF_ERROR(p.want_list(list_ragged[k], {.form = Form::kRagged, .index = int(k), .column = Column(list_types[k])}));
  return p.run(c);
}

Result<std::vector<std::string_view>> scalar_keys(KernelContext& c, std::string_view name) {
  std::vector<std::string_view> keys;
  for (const Tensor* t : c.input_list(name)) {
    WEFT_ASSIGN(std::string_view key, scalar_key(*t, name, keys.size()));
    keys.push_back(key);
  }
  return keys;
}

Status run_parse_single_sequence(KernelContext& c) {
  SequenceParser p;
  p.batched = false;
  p.single = true;
  const Tensor &serialized = c.input(0), &debug_name = c.input("debug_name");
  if (debug_name.rank() != 0) return invalid_argument("Expected debug_name to be a scalar, got shape: ", debug_name.shape());
  if (serialized.rank() != 0) return invalid_argument("Expected serialized to be a scalar, got shape: ", serialized.shape());
  p.serialized.push_back(serialized.data<tstring>()[0].view());
  p.names.push_back(debug_name.data<tstring>()[0].view());
  std::vector<std::string> missing;
  for (const tstring& s : c.input(1).span<tstring>()) missing.push_back(s.str());
  WEFT_ASSIGN(auto context_sparse, scalar_keys(c, "context_sparse_keys"));
  WEFT_ASSIGN(auto context_dense, scalar_keys(c, "context_dense_keys"));
  WEFT_ASSIGN(auto list_sparse, scalar_keys(c, "feature_list_sparse_keys"));
  WEFT_ASSIGN(auto list_dense, scalar_keys(c, "feature_list_dense_keys"));
  WEFT_RETURN_IF_ERROR(want_contexts(p, c.node(), context_sparse, context_dense, c.input_list("context_dense_defaults")));
  WEFT_RETURN_IF_ERROR(want_lists(p, c.node(), list_sparse, list_dense, [&](size_t k) { return contains(missing, list_dense[k]); }));
  return p.run(c);
}

// Outputs of all three ops, by the rank of `serialized`.
Status sequence_shape(ShapeContext& c) {
  const bool single = c.node().op() == "ParseSingleSequenceExample";
  WEFT_ASSIGN(PartialShape in, single ? c.with_rank(0, 0) : c.with_rank_at_most(0, 1));
  const int64_t rank = in.has_rank() ? in.rank() : kUnknownDim;
  auto wide = [&](int64_t more) { return rank < 0 ? kUnknownDim : rank + more; };
  auto each = [&](std::string_view name, auto shape_of) {
    const auto range = c.node().output_range(name);
    for (int i = range.begin; i < range.end; ++i) c.output(i, shape_of(size_t(i - range.begin)));
  };
  auto values = [](size_t) { return PartialShape::vector(kUnknownDim); };
  auto behind = [&](const PartialShape& tail) { return in.has_rank() ? in.concat(tail) : PartialShape(); };
  each("context_sparse_indices", [&](size_t) { return PartialShape::matrix(kUnknownDim, wide(1)); });
  each("context_sparse_values", values);
  each("context_sparse_shapes", [&](size_t) { return PartialShape::vector(wide(1)); });
  each("feature_list_sparse_indices", [&](size_t) { return PartialShape::matrix(kUnknownDim, wide(2)); });
  each("feature_list_sparse_values", values);
  each("feature_list_sparse_shapes", [&](size_t) { return PartialShape::vector(wide(2)); });
  const auto &context = c.attr<std::vector<PartialShape>>("context_dense_shapes"),
             &lists = c.attr<std::vector<PartialShape>>("feature_list_dense_shapes");
  each("context_dense_values", [&](size_t k) { return k < context.size() ? behind(context[k]) : PartialShape(); });
  each("feature_list_dense_values",
       [&](size_t k) { return k < lists.size() ? behind(PartialShape::vector(kUnknownDim).concat(lists[k])) : PartialShape(); });
  if (!single) each("feature_list_dense_lengths", [&](size_t) { return in; });
  if (c.node().op() != "ParseSequenceExampleV2") return {};
  const auto splits = [&](size_t) {
    return rank < 0 ? PartialShape() : rank == 0 ? PartialShape::scalar() : PartialShape::vector(shapes::add_dim(in.dim(0), 1));
  };
  each("context_ragged_values", values);
  each("context_ragged_row_splits", splits);
  each("feature_list_ragged_values", values);
  each("feature_list_ragged_outer_splits", splits);
  each("feature_list_ragged_inner_splits", values);
  return {};
}

}  // namespace

void sequence_example(Registry& r) {
  r.add("ParseSequenceExample")
      .doc("Tensors from a batch of serialized tf.SequenceExample.")
      .in("serialized: string")
      .in("debug_name: string")
      .in("context_dense_defaults: Tcontext_dense")
      .out("context_sparse_indices: Ncontext_sparse * int64")
      .out("context_sparse_values: context_sparse_types")
      .out("context_sparse_shapes: Ncontext_sparse * int64")
      .out("context_dense_values: Tcontext_dense")
      .out("feature_list_sparse_indices: Nfeature_list_sparse * int64")
      .out("feature_list_sparse_values: feature_list_sparse_types")
      .out("feature_list_sparse_shapes: Nfeature_list_sparse * int64")
      .out("feature_list_dense_values: feature_list_dense_types")
      .out("feature_list_dense_lengths: Nfeature_list_dense * int64")
      .attr("feature_list_dense_missing_assumed_empty: list(string) >= 0")
      .attr("context_sparse_keys: list(string) >= 0")
      .attr("context_dense_keys: list(string) >= 0")
      .attr("feature_list_sparse_keys: list(string) >= 0")
      .attr("feature_list_dense_keys: list(string) >= 0")
      .attr("Ncontext_sparse: int >= 0 = 0")
      .attr("Ncontext_dense: int >= 0 = 0")
      .attr("Nfeature_list_sparse: int >= 0 = 0")
      .attr("Nfeature_list_dense: int >= 0 = 0")
      .attr("context_sparse_types: list({float, int64, string}) >= 0 = []")
      .attr("Tcontext_dense: list({float, int64, string}) >= 0 = []")
      .attr("feature_list_dense_types: list({float, int64, string}) >= 0 = []")
      .attr("context_dense_shapes: list(shape) >= 0 = []")
      .attr("feature_list_sparse_types: list({float, int64, string}) >= 0 = []")
      .attr("feature_list_dense_shapes: list(shape) >= 0 = []")
      .shape(sequence_shape)
      .cpu(run_parse_sequence);

  r.add("ParseSequenceExampleV2")
      .doc("Tensors, ragged ones too, from one serialized tf.SequenceExample or a batch of them.")
      .in("serialized: string")
      .in("debug_name: string")
      .in("context_sparse_keys: string")
      .in("context_dense_keys: string")
      .in("context_ragged_keys: string")
      .in("feature_list_sparse_keys: string")
      .in("feature_list_dense_keys: string")
      .in("feature_list_ragged_keys: string")
      .in("feature_list_dense_missing_assumed_empty: bool")
      .in("context_dense_defaults: Tcontext_dense")
      .out("context_sparse_indices: Ncontext_sparse * int64")
      .out("context_sparse_values: context_sparse_types")
      .out("context_sparse_shapes: Ncontext_sparse * int64")
      .out("context_dense_values: Tcontext_dense")
      .out("context_ragged_values: context_ragged_value_types")
      .out("context_ragged_row_splits: context_ragged_split_types")
      .out("feature_list_sparse_indices: Nfeature_list_sparse * int64")
      .out("feature_list_sparse_values: feature_list_sparse_types")
      .out("feature_list_sparse_shapes: Nfeature_list_sparse * int64")
      .out("feature_list_dense_values: feature_list_dense_types")
      .out("feature_list_dense_lengths: Nfeature_list_dense * int64")
      .out("feature_list_ragged_values: feature_list_ragged_value_types")
      .out("feature_list_ragged_outer_splits: feature_list_ragged_split_types")
      .out("feature_list_ragged_inner_splits: feature_list_ragged_split_types")
      .attr("Ncontext_sparse: int >= 0 = 0")
      .attr("Tcontext_dense: list({float, int64, string}) >= 0 = []")
      .attr("context_sparse_types: list({float, int64, string}) >= 0 = []")
      .attr("context_ragged_value_types: list({float, int64, string}) >= 0 = []")
      .attr("context_ragged_split_types: list({int32, int64}) >= 0 = []")
      .attr("context_dense_shapes: list(shape) >= 0 = []")
      .attr("Nfeature_list_sparse: int >= 0 = 0")
      .attr("Nfeature_list_dense: int >= 0 = 0")
      .attr("feature_list_dense_types: list({float, int64, string}) >= 0 = []")
      .attr("feature_list_sparse_types: list({float, int64, string}) >= 0 = []")
      .attr("feature_list_ragged_value_types: list({float, int64, string}) >= 0 = []")
      .attr("feature_list_ragged_split_types: list({int32, int64}) >= 0 = []")
      .attr("feature_list_dense_shapes: list(shape) >= 0 = []")
      .shape(sequence_shape)
      .cpu(run_parse_sequence_v2);

  r.add("ParseSingleSequenceExample")
      .doc("Tensors from one serialized tf.SequenceExample.")
      .in("serialized: string")
      .in("feature_list_dense_missing_assumed_empty: string")
      .in("context_sparse_keys: Ncontext_sparse * string")
      .in("context_dense_keys: Ncontext_dense * string")
      .in("feature_list_sparse_keys: Nfeature_list_sparse * string")
      .in("feature_list_dense_keys: Nfeature_list_dense * string")
      .in("context_dense_defaults: Tcontext_dense")
      .in("debug_name: string")
      .out("context_sparse_indices: Ncontext_sparse * int64")
      .out("context_sparse_values: context_sparse_types")
      .out("context_sparse_shapes: Ncontext_sparse * int64")
      .out("context_dense_values: Tcontext_dense")
      .out("feature_list_sparse_indices: Nfeature_list_sparse * int64")
      .out("feature_list_sparse_values: feature_list_sparse_types")
      .out("feature_list_sparse_shapes: Nfeature_list_sparse * int64")
      .out("feature_list_dense_values: feature_list_dense_types")
      .attr("Ncontext_sparse: int >= 0 = 0")
      .attr("Ncontext_dense: int >= 0 = 0")
      .attr("Nfeature_list_sparse: int >= 0 = 0")
      .attr("Nfeature_list_dense: int >= 0 = 0")
      .attr("context_sparse_types: list({float, int64, string}) >= 0 = []")
      .attr("Tcontext_dense: list({float, int64, string}) >= 0 = []")
      .attr("feature_list_dense_types: list({float, int64, string}) >= 0 = []")
      .attr("context_dense_shapes: list(shape) >= 0 = []")
      .attr("feature_list_sparse_types: list({float, int64, string}) >= 0 = []")
      .attr("feature_list_dense_shapes: list(shape) >= 0 = []")
      .shape(sequence_shape)
      .cpu(run_parse_single_sequence);
}

}  // namespace weft_engine::ops
