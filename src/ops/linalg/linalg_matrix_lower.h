// Factorisations of stacks of matrices, [count, rows, columns], in terms of the IR: loops over columns whose turns are a few loops over all elements.
#pragma once

#include "ops/lower_util.h"

namespace weft_engine::ops {

// A tensor of matrices as a stack, in a type that is computed with (half: float), and back.
struct MatrixStack {
  Value x = nullptr;  // [count, rows, columns]; null after an error
  Dims outer;
  Dim rows, columns;
};
MatrixStack matrix_stack(LowerContext& l, Value x);
MatrixStack square_stack(LowerContext& l, Value x, const char* error = "Input matrix must be square.");
// y [count, ...] with the outer dimensions in place of the first, in the type of output i.
Value unstacked(LowerContext& l, const MatrixStack& s, Value y, int output = 0);

Value column_of(ir::Builder& b, Value x, Value j);  // x[:, :, j:j+1]
Value row_of(ir::Builder& b, Value x, Value i);  // x[:, i:i+1, :]
Value at_index(ir::Builder& b, const Dims& dims, int axis, ir::Compare c, Value i);  // bools: where the index along the axis compares so with i
Value adjoint_of(ir::Builder& b, Value x);
Value eye(ir::Builder& b, DType t, const Dim& count, const Dim& n);
Value diagonal_of(ir::Builder& b, Value x);  // [count, n]
// The absolute value, as a real number; zero's type is kept.
Value magnitude(ir::Builder& b, Value x);
Value squared_magnitude(ir::Builder& b, Value x);

struct LuFactors {
  Value lu, order, sign;  // [count, n, n], [count, n] int64, [count] of the matrices' type
};
LuFactors lu_of(ir::Builder& b, Value a, const Dim& n);
// Solves a x = rhs for a triangular a.
Value triangular_solution(ir::Builder& b, Value a, Value rhs, const Dim& n, bool lower, bool unit_diagonal);
Value lu_solution(ir::Builder& b, const LuFactors& f, Value rhs, const Dim& n);
Value cholesky_of(ir::Builder& b, Value a, const Dim& n);

struct QrFactors {
  Value q, r;  // [count, m, m], [count, m, n]
};
QrFactors qr_of(ir::Builder& b, Value a, const Dim& m, const Dim& n, const Dim& steps);

// Jacobi's methods. Sizes are numbers.
struct Eigen {
  Value values, vectors;  // ascending; [count, n], [count, n, n]
};
Eigen symmetric_eigen(ir::Builder& b, Value a, const Dim& count, int64_t n);
// Rotations v that make the columns of a v orthogonal, and a v.
struct Orthogonal {
  Value av, v;
};
Orthogonal orthogonal_columns(ir::Builder& b, Value a, const Dim& count, int64_t n);

}  // namespace weft_engine::ops
