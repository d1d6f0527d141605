#include "ops/sparse/fill_empty_rows.h"

#include <algorithm>
#include <cstring>

#include "kernels/cpu/sparse_index.h"
#include "op/dispatch.h"

namespace weft_engine::ops {

using namespace weft_engine::op;  // NOLINT: an ops file is written in the vocabulary of op/

namespace {

// Where each row of the output begins; `full`: no row was empty and the rows came in order.
struct RowPlan {
  Tensor start;  // [rows], int64
  int64_t total = 0;
  bool full = true;
};

Result<RowPlan> plan_rows(KernelContext& c, const int64_t* ix, int64_t n, int64_t columns, int64_t rows, bool* empty) {
  RowPlan plan;
  WEFT_ASSIGN(plan.start, c.temp(DType::kInt64, Shape({rows})));
  int64_t* start = plan.start.data<int64_t>();
  std::fill_n(start, rows, 0);
  int64_t last = 0;
  for (int64_t i = 0; i < n; ++i) {
    const int64_t row = ix[i * columns];
    if (row < 0 || row >= rows) return invalid_argument("indices(", i, ", 0) is invalid: ", row, " >= ", rows);
    ++start[row];
    plan.full &= row >= last;
    last = row;
  }
  for (int64_t row = 0; row < rows; ++row) {
    const int64_t count = start[row];
    empty[row] = count == 0;
    plan.full &= count != 0;
    start[row] = plan.total;
    plan.total += std::max<int64_t>(count, 1);
  }
  return plan;
}

}  // namespace

Status fill_empty_rows(KernelContext& c, int64_t rows, bool ragged) {
  const Tensor &indices = c.input(0), &values = c.input(1), &fallback = c.input(3);
  const int64_t n = indices.dim(0), columns = ragged ? 1 : indices.dim(1);
  WEFT_ASSIGN(Tensor* empty, c.allocate(2, Shape({rows})));
  WEFT_ASSIGN(Tensor* map, c.allocate(3, Shape({n})));
  if (rows == 0) {
    if (n != 0) return invalid_argument("Received SparseTensor with dense_shape[0] = 0 but indices.shape[0] = ", n);
    // TensorFlow's kernel gives [0, 1] for ragged row ids here, against its own shape rule, which we follow.
    WEFT_RETURN_IF_ERROR(c.allocate(0, ragged ? Shape({0}) : Shape({0, columns})).status());
    return c.allocate(1, Shape({0})).status();
  }
  if (columns == 0) return invalid_argument("indices must have at least one column, saw: ", indices.shape());
  const int64_t* ix = indices.data<int64_t>();
  WEFT_ASSIGN(RowPlan plan, plan_rows(c, ix, n, columns, rows, empty->data<bool>()));
  int64_t* where = map->data<int64_t>();
  if (plan.full) {
    for (int64_t i = 0; i < n; ++i) where[i] = i;
    c.set_output(0, indices);
    c.set_output(1, values);
    return {};
  }
  WEFT_ASSIGN(Tensor* out, c.allocate(0, ragged ? Shape({plan.total}) : Shape({plan.total, columns})));
  WEFT_ASSIGN(Tensor* out_values, c.allocate(1, Shape({plan.total})));
  int64_t *out_ix = out->data<int64_t>(), *start = plan.start.data<int64_t>();
  return dispatch_movable(values.dtype(), [&]<class T>(Tag<T>) {
    const T* in = values.data<T>();
    T* to = out_values->data<T>();
    for (int64_t row = 0; row < rows; ++row) {
      if (!empty->data<bool>()[row]) continue;
      std::fill_n(out_ix + start[row] * columns, columns, 0);
      out_ix[start[row] * columns] = row;
      to[start[row]] = fallback.data<T>()[0];
    }
    for (int64_t i = 0; i < n; ++i) {
      const int64_t at = start[ix[i * columns]]++;
      std::copy_n(ix + i * columns, columns, out_ix + at * columns);
      to[at] = in[i];
      where[i] = at;
    }
    return Status();
  });
}

Status fill_empty_rows_grad(KernelContext& c) {
  const Tensor &map = c.input(0), &grad = c.input(1);
  if (map.rank() != 1) return invalid_argument("reverse_index_map must be a vector, saw: ", map.shape());
  if (grad.rank() != 1) return invalid_argument("grad_values must be a vector, saw: ", grad.shape());
  const int64_t n = map.dim(0), total = grad.dim(0);
  WEFT_ASSIGN(Tensor* d_values, c.allocate(0, Shape({n})));
  WEFT_ASSIGN(Tensor* d_default, c.allocate(1, Shape()));
  WEFT_ASSIGN(Tensor visited, Tensor::zeros(DType::kBool, Shape({total})));
  const int64_t* from = map.data<int64_t>();
  for (int64_t i = 0; i < n; ++i) {
    if (from[i] < 0 || from[i] >= total) return invalid_argument("Elements in reverse index must be in [0, ", total, ") but got ", from[i]);
    visited.data<bool>()[from[i]] = true;
  }
  return dispatch<WEFT_NUMBERS>(grad.dtype(), [&]<class T>(Tag<T>) {
    const T* in = grad.data<T>();
    for (int64_t i = 0; i < n; ++i) d_values->data<T>()[i] = in[from[i]];
    T sum{};
    for (int64_t i = 0; i < total; ++i) {
      if (!visited.data<bool>()[i]) sum = kernels::wrap_add(sum, in[i]);
    }
    d_default->data<T>()[0] = sum;
    return Status();
  });
}

}  // namespace weft_engine::ops
