#include "ops/io/example_parser.h"

#include <algorithm>

#include "op/kernel.h"

namespace weft_engine::ops {

using namespace weft_engine::core;  // NOLINT
using wire::Feature;

int64_t WantedFeature::stride() const {
  int64_t n = 1;
  for (int d = variable() ? 1 : 0; d < shape.rank(); ++d) n = multiply_without_overflow(n, shape.dim(d));
  return n;
}

void ExampleParser::want(std::string_view key, WantedFeature w) {
  by_key[key].push_back(wanted.size());
  w.column.key = key;
  wanted.push_back(std::move(w));
}

std::string ExampleParser::at(size_t i, std::string_view key) const {
  return batched ? cat("Name: ", name(i), ", Key: ", key, ", Index: ", i, ".  ") : cat("Key: ", key, ".  ");
}

Status ExampleParser::take(size_t i, const Feature& feature, WantedFeature& w) {
  FeatureValues& values = w.column.values;
  if (feature.kind == wire::FeatureKind::kUnsupported) return invalid_argument("Unsupported datatype.");
  if (feature.dtype() != values.dtype()) {
    const std::string got = dtype_name(feature.dtype()), expected = dtype_name(values.dtype());
    if (w.kind == WantedFeature::kDense)
      return invalid_argument(at(i, w.column.key), "Data types don't match. Data type: ", got, " but expected type: ", expected);
    return invalid_argument(at(i, w.column.key), "Data types don't match. Expected type: ", expected, ", Actual type: ", got);
  }
  const int64_t before = values.size();
  if (!values.append(feature)) return invalid_argument(at(i, w.column.key), "Can't parse serialized Example.");
  const int64_t n = values.size() - before;
  if (w.kind == WantedFeature::kDense && !w.variable() && n != w.stride())
    return invalid_argument(at(i, w.column.key), "Number of ", dtype_name(values.dtype()), " values != expected.  Values size: ", n,
                            " but output shape: ", w.shape);
  if (w.kind == WantedFeature::kDense && w.variable() && n % w.stride() != 0)
    return invalid_argument(at(i, w.column.key), "Number of ", dtype_name(values.dtype()), " values is not a multiple of stride length. Saw ", n,
                            " values but output shape is: ", w.shape);
  w.column.present.back() = true;
  return {};
}

const std::vector<size_t>* ExampleParser::consumers_of(size_t k, std::string_view key) {
  if (k >= last_.size()) last_.resize(k + 1, {{}, nullptr});
  auto& [before, ids] = last_[k];
  if (key == before && !key.empty()) return ids;
  const auto found = by_key.find(key);
  before = key;
  ids = found == by_key.end() ? nullptr : &found->second;
  return ids;
}

Status ExampleParser::read(size_t i) {
  wire::FeatureMap& features = features_;
  features.clear();
  if (!wire::read_example(serialized[i], features)) return invalid_argument("Could not parse example input, value: '", serialized[i], "'");
  for (WantedFeature& w : wanted) w.column.present.push_back(false);
  // Backwards: of features with one name, the last counts.
  for (size_t k = features.size(); k-- > 0;) {
    const auto* const ids = consumers_of(k, features[k].first);
    if (!ids || !features[k].second.present()) continue;
    for (size_t id : *ids)
      if (!wanted[id].column.present.back()) WEFT_RETURN_IF_ERROR(take(i, features[k].second, wanted[id]));
  }
  for (WantedFeature& w : wanted) {
    w.column.ends.push_back(w.column.values.size());
    if (w.kind == WantedFeature::kDense && !w.variable() && !w.column.present.back() && w.fallback->num_elements() == 0)
      return invalid_argument(batched ? cat("Name: ", name(i), ", ") : std::string(), "Feature: ", w.column.key,
                              " (data type: ", dtype_name(w.column.values.dtype()), ") is required but could not be found.");
  }
  return {};
}

Result<Tensor> ExampleParser::dense(const WantedFeature& w) const {
  const auto batch = int64_t(serialized.size());
  Shape shape;
  if (batched) shape.add_dim(batch);
  int64_t steps = 1;
  if (w.variable()) {
    steps = w.column.longest() / w.stride();
    shape.add_dim(steps);
  }
  for (int d = w.variable() ? 1 : 0; d < w.shape.rank(); ++d) shape.add_dim(w.shape.dim(d));
  WEFT_ASSIGN(Tensor out, Tensor::allocate(w.column.values.dtype(), shape));
  const int64_t row = steps * w.stride();
  if (w.column.values.size() == batch * row) {  // every example has all of it
    w.column.values.copy_to(0, batch * row, out, 0);
    return out;
  }
  for (int64_t i = 0; i < batch; ++i) {
    const int64_t n = w.column.count(i);
    w.column.values.copy_to(w.column.begin(i), n, out, i * row);
    if (w.variable()) {
      for (int64_t k = n; k < row; ++k) copy_elements(*w.fallback, 0, out, i * row + k, 1);
    } else if (!w.column.present[size_t(i)]) {
      copy_elements(*w.fallback, 0, out, i * row, row);
    }
  }
  return out;
}

Status ExampleParser::parse() {
  for (WantedFeature& w : wanted) {
    w.column.ends.reserve(serialized.size());
    w.column.present.reserve(serialized.size());
  }
  for (size_t i = 0; i < serialized.size(); ++i) WEFT_RETURN_IF_ERROR(read(i));
  return {};
}

namespace {

Status check_default(const WantedFeature& w) {
  const Tensor& d = *w.fallback;
  if (!w.shape.has_rank() || std::any_of(w.shape.dims().begin() + (w.variable() ? 1 : 0), w.shape.dims().end(), [](int64_t x) { return x < 0; }))
    return invalid_argument("dense_shapes[", w.index, "] has unknown rank or unknown inner dimensions: ", w.shape);
  if (w.variable()) {
    if (d.num_elements() != 1)
      return invalid_argument("dense_shape[", w.index, "] is a variable length shape: ", w.shape, ", therefore def_value[", w.index,
                              "] must contain a single element (the padding element).  But its shape is: ", d.shape());
    if (w.stride() <= 0) return invalid_argument("dense_shapes[", w.index, "] has steps without elements: ", w.shape);
  } else if (d.num_elements() > 0 && !w.shape.compatible_with(d.shape())) {
    return invalid_argument("def_value[", w.index, "].shape() == ", d.shape(), " is not compatible with dense_shapes_[", w.index, "] == ", w.shape);
  }
  if (!w.variable() && w.stride() < 0) return invalid_argument("dense_shapes[", w.index, "] is too large: ", w.shape);
  return {};
}

}  // namespace

Status ExampleParser::want_dense(std::string_view key, size_t k, const std::vector<PartialShape>& shapes, const Tensor& fallback) {
  if (k >= shapes.size()) return invalid_argument("len(dense_keys) != len(dense_shapes)");
  WantedFeature w{.kind = WantedFeature::kDense, .index = k, .column = Column(fallback.dtype()), .shape = shapes[k], .fallback = &fallback};
  WEFT_RETURN_IF_ERROR(check_default(w));
  want(key, std::move(w));
  return {};
}

}  // namespace weft_engine::ops
