#include "cuda/matmul.h"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <limits>
#include <map>
#include <mutex>
#include <vector>

#include "core/log.h"
#include "cuda/cublas.h"
#include "cuda/cublaslt.h"

namespace weft_engine::cuda {
namespace {

using core::cat;
using core::DType;
using core::Result;
using core::Status;

constexpr size_t kWorkspace = size_t(32) << 20;  // what NVIDIA advises for Hopper
constexpr size_t kMostProducts = 4096;
constexpr int kMostChoices = 16;  // that are measured
// A chip at its power limit is slower after a while, and not with every way equally: products that take long are measured for longer, in turns.
constexpr double kLong = 20, kAlike = 1.1, kLonger = 3000;  // microseconds; what is no slower by more takes part; microseconds of a turn
constexpr size_t kMostAgain = 5, kTurns = 3;

std::atomic<bool> tf32{true};

struct Key {
  Product product;
  bool tf32;
  uint64_t alignment;  // of a, b and c: powers of two
  auto operator<=>(const Key&) const = default;
};

// A product that cuBLASLt knows how to do.
struct Ready {
  void *product = nullptr, *a = nullptr, *b = nullptr, *c = nullptr;
  std::vector<LtChoice> choices;  // the best first; after the choice one, or none
  bool by_cublas = false;         // which was faster
  bool measured = false;
};

// Of one GPU, for as long as the process lives.
struct Blas {
  void *handle = nullptr, *own = nullptr;  // cuBLASLt's, cuBLAS's
  DevicePtr workspace = 0;
  std::mutex mutex;
  std::map<Key, Ready> ready;
};

Result<Blas*> blas_of(const CublasLt& lt, Gpu& gpu) {
  static std::mutex mutex;
  static auto* all = new std::map<Gpu*, std::unique_ptr<Blas>>();
  const std::lock_guard lock(mutex);
  auto& slot = (*all)[&gpu];
  if (slot) return slot.get();
  auto made = std::make_unique<Blas>();
  const AllocatingFor op("cuBLASLt");
  WEFT_ASSIGN(made->workspace, gpu.allocate(kWorkspace));
  if (const int error = lt.create(&made->handle)) {
    gpu.free(made->workspace);
    return core::internal_error("cuBLASLt could not be started: error ", error);
  }
  slot = std::move(made);
  return slot.get();
}

struct Types {
  LtType type;
  LtCompute compute;
  LtType scale;
};
bool types_of(DType dtype, bool tf32, Types& out) {
  switch (dtype) {
    case DType::kFloat: out = {LtType::kFloat, tf32 ? LtCompute::kTf32 : LtCompute::kFloat, LtType::kFloat}; return true;
    case DType::kDouble: out = {LtType::kDouble, LtCompute::kDouble, LtType::kDouble}; return true;
    case DType::kHalf: out = {LtType::kHalf, LtCompute::kFloat, LtType::kFloat}; return true;
    case DType::kBfloat16: out = {LtType::kBfloat16, LtCompute::kFloat, LtType::kFloat}; return true;
    default: return false;
  }
}

constexpr uint64_t kMostAlignment = 256;  // bytes; more makes no difference
uint64_t alignment_of(DevicePtr p) { return p % kMostAlignment ? p & (~p + 1) : kMostAlignment; }

// cuBLASLt's matrices have their columns one after the other: what is stored in C's order is the transposed matrix to it. So it is asked for
// b' x a', which is c'.
int prepare(const CublasLt& lt, void* handle, const Key& key, const Types& t, Ready& out) {
  const Product& p = key.product;
  if (int e = lt.create_product(&out.product, t.compute, t.scale)) return e;
  const auto operation = [](bool transposed) { return transposed ? LtOperation::kTransposed : LtOperation::kPlain; };
  const LtOperation first = operation(p.transpose_b), second = operation(p.transpose_a);
  if (int e = lt.set_product(out.product, LtProductAttribute::kTransposeA, &first, sizeof first)) return e;
  if (int e = lt.set_product(out.product, LtProductAttribute::kTransposeB, &second, sizeof second)) return e;
  const auto matrix = [&](void*& m, int64_t rows, int64_t columns) {
    if (int e = lt.create_matrix(&m, t.type, uint64_t(rows), uint64_t(columns), rows)) return e;
    if (p.batch == 1) return 0;
    const auto count = int32_t(p.batch);
    const int64_t stride = rows * columns;
    if (int e = lt.set_matrix(m, LtMatrixAttribute::kBatch, &count, sizeof count)) return e;
    return lt.set_matrix(m, LtMatrixAttribute::kStride, &stride, sizeof stride);
  };
  if (int e = matrix(out.a, p.transpose_b ? p.k : p.n, p.transpose_b ? p.n : p.k)) return e;
  if (int e = matrix(out.b, p.transpose_a ? p.m : p.k, p.transpose_a ? p.k : p.m)) return e;
  if (int e = matrix(out.c, p.n, p.m)) return e;
  void* search = nullptr;
  if (int e = lt.create_search(&search)) return e;
  const size_t workspace = kWorkspace;
  const std::pair<LtSearchAttribute, uint32_t> alignments[] = {{LtSearchAttribute::kAlignmentA, uint32_t(key.alignment >> 16 & 0xffff)},
                                                               {LtSearchAttribute::kAlignmentB, uint32_t(key.alignment & 0xffff)},
                                                               {LtSearchAttribute::kAlignmentC, uint32_t(key.alignment >> 32 & 0xffff)},
                                                               {LtSearchAttribute::kAlignmentD, uint32_t(key.alignment >> 32 & 0xffff)}};
  int found = 0;
  int e = lt.set_search(search, LtSearchAttribute::kWorkspace, &workspace, sizeof workspace);
  for (const auto& [attribute, bytes] : alignments) {
    if (!e) e = lt.set_search(search, attribute, &bytes, sizeof bytes);
  }
  out.choices.resize(kMostChoices);
  if (!e) e = lt.choose(handle, out.product, out.a, out.b, out.c, out.c, search, kMostChoices, out.choices.data(), &found);
  lt.destroy_search(search);
  out.choices.resize(e ? 0 : size_t(found));
  std::erase_if(out.choices, [](const LtChoice& c) { return c.state != 0; });
  return e;
}

void destroy(const CublasLt& lt, Ready& r) {
  if (r.product) lt.destroy_product(r.product);
  for (void* m : {r.a, r.b, r.c}) {
    if (m) lt.destroy_matrix(m);
  }
}

}  // namespace

void allow_tf32(bool allow) { tf32 = allow; }
bool tf32_allowed() { return tf32; }

std::optional<Product> product_of(const ir::Instr& dot, bool add, std::span<const int64_t> symbols) {
  const auto& a = dot.operand(0).type.dims;
  const auto& c = dot.type.dims;
  const size_t rank = c.size();
  if (rank < 2 || dot.operand(0).type.dtype != dot.type.dtype) return std::nullopt;
  Product p;
  p.dtype = dot.type.dtype;
  for (size_t k = 0; k + 2 < rank; ++k) p.batch *= c[k].evaluate(symbols);
  p.m = c[rank - 2].evaluate(symbols);
  p.n = c[rank - 1].evaluate(symbols);
  p.k = a[dot.transpose_a ? rank - 2 : rank - 1].evaluate(symbols);
  p.transpose_a = dot.transpose_a;
  p.transpose_b = dot.transpose_b;
  p.add = add;
  return p;
}

Result<bool> multiply(Gpu& gpu, const Queue& queue, const Product& product, DevicePtr a, DevicePtr b, DevicePtr c) {
  if (product.batch <= 0 || product.m <= 0 || product.n <= 0 || product.k <= 0 || product.batch > INT32_MAX) return false;
  Types types{};
  const bool narrow = tf32;
  if (!types_of(product.dtype, narrow, types)) return false;
  const auto not_there = [](const Status& why) {
    static std::once_flag once;
    std::call_once(once, [&] { core::log(core::LogLevel::kWarning, cat("matrix products on GPUs are slower than they could be: ", why.message())); });
    return false;
  };
  auto lt = cublaslt();
  if (!lt.ok()) return not_there(lt.status());
  auto started = blas_of(**lt, gpu);
  if (!started.ok()) return not_there(started.status());
  Blas* const blas = *started;
  const std::lock_guard lock(blas->mutex);  // one workspace, one stream
  const Key key{product, narrow, alignment_of(a) | alignment_of(b) << 16 | alignment_of(c) << 32};
  auto it = blas->ready.find(key);
  if (it == blas->ready.end()) {
    if (blas->ready.size() >= kMostProducts) {
      for (auto& [k, r] : blas->ready) destroy(**lt, r);
      blas->ready.clear();
    }
    it = blas->ready.emplace(key, Ready()).first;
    if (const int error = prepare(**lt, blas->handle, key, types, it->second))
      core::log(core::LogLevel::kInfo, cat("cuBLASLt has nothing for a product (error ", error, ")"));
  }
  Ready& r = it->second;
  const bool is_double = types.scale == LtType::kDouble;
  const auto run = [&](const LtChoice& choice, DevicePtr to, bool add, void* stream) {
    const float one = 1, beta = add ? 1 : 0;
    const double one_double = 1, beta_double = add ? 1 : 0;
    return (*lt)->multiply(blas->handle, r.product, is_double ? static_cast<const void*>(&one_double) : &one, b, r.a, a, r.b,
                           is_double ? static_cast<const void*>(&beta_double) : &beta, to, r.c, to, r.c, &choice.algorithm, blas->workspace,
                           kWorkspace, stream);
  };
  const auto by_cublas = [&](DevicePtr to, bool add, void* stream) -> int {
    auto own = cublas();
    if (!own.ok() || (!blas->own && (*own)->create(&blas->own))) return 1;
    if (const int error = (*own)->set_stream(blas->own, stream)) return error;
    if (const int error = (*own)->set_workspace(blas->own, blas->workspace, kWorkspace)) return error;  // a stream brings another
    const float one = 1, beta = add ? 1 : 0;
    const auto operation = [](bool transposed) { return transposed ? LtOperation::kTransposed : LtOperation::kPlain; };
    const int m = int(product.m), n = int(product.n), k = int(product.k);
    return (*own)->multiply(blas->own, operation(product.transpose_b), operation(product.transpose_a), n, m, k, &one, b, types.type,
                            product.transpose_b ? k : n, a, types.type, product.transpose_a ? m : k, &beta, to, types.type, n, types.compute,
                            kCublasDefault);
  };
  // All give the same sums, in another order. What the result holds is still needed where it is added to.
  if (!r.measured && !queue.recording) {
    r.measured = true;
    DevicePtr to = c;
    if (product.add && r.choices.size() > 1) {
      auto own = gpu.allocate(size_t(product.batch * product.m * product.n) * core::dtype_size(product.dtype));
      if (own.ok()) to = *own;
      else r.choices.resize(1);
    }
    const auto measure = [&](const LtChoice& choice, int calls, int runs) -> Result<double> {
      int error = 0;
      auto us = gpu.time(
          [&]() -> Status {
            error = run(choice, to, false, gpu.stream());
            return error ? core::internal_error("cuBLASLt failed with error ", error) : Status();
          },
          calls, runs);
      if (!us.ok() && error) return std::numeric_limits<double>::infinity();
      return us;
    };
    const auto chosen = [&]() -> Status {
      if (r.choices.size() < 2) return {};
      std::vector<std::pair<double, size_t>> times;
      for (size_t i = 0; i < r.choices.size(); ++i) {
        WEFT_ASSIGN(const double us, measure(r.choices[i], 3, 3));
        times.emplace_back(us, i);
      }
      std::sort(times.begin(), times.end());
      const double least = times[0].first;
      if (least > kLong && std::isfinite(least)) {
        std::erase_if(times, [&](const auto& t) { return t.first > least * kAlike; });
        if (times.size() > kMostAgain) times.resize(kMostAgain);
        for (auto& t : times) t.first = 0;
        for (size_t turn = 0; turn < kTurns && times.size() > 1; ++turn) {
          for (auto& [sum, i] : times) {
            WEFT_ASSIGN(const double us, measure(r.choices[i], int(std::clamp(kLonger / least, 3., 60.)), 1));
            sum += us;
          }
        }
        std::sort(times.begin(), times.end());
        const int64_t most = std::max({product.m, product.n, product.k});
        if (product.batch == 1 && !is_double && most <= INT32_MAX && !without("cublas")) {
          double lt = 0, own = 0;
          int error = 0;
          const auto call = [&]() -> Status {
            error = by_cublas(to, false, gpu.stream());
            return error ? core::internal_error("cuBLAS failed with error ", error) : Status();
          };
          for (size_t turn = 0; turn < kTurns && !error; ++turn) {
            const int calls = int(std::clamp(kLonger / least, 3., 60.));
            WEFT_ASSIGN(const double us, measure(r.choices[times[0].second], calls, 1));
            auto other = gpu.time(call, calls, 1);
            if (!other.ok() && !error) return other.status();
            lt += us;
            own += other.ok() ? *other : 0;
          }
          r.by_cublas = !error && own < lt;
          core::log(core::LogLevel::kInfo, cat("a product of ", product.m, " x ", product.k, " x ", product.n, ": cuBLASLt ", int(lt / kTurns),
                                               " us, cuBLAS ", error ? -1 : int(own / kTurns)));
        }
      }
      r.choices = {r.choices[times[0].second]};
      return {};
    };
    const Status status = chosen();
    if (to != c) gpu.free(to);
    WEFT_RETURN_IF_ERROR(status);
  }
  if (r.choices.empty()) return false;
  if (r.by_cublas) {
    if (const int error = by_cublas(c, product.add, queue.stream)) return core::internal_error("cuBLAS failed with error ", error);
    return true;
  }
  if (const int error = run(r.choices[0], c, product.add, queue.stream)) return core::internal_error("cuBLASLt failed with error ", error);
  return true;
}

}  // namespace weft_engine::cuda
