// Sparse tensors: checks, order, groups, parts, dense forms. Prints what it prints with TensorFlow.
#include <cstdio>
#include <string>
#include <utility>
#include <vector>

#include "tensorflow/core/framework/tensor.h"
#include "tensorflow/core/framework/tensor_shape.h"
#include "tensorflow/core/util/sparse/sparse_tensor.h"

using namespace tensorflow;  // NOLINT
using sparse::SparseTensor;

template <class S>
void Print(const char* what, const S& s) {
  std::printf("%s: %d %s\n", what, static_cast<int>(s.code()), std::string(s.message()).c_str());
}

using Rows = std::vector<std::vector<int64_t>>;
Tensor Indices(const Rows& rows) {
  Tensor t(DT_INT64, TensorShape({static_cast<int64_t>(rows.size()), static_cast<int64_t>(rows[0].size())}));
  for (size_t i = 0; i < rows.size(); ++i) {
    for (size_t d = 0; d < rows[i].size(); ++d) t.matrix<int64_t>()(i, d) = rows[i][d];
  }
  return t;
}
Tensor Values(const std::vector<float>& values) {
  Tensor t(DT_FLOAT, TensorShape({static_cast<int64_t>(values.size())}));
  for (size_t i = 0; i < values.size(); ++i) t.vec<float>()(i) = values[i];
  return t;
}
SparseTensor Made(const Rows& rows, const std::vector<float>& values, const std::vector<int64_t>& shape, const std::vector<int64_t>& order) {
  SparseTensor t;
  TF_CHECK_OK(SparseTensor::Create(Indices(rows), Values(values), shape, order, &t));
  return t;
}
void Show(const char* what, const SparseTensor& t) {
  std::printf("%s:", what);
  for (size_t n = 0; n < t.num_entries(); ++n) {
    std::printf(" (");
    for (int d = 0; d < t.dims(); ++d) std::printf(d ? ",%d" : "%d", static_cast<int>(t.indices().matrix<int64_t>()(n, d)));
    std::printf(")=%g", t.values().vec<float>()(n));
  }
  std::printf(" in");
  for (int64_t d : t.shape()) std::printf(" %d", static_cast<int>(d));
  std::printf(" by");
  for (int64_t d : t.order()) std::printf(" %d", static_cast<int>(d));
  std::printf("\n");
}

int main() {
  SparseTensor t;
  const Rows rows = {{0, 2}, {1, 0}, {1, 3}, {2, 1}};
  const std::vector<float> values = {1, 2, 3, 4};
  const std::vector<int64_t> shape = {3, 4}, order = {0, 1}, other_order = {1, 0};
  Print("vector of indices", SparseTensor::Create(Tensor(DT_INT64, TensorShape({4})), Values(values), shape, order, &t));
  Print("int32", SparseTensor::Create(Tensor(DT_INT32, TensorShape({4, 2})), Values(values), shape, order, &t));
  Print("matrix of values", SparseTensor::Create(Indices(rows), Tensor(DT_FLOAT, TensorShape({4, 1})), shape, order, &t));
  Print("too few values", SparseTensor::Create(Indices(rows), Values({1}), shape, order, &t));
  Print("another rank", SparseTensor::Create(Indices(rows), Values(values), std::vector<int64_t>({3, 4, 5}), std::vector<int64_t>({0, 1, 2}), &t));
  Print("short order", SparseTensor::Create(Indices(rows), Values(values), shape, std::vector<int64_t>({0}), &t));
  Print("without order", SparseTensor::Create(Indices(rows), Values(values), TensorShape({3, 4}), &t));
  Print("valid", t.IndicesValid());
  t = Made(rows, values, shape, order);
  Show("sparse", t);
  std::printf("%d entries of %d dimensions, %s, %d\n", static_cast<int>(t.num_entries()), t.dims(), DataTypeString(t.dtype()).c_str(),
              static_cast<int>(t.PickDims({1})[0]));
  Print("valid", t.IndicesValid());
  Print("outside", Made({{0, 2}, {1, 4}}, {1, 2}, shape, order).IndicesValid());
  Print("negative", Made({{0, -2}, {1, 0}}, {1, 2}, shape, order).IndicesValid());
  Print("unsorted", Made({{1, 2}, {1, 0}}, {1, 2}, shape, order).IndicesValid());
  Print("repeated", Made({{1, 2}, {1, 2}}, {1, 2}, shape, order).IndicesValid());
  Print("by columns", Made({{2, 0}, {0, 1}}, {1, 2}, shape, other_order).IndicesValid());
  t.Reorder<float>(other_order);
  Show("reordered", t);
  for (const auto& g : t.group({1})) {
    std::printf("column %d:", static_cast<int>(g.group()[0]));
    const auto v = g.values<float>();
    const auto ix = g.indices();
    for (int i = 0; i < v.size(); ++i) std::printf(" %g at %d", v(i), static_cast<int>(ix(i, 0)));
    std::printf("\n");
  }
  Tensor dense(DT_FLOAT, TensorShape({3, 4})), small(DT_FLOAT, TensorShape({2, 4}));
  const bool fits = t.ToDense<float>(&dense), fits_not = t.ToDense<float>(&small);
  std::printf("%d %d %s\n", fits, fits_not, dense.SummarizeValue(12).c_str());
  t.Reorder<float>(order);
  const SparseTensor more = Made({{0, 0}, {1, 3}}, {5, 6}, std::vector<int64_t>({2, 4}), order);
  Show("both", SparseTensor::Concat<float>({t, more}));
  std::vector<SparseTensor> parts;
  Print("split", SparseTensor::Split<float>(t, 1, 3, &parts));
  for (const SparseTensor& part : parts) Show("part", part);
  const auto slice = SparseTensor::Slice<float>(t, std::vector<int64_t>({1, 1}), std::vector<int64_t>({5, 3}));
  Show("slice", slice.value());
}
