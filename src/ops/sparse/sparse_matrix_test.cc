// Ops whose values travel in variants, which stored cases cannot hold. Expected numbers are TensorFlow 2.21's.
#include <doctest/doctest.h>

#include "eager/op.h"
#include "engine/engine.h"

using namespace weft_engine;        // NOLINT
using namespace weft_engine::core;  // NOLINT

namespace {

using Tensors = std::vector<Tensor>;

struct Runner {
  eager::Context context{engine::Engine::get().registry(), {}};
  std::string error;

  // The outputs; none, and the error's text, if the op fails.
  Tensors operator()(std::string name, Tensors inputs, op::AttrMap attrs = {}) {
    error.clear();
    eager::Op op(context);
    Status s = op.reset(name);
    for (const auto& [k, v] : attrs) {
      if (s.ok()) s = op.set_attr(k, v);
    }
    for (Tensor& t : inputs) op.add_input(eager::TensorHandle::make(t, nullptr));
    std::vector<RefPtr<eager::TensorHandle>> handles;
    if (s.ok()) s = op.execute(handles);
    if (!s.ok()) error = s.message();
    Tensors out;
    for (auto& h : handles) out.push_back(h->tensor());
    return out;
  }
};

template <class T>
Tensor make(const Shape& shape, std::vector<T> values) {
  return Tensor::of<T>(shape, std::span<const T>(values));
}
template <class T>
std::vector<T> list(const Tensor& t) {
  return {t.span<T>().begin(), t.span<T>().end()};
}

const op::AttrMap kFloat = {{"type", op::AttrValue(DType::kFloat)}};
op::AttrMap with(op::AttrMap a, const char* flag) {
  a[flag] = op::AttrValue(true);
  return a;
}

using Floats = std::vector<float>;
using Ints = std::vector<int32_t>;
using Longs = std::vector<int64_t>;

}  // namespace

TEST_CASE("CSR matrices: conversions, products, transposes") {
  Runner run;
  const Tensor ix = make<int64_t>({3, 2}, {0, 0, 1, 0, 1, 1});
  const Tensor m = run("SparseTensorToCSRSparseMatrix", {ix, make<float>({3}, {1, 2, 3}), make<int64_t>({2}, {2, 3})}).at(0);
  CHECK(list<float>(run("CSRSparseMatrixToDense", {m}, kFloat).at(0)) == Floats{1, 0, 0, 2, 3, 0});
  const Tensors parts = run("CSRSparseMatrixComponents", {m, Tensor::scalar(int32_t(0))}, kFloat);
  CHECK(list<int32_t>(parts.at(0)) == Ints{0, 1, 3});
  CHECK(list<int32_t>(parts.at(1)) == Ints{0, 0, 1});
  CHECK(list<float>(run("SparseMatrixMatMul", {m, make<float>({3, 2}, Floats(6, 1))}).at(0)) == Floats{1, 1, 5, 5});
  CHECK(list<float>(run("SparseMatrixMatMul", {m, make<float>({3, 2}, Floats(6, 1))}, with({}, "transpose_output")).at(0)) == Floats{1, 5, 1, 5});
  CHECK(list<float>(run("SparseMatrixMatMul", {m, make<float>({2, 2}, Floats(4, 1))}, with({}, "transpose_a")).at(0)) == Floats{3, 3, 3, 3, 0, 0});
  CHECK(list<float>(run("CSRSparseMatrixToDense", run("SparseMatrixTranspose", {m}, kFloat), kFloat).at(0)) == Floats{1, 2, 0, 3, 0, 0});
  CHECK(list<float>(run("CSRSparseMatrixToDense", run("SparseMatrixSparseMatMul", {m, m}, with(kFloat, "transpose_b")), kFloat).at(0)) ==
        Floats{1, 2, 2, 13});
  CHECK(list<float>(run("CSRSparseMatrixToDense", run("SparseMatrixSparseMatMul", {m, m}, with(kFloat, "transpose_a")), kFloat).at(0)) ==
        Floats{5, 6, 0, 6, 9, 0, 0, 0, 0});
  run("SparseMatrixSparseMatMul", {m, m}, kFloat);
  CHECK(run.error.starts_with("Inner product dimensions of A and B do not agree.  Shapes are: [2,3] vs. [2,3]"));
  run("CSRSparseMatrixToDense", {m}, {{"type", op::AttrValue(DType::kDouble)}});
  CHECK(run.error.starts_with("Asked for a CSRSparseMatrix of type double but saw dtype: float"));
}

TEST_CASE("CSR matrices: batches") {
  Runner run;
  const Tensor ix = make<int64_t>({2, 3}, {0, 0, 0, 1, 1, 2});
  const Tensor m = run("SparseTensorToCSRSparseMatrix", {ix, make<float>({2}, {1, 2}), make<int64_t>({3}, {2, 2, 3})}).at(0);
  CHECK(list<int32_t>(run("SparseMatrixNNZ", {m}).at(0)) == Ints{1, 1});
  CHECK(list<int32_t>(run("CSRSparseMatrixComponents", {m, Tensor::scalar(int32_t(1))}, kFloat).at(0)) == Ints{0, 0, 1});
  CHECK(list<float>(run("SparseMatrixMatMul", {m, make<float>({2, 3, 2}, Floats(12, 1))}).at(0)) == Floats{1, 1, 0, 0, 0, 0, 2, 2});
  CHECK(list<int64_t>(run("CSRSparseMatrixToSparseTensor", {m}, kFloat).at(0)) == Longs{0, 0, 0, 1, 1, 2});
}

TEST_CASE("sparse Cholesky factors follow the permutation") {
  Runner run;
  const Tensor dense = make<float>({3, 3}, {4, 1, 0, 1, 5, 2, 0, 2, 6});
  const Tensor ix = make<int64_t>({7, 2}, {0, 0, 0, 1, 1, 0, 1, 1, 1, 2, 2, 1, 2, 2});
  const Tensor m = run("DenseToCSRSparseMatrix", {dense, ix}).at(0);
  CHECK(list<int32_t>(run("SparseMatrixOrderingAMD", {m}).at(0)) == Ints{0, 1, 2});
  const Tensor factor = run("SparseMatrixSparseCholesky", {m, make<int32_t>({3}, {2, 0, 1})}, kFloat).at(0);
  const Tensors parts = run("CSRSparseMatrixComponents", {factor, Tensor::scalar(int32_t(0))}, kFloat);
  CHECK(list<int32_t>(parts.at(0)) == Ints{0, 1, 2, 5});
  CHECK(list<int32_t>(parts.at(1)) == Ints{0, 1, 0, 1, 2});
  const Floats want = {2.4494898f, 2.0f, 0.81649655f, 0.5f, 2.0207260f};
  for (size_t i = 0; i < want.size(); ++i) CHECK(parts.at(2).data<float>()[i] == doctest::Approx(want[i]).epsilon(1e-6));
  run("SparseMatrixSparseCholesky", {m, make<int32_t>({3}, {0, 1, 5})}, kFloat);
  CHECK(run.error.starts_with("Sparse Cholesky factorization failed for batch index 0. The input might not be valid."));
}

TEST_CASE("ragged tensors go through variants and back") {
  Runner run;
  const Tensor values = make<int32_t>({3}, {1, 2, 3}), outer = make<int64_t>({3}, {0, 1, 2}), inner = make<int64_t>({3}, {0, 2, 3});
  const auto attrs = [](int64_t in, int64_t out) {
    return op::AttrMap{
        {"input_ragged_rank", op::AttrValue(in)}, {"output_ragged_rank", op::AttrValue(out)}, {"Tvalues", op::AttrValue(DType::kInt32)}};
  };
  const op::AttrMap batched = {{"batched_input", op::AttrValue(true)}};
  const Tensors rows = run("RaggedTensorToVariant", {outer, inner, values}, batched);
  REQUIRE(rows.size() == 1);
  const Tensors back = run("RaggedTensorFromVariant", rows, attrs(1, 2));
  REQUIRE(back.size() == 3);
  CHECK(list<int64_t>(back[0]) == Longs{0, 1, 2});
  CHECK(list<int64_t>(back[1]) == Longs{0, 2, 3});
  CHECK(list<int32_t>(back[2]) == Ints{1, 2, 3});
  run("RaggedTensorFromVariant", rows, attrs(0, 1));
  CHECK(run.error.starts_with("Encoded input RaggedTensorVariant has ragged_rank=1.  Expected ragged_rank=0."));
  run("RaggedTensorToVariant", {make<int64_t>({3}, {0, 2, 5}), values}, batched);
  CHECK(run.error.starts_with("Invalid ragged splits: last element of ragged splits must be the number of ragged values(3) but is 5"));
}
