// Products of matrices: one large product where one side is the same for all rows.
#include "op/batching.h"
#include "op/emit.h"
#include "op/registry.h"
#include "ops/batch_families.h"

namespace weft_engine::ops {

using namespace weft_engine::op;  // NOLINT: an ops file is written in the vocabulary of op/

namespace {

Batched matmul_rows(BatchContext& c) {
  const bool ta = c.flag("transpose_a"), tb = c.flag("transpose_b");
  const PartialShape a = c.shape(0), b = c.shape(1);
  if (!a.fully_known() || !b.fully_known() || c.rows() < 0) {
    if (c.rank(0) != 2 || c.rank(1) != 2) return c.refused();
  } else {
    const int64_t m = ta ? a.dim(1) : a.dim(0), k = ta ? a.dim(0) : a.dim(1), n = tb ? b.dim(0) : b.dim(1);
    if (!c.has_rows(1) && (!ta || m == 1)) {  // one large product
      Value product = op::matmul(op::reshape(c.inner(0), c.list({c.rows() * m, k})), c.inner(1), false, tb);
      return c.one(op::reshape(product, c.list({c.rows(), m, n})));
    }
    if (!c.has_rows(0) && n == 1) {  // columns: the same, the other way round
      Value product = op::matmul(op::reshape(c.inner(1), c.list({c.rows(), k})), c.inner(0), false, !ta);
      return c.one(op::reshape(product, c.list({c.rows(), m, 1})));
    }
  }
  // A transposed side of complex numbers is not conjugated here.
  const DType t = c.inputs[0].dtype();
  const bool complex = t == DType::kComplex64 || t == DType::kComplex128;
  auto side = [&](size_t i, bool transposed) {
    return complex && transposed ? op::transpose(c.inner(i), c.has_rows(i) ? c.list({0, 2, 1}) : c.list({1, 0})) : c.inner(i);
  };
  return c.one(op::batch_matmul(side(0, ta), side(1, tb), ta && !complex, tb && !complex));
}

Batched batch_matmul_rows(BatchContext& c) {
  if (c.rank(0) < 2 || c.rank(1) < 2) return c.refused();
  const PartialShape a = c.shape(0), b = c.shape(1);
  if (!c.has_rows(1) && c.rank(1) == 2 && !c.flag("adj_x") && a.fully_known() && b.fully_known() && c.rows() >= 0) {
    int64_t m = c.rows();
    std::vector<int64_t> out{c.rows()};
    for (int i = 0; i + 1 < a.rank(); ++i) m *= a.dim(i), out.push_back(a.dim(i));
    out.push_back(b.dim(c.flag("adj_y") ? 0 : 1));
    Value product = op::batch_matmul(op::reshape(c.inner(0), c.list({m, a.dim(a.rank() - 1)})), c.inner(1), false, c.flag("adj_y"));
    return c.one(op::reshape(product, c.list(out)));
  }
  const int most = std::max(c.rank(0), c.rank(1));
  WEFT_ASSIGN(Value x, c.aligned(0, most));
  WEFT_ASSIGN(Value y, c.aligned(1, most));
  return c.one(op::batch_matmul(x, y, c.flag("adj_x"), c.flag("adj_y")));
}

}  // namespace

void batch_matmul(Registry& r) {
  r.batch("MatMul", matmul_rows);
  for (const char* op : {"BatchMatMul", "BatchMatMulV2"}) r.batch(op, batch_matmul_rows);
}

}  // namespace weft_engine::ops
