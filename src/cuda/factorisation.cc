#include "cuda/factorisation.h"

#include <climits>
#include <map>
#include <mutex>

#include "core/log.h"
#include "cuda/cusolver.h"
#include "cuda/ir_kernel.h"

namespace weft_engine::cuda {
namespace {

using namespace weft_engine::core;  // NOLINT: tensors, shapes and statuses throughout
using ir::Builder;
using ir::Value;
using Kind = op::LibraryCall::Kind;
using Values = std::vector<Value>;

constexpr int64_t kMostEach = 16;  // matrices for each of their rows: of more small ones the generated kernels do all at once
constexpr int64_t kMostInDouble = 128;  // rows of systems of floats that are solved in double: what elimination loses is not seen

// What a GPU has of a library, for as long as the process lives.
struct Handle {
  void* handle = nullptr;
  std::mutex mutex;  // one stream, one call at a time
};
template <class Library>
Status start(const Library& library, const char* name, Gpu& gpu, Handle& to) {
  WEFT_RETURN_IF_ERROR(gpu.use());
  if (const int error = library.create(&to.handle)) return internal_error(name, " could not be started: error ", error);
  if (const int error = library.set_stream(to.handle, gpu.stream())) return internal_error(name, " did not take a stream: error ", error);
  return {};
}
// A library that did not start once is not tried again.
template <class Library>
Result<Handle*> handle_of(const Library& library, const char* name, Gpu& gpu) {
  static std::mutex mutex;
  static auto* all = new std::map<Gpu*, Result<std::unique_ptr<Handle>>>();
  const std::lock_guard lock(mutex);
  auto found = all->find(&gpu);
  if (found == all->end()) {
    auto made = std::make_unique<Handle>();
    Status started = start(library, name, gpu, *made);
    found = all->emplace(&gpu, started.ok() ? Result<std::unique_ptr<Handle>>(std::move(made)) : Result<std::unique_ptr<Handle>>(std::move(started)))
                .first;
  }
  if (!found->second.ok()) return found->second.status();
  return found->second->get();
}

bool not_there(const Status& why) {
  static std::once_flag once;
  std::call_once(once, [&] { log(LogLevel::kWarning, cat("factorisations on GPUs are slower than they could be: ", why.message())); });
  return false;
}

// Memory for one call, given back in order with what is queued.
class Scratch {
 public:
  explicit Scratch(Gpu& gpu) : gpu_(gpu) {}
  ~Scratch() {
    for (DevicePtr p : taken_) gpu_.free(p);
  }
  Result<DevicePtr> take(int64_t elements, DType dtype) {
    WEFT_ASSIGN(const DevicePtr at, gpu_.allocate(size_t(std::max<int64_t>(elements, 1)) * dtype_size(dtype)));
    taken_.push_back(at);
    return at;
  }

 private:
  Gpu& gpu_;
  std::vector<DevicePtr> taken_;
};

// [batch, rows, columns] of a tensor.
struct Stack {
  int64_t batch = 1, rows = 0, columns = 0;
  Shape outer;
  bool read(const Tensor& t) {
    if (t.rank() < 2) return false;
    rows = t.dim(t.rank() - 2);
    columns = t.dim(t.rank() - 1);
    outer = t.shape().slice(0, t.rank() - 2);
    batch = outer.num_elements();
    return rows >= 1 && columns >= 1 && batch >= 1 && rows * columns < INT_MAX && batch <= kMostEach * std::max(rows, columns);
  }
  Shape with(std::initializer_list<int64_t> inner) const {
    std::vector<int64_t> dims;
    for (int d = 0; d < outer.rank(); ++d) dims.push_back(outer.dim(d));
    dims.insert(dims.end(), inner);
    return Shape(dims);
  }
};

Value index(Builder& b, Value x, int axis) { return b.iota(DType::kInt32, x->type.dims, axis); }
Value on_diagonal(Builder& b, Value x) { return b.compare(ir::Compare::kEq, index(b, x, 1), index(b, x, 2)); }
Value swapped(Builder& b, Value x) { return b.transpose(x, {0, 2, 1}); }
void check_all(Builder& b, Value good, const std::string& message) {
  std::vector<int> axes;
  for (int d = 0; d < good->rank(); ++d) axes.push_back(d);
  b.check(b.reduce(ir::Reduce::kAnd, good, axes), message);
}
void check_info(Builder& b, Value info, const std::string& message) {
  check_all(b, b.compare(ir::Compare::kEq, info, b.scalar_int(DType::kInt32, 0)), message);
}

// One call: the functions of its type, the matrices, memory.
class Solver {
 public:
  Solver(CudaDevice& device, op::KernelContext& c, const Cusolver& library, Handle& handle)
      : c_(c), gpu_(device.gpu()), library_(library), handle_(handle.handle), scratch_(device.gpu()) {}

  Result<bool> run(Kind kind) {
    if (!x_.read(c_.input(0))) return false;
    type_ = c_.input(0).dtype();
    const bool square = kind != Kind::kQr && kind != Kind::kSvd;
    if ((type_ != DType::kFloat && type_ != DType::kDouble) || (square && x_.rows != x_.columns)) return false;
    WEFT_ASSIGN(info_, scratch_.take(x_.batch, DType::kInt32));
    WEFT_RETURN_IF_ERROR(gpu_.fill_zero(info_, size_t(x_.batch) * 4));  // of calls that say nothing
    switch (kind) {
      case Kind::kCholesky: return cholesky();
      case Kind::kSolve: return solve();
      case Kind::kInverse: return inverse();
      case Kind::kDeterminant: return determinant(false);
      case Kind::kLogDeterminant: return determinant(true);
      case Kind::kQr: return qr();
      case Kind::kSvd: return svd();
      case Kind::kEigen: return eigen();
      default: return false;
    }
  }

 private:
  const Cusolver::Functions& f() const { return compute_ == DType::kDouble ? library_.of_double : library_.of_float; }
  static Status status(int error, const char* what) { return error ? internal_error(what, " by cuSOLVER failed with error ", error) : Status(); }
  IrArgument input(int i, const Stack& s) const { return {c_.input(i).dtype(), {s.batch, s.rows, s.columns}, address(c_.input(i))}; }
  IrArgument matrices(DevicePtr at, int64_t rows, int64_t columns) const { return {compute_, {x_.batch, rows, columns}, at}; }
  IrArgument info(int like = 0) const { return {DType::kInt32, {x_.batch}, info_, like}; }
  DevicePtr one_info(int64_t i) const { return info_ + uint64_t(i) * 4; }
  DevicePtr part(DevicePtr at, int64_t i, int64_t elements) const { return at + uint64_t(i * elements) * dtype_size(compute_); }
  Status ir(const std::string& name, std::vector<IrArgument> arguments, std::vector<DevicePtr> results, const BuildIr& build) {
    return run_ir(gpu_, name, arguments, results, build);
  }
  // Input 0 in the type that is computed in, as it lies or with its rows one after the other as columns.
  Result<DevicePtr> brought(int i, const Stack& s, bool swap) {
    WEFT_ASSIGN(const DevicePtr at, scratch_.take(s.batch * s.rows * s.columns, compute_));
    const DType t = compute_;
    WEFT_RETURN_IF_ERROR(ir(cat("solver_in ", int(t), swap), {input(i, s)}, {at}, [t, swap](Builder& b, const Values& x) -> Values {
      const Value y = b.convert(x[0], t);
      return {swap ? swapped(b, y) : y};
    }));
    return at;
  }

  // Row by row, a lower triangle is an upper one column by column.
  Result<bool> cholesky() {
    compute_ = type_;
    const int n = int(x_.rows);
    WEFT_ASSIGN(Tensor* out, c_.allocate(0, c_.input(0).shape()));
    const DevicePtr a = address(*out);
    WEFT_RETURN_IF_ERROR(gpu_.copy(a, address(c_.input(0)), c_.input(0).byte_size()));
    int size = 0;
    WEFT_RETURN_IF_ERROR(status(f().cholesky_size(handle_, BlasTriangle::kUpper, n, a, n, &size), "a Cholesky factorisation"));
    WEFT_ASSIGN(const DevicePtr work, scratch_.take(size, compute_));
    for (int64_t i = 0; i < x_.batch; ++i)
      WEFT_RETURN_IF_ERROR(status(f().cholesky(handle_, BlasTriangle::kUpper, n, part(a, i, x_.rows * x_.rows), n, work, size, one_info(i)),
                                  "a Cholesky factorisation"));
    WEFT_RETURN_IF_ERROR(ir("cholesky_out", {matrices(a, n, n), info()}, {a}, [](Builder& b, const Values& x) -> Values {
      static constexpr char kFailed[] = "Cholesky decomposition was not successful. The input might not be valid.";
      const Value zero = b.scalar(x[0]->type.dtype, 0), rest = b.compare(ir::Compare::kNe, index(b, x[0], 1), index(b, x[0], 2));
      check_info(b, x[1], kFailed);
      check_all(b, b.binary(ir::Binary::kOr, rest, b.compare(ir::Compare::kGt, x[0], zero)), kFailed);
      return {b.select(b.compare(ir::Compare::kGe, index(b, x[0], 1), index(b, x[0], 2)), x[0], zero)};
    }));
    return true;
  }

  void choose_type() { compute_ = x_.rows <= kMostInDouble ? DType::kDouble : type_; }

  // The factors of the matrices at `a`, in place.
  Status factor(DevicePtr a, DevicePtr& pivots) {
    const int n = int(x_.rows);
    int size = 0;
    WEFT_RETURN_IF_ERROR(status(f().lu_size(handle_, n, n, a, n, &size), "an LU factorisation"));
    WEFT_ASSIGN(const DevicePtr work, scratch_.take(size, compute_));
    WEFT_ASSIGN(pivots, scratch_.take(x_.batch * n, DType::kInt32));
    for (int64_t i = 0; i < x_.batch; ++i)
      WEFT_RETURN_IF_ERROR(
          status(f().lu(handle_, n, n, part(a, i, x_.rows * x_.rows), n, work, pivots + uint64_t(i * n) * 4, one_info(i)), "an LU factorisation"));
    return {};
  }
  Status solve_each(DevicePtr a, DevicePtr pivots, DevicePtr rhs, int64_t columns, bool transposed) {
    const int n = int(x_.rows);
    WEFT_ASSIGN(const DevicePtr said, scratch_.take(1, DType::kInt32));  // of arguments alone; what the factorisation said stays
    for (int64_t i = 0; i < x_.batch; ++i)
      WEFT_RETURN_IF_ERROR(status(f().lu_solve(handle_, transposed ? BlasOperation::kTransposed : BlasOperation::kPlain, n, int(columns),
                                               part(a, i, x_.rows * x_.rows), n, pivots + uint64_t(i * n) * 4, part(rhs, i, n * columns), n, said),
                                  "solving a system"));
    return {};
  }

  // The library sees the transposed matrix: the solution with it transposed is the one with the matrix itself.
  Result<bool> solve() {
    Stack rhs;
    const Tensor& right = c_.input(1);
    if (memory_of(right) != memory_of(c_.input(0)) || !rhs.read(right) || right.dtype() != type_ || !(rhs.outer == x_.outer) || rhs.rows != x_.rows)
      return false;
    choose_type();
    WEFT_ASSIGN(const DevicePtr a, brought(0, x_, false));
    WEFT_ASSIGN(const DevicePtr y, brought(1, rhs, true));
    DevicePtr pivots = 0;
    WEFT_RETURN_IF_ERROR(factor(a, pivots));
    WEFT_RETURN_IF_ERROR(solve_each(a, pivots, y, rhs.columns, !c_.attr<bool>("adjoint")));
    WEFT_ASSIGN(Tensor* out, c_.allocate(0, right.shape()));
    const DType t = type_;
    WEFT_RETURN_IF_ERROR(
        ir(cat("solve_out ", int(t)), {matrices(y, rhs.columns, rhs.rows), info()}, {address(*out)}, [t](Builder& b, const Values& x) -> Values {
          check_info(b, x[1], "Input matrix is not invertible.");
          return {b.convert(swapped(b, x[0]), t)};
        }));
    return true;
  }

  Result<bool> inverse() {
    choose_type();
    const DType t = type_, compute = compute_;
    WEFT_ASSIGN(const DevicePtr a, brought(0, x_, false));
    WEFT_ASSIGN(const DevicePtr y, scratch_.take(x_.batch * x_.rows * x_.rows, compute_));
    WEFT_RETURN_IF_ERROR(ir(cat("solver_eye ", int(compute)), {input(0, x_)}, {y},
                            [compute](Builder& b, const Values& x) -> Values { return {b.convert(on_diagonal(b, x[0]), compute)}; }));
    DevicePtr pivots = 0;
    WEFT_RETURN_IF_ERROR(factor(a, pivots));
    WEFT_RETURN_IF_ERROR(solve_each(a, pivots, y, x_.rows, c_.attr<bool>("adjoint")));
    WEFT_ASSIGN(Tensor* out, c_.allocate(0, c_.input(0).shape()));
    WEFT_RETURN_IF_ERROR(
        ir(cat("inverse_out ", int(t)), {matrices(y, x_.rows, x_.rows), info()}, {address(*out)}, [t](Builder& b, const Values& x) -> Values {
          check_info(b, x[1], "Input is not invertible.");
          return {b.convert(x[0], t)};
        }));
    return true;
  }

  Result<bool> determinant(bool log) {
    compute_ = type_;
    WEFT_ASSIGN(const DevicePtr a, brought(0, x_, false));
    DevicePtr pivots = 0;
    WEFT_RETURN_IF_ERROR(factor(a, pivots));
    std::vector<DevicePtr> results;
    for (int i = 0; i < (log ? 2 : 1); ++i) {
      WEFT_ASSIGN(Tensor* out, c_.allocate(i, x_.outer));
      results.push_back(address(*out));
    }
    WEFT_RETURN_IF_ERROR(ir(cat("determinant_out ", log), {matrices(a, x_.rows, x_.rows), {DType::kInt32, {x_.batch, x_.rows}, pivots, 0}}, results,
                            [log](Builder& b, const Values& x) -> Values {
                              const DType t = x[0]->type.dtype;
                              const Value d = b.sum(b.select(on_diagonal(b, x[0]), x[0], b.scalar(t, 0)), {2});
                              // Pivots are counted from 1: row i and row pivot[i] changed places.
                              const Value stayed = b.add(b.iota(DType::kInt32, x[1]->type.dims, 1), b.scalar_int(DType::kInt32, 1));
                              const Value turned = b.select(b.compare(ir::Compare::kNe, x[1], stayed), b.scalar(t, -1), b.scalar(t, 1));
                              const Value sign = b.reduce(ir::Reduce::kProd, turned, {1});
                              if (!log) return {b.mul(sign, b.reduce(ir::Reduce::kProd, d, {1}))};
                              return {b.mul(sign, b.reduce(ir::Reduce::kProd, b.unary(ir::Unary::kSign, d), {1})),
                                      b.sum(b.log(b.unary(ir::Unary::kAbs, d)), {1})};
                            }));
    return true;
  }

  Result<bool> qr() {
    compute_ = type_;
    const int64_t m = x_.rows, n = x_.columns, least = std::min(m, n);
    const bool full = c_.attr<bool>("full_matrices"), tall = m >= n, wider = tall && full;
    const int64_t width = full ? m : least;  // columns of q
    WEFT_ASSIGN(const DevicePtr a, brought(0, x_, true));
    WEFT_ASSIGN(const DevicePtr tau, scratch_.take(x_.batch * least, compute_));
    WEFT_ASSIGN(const DevicePtr q, scratch_.take(x_.batch * m * width, compute_));
    int size = 0, more = 0;
    WEFT_RETURN_IF_ERROR(status(f().qr_size(handle_, int(m), int(n), a, int(m), &size), "a QR factorisation"));
    WEFT_RETURN_IF_ERROR(status(f().make_q_size(handle_, int(m), int(width), int(least), q, int(m), tau, &more), "a QR factorisation"));
    size = std::max(size, more);
    WEFT_ASSIGN(const DevicePtr work, scratch_.take(size, compute_));
    for (int64_t i = 0; i < x_.batch; ++i)
      WEFT_RETURN_IF_ERROR(
          status(f().qr(handle_, int(m), int(n), part(a, i, m * n), int(m), part(tau, i, least), work, size, one_info(i)), "a QR factorisation"));
    // The first columns hold the reflections that q is made of.
    WEFT_RETURN_IF_ERROR(ir(cat("qr_q_in ", tall, wider), {matrices(a, n, m)}, {q}, [tall, wider](Builder& b, const Values& x) -> Values {
      if (!tall) return {b.slice_axis(x[0], 1, 0, x[0]->dim(2))};
      return {wider ? b.pad(x[0], b.scalar(x[0]->type.dtype, 0), {0, 0, 0}, {0, x[0]->dim(2) - x[0]->dim(1), 0}) : x[0]};
    }));
    for (int64_t i = 0; i < x_.batch; ++i)
      WEFT_RETURN_IF_ERROR(
          status(f().make_q(handle_, int(m), int(width), int(least), part(q, i, m * width), int(m), part(tau, i, least), work, size, one_info(i)),
                 "a QR factorisation"));
    WEFT_ASSIGN(Tensor* q_out, c_.allocate(0, x_.with({m, width})));
    WEFT_ASSIGN(Tensor* r_out, c_.allocate(1, x_.with({width, n})));
    WEFT_RETURN_IF_ERROR(
        ir("solver_swap", {matrices(q, width, m)}, {address(*q_out)}, [](Builder& b, const Values& x) -> Values { return {swapped(b, x[0])}; }));
    const bool cut = tall && !full;
    WEFT_RETURN_IF_ERROR(ir(cat("qr_r_out ", cut), {matrices(a, n, m)}, {address(*r_out)}, [cut](Builder& b, const Values& x) -> Values {
      const Value r = swapped(b, cut ? b.slice_axis(x[0], 2, 0, x[0]->dim(1)) : x[0]);
      if (!r) return {};
      return {b.select(b.compare(ir::Compare::kLe, index(b, r, 1), index(b, r, 2)), r, b.scalar(r->type.dtype, 0))};
    }));
    return true;
  }

  // The library wants no fewer rows than columns: a wide matrix as it lies is the transposed one to it, and the two sides change places.
  Result<bool> svd() {
    compute_ = type_;
    const bool tall = x_.rows >= x_.columns, vectors = c_.attr<bool>("compute_uv"), full = c_.attr<bool>("full_matrices");
    const int64_t m = std::max(x_.rows, x_.columns), n = std::min(x_.rows, x_.columns), width = full ? m : n;
    WEFT_ASSIGN(const DevicePtr a, brought(0, x_, tall));
    WEFT_ASSIGN(Tensor* values, c_.allocate(0, x_.with({n})));
    DevicePtr longer = 0, shorter = 0, to = 0;
    if (vectors) {
      WEFT_ASSIGN(longer, scratch_.take(x_.batch * m * width, compute_));
      WEFT_ASSIGN(Tensor* of_longer, c_.allocate(tall ? 1 : 2, x_.with({m, width})));
      WEFT_ASSIGN(Tensor* of_shorter, c_.allocate(tall ? 2 : 1, x_.with({n, n})));
      to = address(*of_longer);
      shorter = address(*of_shorter);
    } else {
      WEFT_RETURN_IF_ERROR(c_.allocate(1, Shape({0})).status());
      WEFT_RETURN_IF_ERROR(c_.allocate(2, Shape({0})).status());
    }
    int size = 0;
    WEFT_RETURN_IF_ERROR(status(f().svd_size(handle_, int(m), int(n), &size), "a singular value decomposition"));
    WEFT_ASSIGN(const DevicePtr work, scratch_.take(size, compute_));
    WEFT_ASSIGN(const DevicePtr rest, scratch_.take(n, compute_));
    const auto job = static_cast<signed char>(!vectors ? 'N' : full ? 'A' : 'S');
    for (int64_t i = 0; i < x_.batch; ++i)
      WEFT_RETURN_IF_ERROR(status(
          f().svd(handle_, job, job, int(m), int(n), part(a, i, m * n), int(m), part(address(*values), i, n),
                  vectors ? part(longer, i, m * width) : 0, int(m), vectors ? part(shorter, i, n * n) : 0, int(n), work, size, rest, one_info(i)),
          "a singular value decomposition"));
    static constexpr char kFailed[] = "Singular value decomposition was not successful. The input might not be valid.";
    if (!vectors) {
      WEFT_RETURN_IF_ERROR(ir("svd_check", {info(-1)}, {}, [](Builder& b, const Values& x) -> Values {
        check_info(b, x[0], kFailed);
        return {};
      }));
      return true;
    }
    WEFT_RETURN_IF_ERROR(ir("svd_out", {matrices(longer, width, m), info()}, {to}, [](Builder& b, const Values& x) -> Values {
      check_info(b, x[1], kFailed);
      return {swapped(b, x[0])};
    }));
    return true;
  }

  Result<bool> eigen() {
    compute_ = type_;
    const bool vectors = c_.attr<bool>("compute_v");
    const int n = int(x_.rows);
    const auto mode = vectors ? SolverVectors::kWanted : SolverVectors::kNone;
    WEFT_ASSIGN(const DevicePtr a, brought(0, x_, false));
    WEFT_ASSIGN(Tensor* values, c_.allocate(0, x_.with({n})));
    WEFT_ASSIGN(Tensor* out, c_.allocate(1, vectors ? c_.input(0).shape() : Shape({0})));
    int size = 0;
    WEFT_RETURN_IF_ERROR(
        status(f().eigen_size(handle_, mode, BlasTriangle::kUpper, n, a, n, address(*values), &size), "an eigenvalue decomposition"));
    WEFT_ASSIGN(const DevicePtr work, scratch_.take(size, compute_));
    for (int64_t i = 0; i < x_.batch; ++i)
      WEFT_RETURN_IF_ERROR(status(
          f().eigen(handle_, mode, BlasTriangle::kUpper, n, part(a, i, x_.rows * x_.rows), n, part(address(*values), i, n), work, size, one_info(i)),
          "an eigenvalue decomposition"));
    const auto build = [vectors](Builder& b, const Values& x) -> Values {
      check_info(b, x[1], "Self-adjoint eigen decomposition was not successful. The input might not be valid.");
      return vectors ? Values{swapped(b, x[0])} : Values{};
    };
    std::vector<DevicePtr> to;
    if (vectors) to.push_back(address(*out));
    WEFT_RETURN_IF_ERROR(ir(cat("eigen_out ", vectors), {matrices(a, n, n), info()}, to, build));
    return true;
  }

  op::KernelContext& c_;
  Gpu& gpu_;
  const Cusolver& library_;
  void* const handle_;
  Scratch scratch_;
  Stack x_;
  DType type_ = DType::kInvalid, compute_ = DType::kInvalid;
  DevicePtr info_ = 0;
};

// Row by row, a x = b is x' a' = b' column by column, with the triangle on the other side.
Result<bool> triangular_solve(CudaDevice& device, op::KernelContext& c) {
  const Tensor &left = c.input(0), &right = c.input(1);
  Stack a, b;
  if (memory_of(right) != &device || !a.read(left) || !b.read(right) || a.rows != a.columns || b.rows != a.rows || !(a.outer == b.outer))
    return false;
  const DType t = left.dtype();
  if ((t != DType::kFloat && t != DType::kDouble) || right.dtype() != t) return false;
  const auto library = cublas();
  if (!library.ok()) return not_there(library.status());
  Gpu& gpu = device.gpu();
  const auto started = handle_of(**library, "cuBLAS", gpu);
  if (!started.ok()) return not_there(started.status());
  Handle* const handle = *started;
  const std::lock_guard lock(handle->mutex);
  WEFT_ASSIGN(Tensor* out, c.allocate(0, right.shape()));
  WEFT_RETURN_IF_ERROR(gpu.copy(address(*out), address(right), right.byte_size()));
  const auto triangle = c.attr<bool>("lower") ? BlasTriangle::kUpper : BlasTriangle::kLower;
  const auto operation = c.attr<bool>("adjoint") ? BlasOperation::kTransposed : BlasOperation::kPlain;
  const int n = int(a.rows), k = int(b.columns);
  for (int64_t i = 0; i < a.batch; ++i) {
    const uint64_t size = dtype_size(t);
    const DevicePtr matrix = address(left) + uint64_t(i * n * n) * size, to = address(*out) + uint64_t(i * n * k) * size;
    const float one = 1;
    const double one_double = 1;
    const int error = t == DType::kFloat ? (*library)->triangular_float(handle->handle, BlasSide::kRight, triangle, operation, BlasDiagonal::kStored,
                                                                        k, n, &one, matrix, n, to, k)
                                         : (*library)->triangular_double(handle->handle, BlasSide::kRight, triangle, operation, BlasDiagonal::kStored,
                                                                         k, n, &one_double, matrix, n, to, k);
    if (error) return internal_error("a triangular system by cuBLAS failed with error ", error);
  }
  return true;
}

}  // namespace

Result<bool> factorise(CudaDevice& device, op::KernelContext& c, const op::LibraryCall& call) {
  if (memory_of(c.input(0)) != &device) return false;
  WEFT_RETURN_IF_ERROR(device.gpu().use());
  if (call.kind == Kind::kTriangularSolve) return triangular_solve(device, c);
  const auto library = cusolver();
  if (!library.ok()) return not_there(library.status());
  const auto handle = handle_of(**library, "cuSOLVER", device.gpu());
  if (!handle.ok()) return not_there(handle.status());
  const std::lock_guard lock((*handle)->mutex);
  return Solver(device, c, **library, **handle).run(call.kind);
}

}  // namespace weft_engine::cuda
