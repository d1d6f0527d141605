#include "compiler/llvm/gemm_kernel.h"

#include <llvm/IR/InlineAsm.h>
#include <llvm/IR/Module.h>

#include <algorithm>

#include "compiler/scratch.h"
#include "core/cat.h"

namespace weft_engine::compiler {
namespace {

using V = llvm::Value*;
using Builder = llvm::IRBuilder<>;

int64_t constant_or(V v, int64_t otherwise) {
  const auto* c = llvm::dyn_cast_or_null<llvm::ConstantInt>(v);
  return c ? c->getSExtValue() : otherwise;
}

// A micro-kernel: rows x vectors of C in registers.
struct Kernel {
  llvm::Type* element = nullptr;
  int rows = 1, vectors = 1, lanes = 1;
  bool masked = false;            // the last vector is not whole
  bool columns = false;           // A's columns are contiguous
  bool outer = false;             // k jumps
  bool accumulate = false;        // by the argument of that name
  int64_t a_stride = -1, k = -1;  // where it is worth while to have them as constants

  std::string name() const {
    std::string type;
    llvm::raw_string_ostream(type) << *element;
    return core::cat("gemm_", type, "_", rows, "x", vectors, "x", lanes, masked ? "m" : "", columns ? "c" : "", outer ? "o" : "",
                     accumulate ? "a" : "", a_stride >= 0 ? core::cat("_s", a_stride) : "", k >= 0 ? core::cat("_k", k) : "");
  }
};

V first_lanes(Builder& b, int lanes, V count) {
  std::vector<llvm::Constant*> iota;
  for (int i = 0; i < lanes; ++i) iota.push_back(b.getInt32(uint32_t(i)));
  return b.CreateICmpULT(llvm::ConstantVector::get(iota), b.CreateVectorSplat(unsigned(lanes), b.CreateTrunc(count, b.getInt32Ty())));
}

// The kernel's arguments, in order.
enum Argument { kA, kB, kC, kTiles, kAStride, kBStride, kCStride, kK, kOuter, kAOuter, kLast, kAccumulate, kArguments };

class KernelWriter {
 public:
  KernelWriter(const Target& target, const Kernel& kernel, llvm::Function* f) : t_(target), key_(kernel), f_(f), b_(f->getContext()) {
    vector_ = key_.lanes == 1 ? key_.element : static_cast<llvm::Type*>(llvm::FixedVectorType::get(key_.element, unsigned(key_.lanes)));
    is_float_ = key_.element->isFloatingPointTy();
    // Few sums wait for each other: several sets of them, added in the end.
    const int sums = key_.rows * key_.vectors;
    sets_ = sums >= 8 ? 1 : sums >= 4 ? 2 : sums >= 2 ? 4 : 8;
    while (sets_ > 1 && sums * sets_ > t_.vector_registers / 2) sets_ /= 2;
    unroll_ = std::max(sets_, sums >= 16 && t_.vector_bytes == 64 ? 2 : 4);
    if (key_.k >= 0) sets_ = 1;
  }

  void write() {
    auto* entry = llvm::BasicBlock::Create(f_->getContext(), "", f_);
    b_.SetInsertPoint(entry);
    a_stride_ = key_.a_stride >= 0 ? i64(key_.a_stride) : arg(kAStride);
    if (key_.masked) mask_ = first_lanes(b_, key_.lanes, arg(kLast));
    llvm::BasicBlock* head = block("tile");
    b_.CreateBr(head);
    b_.SetInsertPoint(head);
    auto* tile = phi(b_.getInt64Ty(), i64(0), entry);
    auto* a = phi(b_.getPtrTy(), arg(kA), entry);
    auto* c = phi(b_.getPtrTy(), arg(kC), entry);
    std::vector<V> sums = start(c);
    sums = key_.outer ? outer(a, std::move(sums)) : along_k(a, arg(kB), std::move(sums)).first;
    finish(c, std::move(sums));
    V next = b_.CreateAdd(tile, i64(1));
    V next_a = at(a, key_.columns ? i64(key_.rows) : b_.CreateMul(a_stride_, i64(key_.rows)));
    V next_c = at(c, b_.CreateMul(arg(kCStride), i64(key_.rows)));
    auto* end = block("end");
    auto* latch = b_.GetInsertBlock();
    b_.CreateCondBr(b_.CreateICmpULT(next, arg(kTiles)), head, end);
    tile->addIncoming(next, latch);
    a->addIncoming(next_a, latch);
    c->addIncoming(next_c, latch);
    b_.SetInsertPoint(end);
    b_.CreateRetVoid();
  }

 private:
  V i64(int64_t n) { return b_.getInt64(uint64_t(n)); }
  V arg(Argument n) { return f_->getArg(n); }
  llvm::BasicBlock* block(const char* name) { return llvm::BasicBlock::Create(f_->getContext(), name, f_); }
  llvm::PHINode* phi(llvm::Type* type, V first, llvm::BasicBlock* from) {
    auto* p = b_.CreatePHI(type, 2);
    p->addIncoming(first, from);
    return p;
  }
  V at(V pointer, V elements) { return b_.CreateGEP(key_.element, pointer, elements); }
  V vector_at(V pointer, int v) { return v == 0 ? pointer : at(pointer, i64(int64_t(v) * key_.lanes)); }
  llvm::Align align() const { return llvm::Align(key_.element->getScalarSizeInBits() / 8); }
  bool is_masked(int v) const { return key_.masked && v == key_.vectors - 1; }

  V load(V pointer, int v) {
    V p = vector_at(pointer, v);
    if (is_masked(v)) return b_.CreateMaskedLoad(vector_, p, align(), mask_, llvm::Constant::getNullValue(vector_));
    return b_.CreateAlignedLoad(vector_, p, align());
  }
  V splat(V x) { return key_.lanes == 1 ? x : b_.CreateVectorSplat(unsigned(key_.lanes), x); }
  V multiply_add(V x, V y, V sum) {
    if (!is_float_) return b_.CreateAdd(b_.CreateMul(x, y), sum);
    if (t_.fma) return b_.CreateIntrinsic(llvm::Intrinsic::fma, {vector_}, {x, y, sum});
    return b_.CreateFAdd(b_.CreateFMul(x, y), sum);
  }
  V add(V x, V y) { return is_float_ ? b_.CreateFAdd(x, y) : b_.CreateAdd(x, y); }

  std::vector<V> start(V c) {
    const int sums = key_.rows * key_.vectors;
    std::vector<V> zero(size_t(sums * sets_), llvm::Constant::getNullValue(vector_));
    if (!key_.accumulate) return zero;
    auto* from = b_.GetInsertBlock();
    auto *loads = block("load"), *join = block("start");
    b_.CreateCondBr(arg(kAccumulate), loads, join);
    b_.SetInsertPoint(loads);
    std::vector<V> loaded;
    V row = c;
    for (int r = 0; r < key_.rows; ++r, row = at(row, arg(kCStride)))
      for (int v = 0; v < key_.vectors; ++v) loaded.push_back(load(row, v));
    b_.CreateBr(join);
    b_.SetInsertPoint(join);
    for (int i = 0; i < sums; ++i) {
      auto* p = phi(vector_, zero[size_t(i)], from);
      p->addIncoming(loaded[size_t(i)], loads);
      zero[size_t(i)] = p;
    }
    return zero;
  }

  // One step of k. `a`: pointers to every third row (to the first alone where the others are a constant away), at column k.
  void step(const std::vector<V>& a, V a_shift, V b, int set, std::vector<V>& sums) {
    std::vector<V> row_of_b;
    for (int v = 0; v < key_.vectors; ++v) row_of_b.push_back(load(b, v));
    for (int r = 0; r < key_.rows; ++r) {
      V p;
      if (key_.columns) p = at(a_shift ? at(a[0], a_shift) : a[0], i64(r));
      else if (key_.a_stride >= 0) p = at(a_shift ? at(a[0], a_shift) : a[0], i64(r * key_.a_stride));
      else {
        p = a[size_t(r / 3)];
        if (r % 3) p = at(p, r % 3 == 1 ? a_stride_ : b_.CreateShl(a_stride_, 1));
        if (a_shift) p = at(p, a_shift);
      }
      V x = splat(b_.CreateAlignedLoad(key_.element, p, align()));
      for (int v = 0; v < key_.vectors; ++v) {
        V& sum = sums[size_t((set * key_.rows + r) * key_.vectors + v)];
        sum = multiply_add(x, row_of_b[size_t(v)], sum);
      }
    }
  }
  // The same pointer, though no pass can tell.
  V forget(V pointer) {
    auto* type = llvm::FunctionType::get(b_.getPtrTy(), {b_.getPtrTy()}, false);
    return b_.CreateCall(type, llvm::InlineAsm::get(type, "", "=r,0", false), {pointer});
  }
  // `count` steps from here; a and b move on.
  void steps(std::vector<V>& a, V& b, int count, std::vector<V>& sums) {
    V row = b;
    // Rows of A that overlap (pixels of a convolution) have elements in common: LLVM would load each once, and keep them all in registers.
    const bool overlap = !key_.columns && key_.a_stride >= 0 && key_.a_stride < count;
    for (int u = 0; u < count; ++u) {
      if (overlap && u > 0) a[0] = forget(a[0]);
      V shift = u == 0 ? nullptr : key_.columns ? b_.CreateMul(a_stride_, i64(u)) : i64(u);
      if (u > 0) row = at(b, b_.CreateMul(arg(kBStride), i64(u)));
      step(a, shift, row, u % sets_, sums);
    }
    V shift = key_.columns ? b_.CreateMul(a_stride_, i64(count)) : i64(count);
    for (V& p : a) p = at(p, shift);
    b = at(b, b_.CreateMul(arg(kBStride), i64(count)));
  }
  // A loop of `count` rounds of `per_round` steps.
  void round(std::vector<V>& a, V& b, V count, int per_round, std::vector<V>& sums) {
    auto* before = b_.GetInsertBlock();
    auto *body = block("k"), *after = block("after");
    b_.CreateCondBr(b_.CreateICmpEQ(count, i64(0)), after, body);
    b_.SetInsertPoint(body);
    auto* left = phi(b_.getInt64Ty(), count, before);
    std::vector<llvm::PHINode*> phis;
    std::vector<V> state = a;
    state.push_back(b);
    state.insert(state.end(), sums.begin(), sums.end());
    const std::vector<V> first = state;
    for (V& v : state) phis.push_back(phi(v->getType(), v, before)), v = phis.back();
    std::vector<V> now_a(state.begin(), state.begin() + long(a.size()));
    V now_b = state[a.size()];
    std::vector<V> now(state.begin() + long(a.size()) + 1, state.end());
    // Left to itself, LLVM keeps a pointer to each row, more than there are registers for.
    if (now_a.size() > 1)
      for (V& p : now_a) p = forget(p);
    steps(now_a, now_b, per_round, now);
    V less = b_.CreateSub(left, i64(1));
    left->addIncoming(less, body);
    std::vector<V> last = now_a;
    last.push_back(now_b);
    last.insert(last.end(), now.begin(), now.end());
    for (size_t i = 0; i < phis.size(); ++i) phis[i]->addIncoming(last[i], body);
    b_.CreateCondBr(b_.CreateICmpNE(less, i64(0)), body, after);
    b_.SetInsertPoint(after);
    for (size_t i = 0; i < last.size(); ++i) {
      auto* p = phi(last[i]->getType(), first[i], before);
      p->addIncoming(last[i], body);
      (i < a.size() ? a[i] : i == a.size() ? b : sums[i - a.size() - 1]) = p;
    }
  }

  std::vector<V> bases(V a) {
    std::vector<V> p{a};
    if (!key_.columns && key_.a_stride < 0)
      for (int r = 3; r < key_.rows; r += 3) p.push_back(at(p.back(), b_.CreateMul(a_stride_, i64(3))));
    return p;
  }
  std::pair<std::vector<V>, V> along_k(V a, V b, std::vector<V> sums) {
    std::vector<V> p = bases(a);
    if (key_.k >= 0) {
      steps(p, b, int(key_.k), sums);
    } else if (unroll_ == 1) {
      round(p, b, arg(kK), 1, sums);
    } else {
      round(p, b, b_.CreateUDiv(arg(kK), i64(unroll_)), unroll_, sums);
      round(p, b, b_.CreateURem(arg(kK), i64(unroll_)), 1, sums);
    }
    return {std::move(sums), b};
  }
  std::vector<V> outer(V a, std::vector<V> sums) {
    auto* before = b_.GetInsertBlock();
    auto *body = block("outer"), *after = block("done");
    b_.CreateBr(body);
    b_.SetInsertPoint(body);
    auto* left = phi(b_.getInt64Ty(), arg(kOuter), before);
    auto* now_a = phi(b_.getPtrTy(), a, before);
    auto* now_b = phi(b_.getPtrTy(), arg(kB), before);
    std::vector<llvm::PHINode*> phis;
    for (V& v : sums) phis.push_back(phi(v->getType(), v, before)), v = phis.back();
    auto [next, next_b] = along_k(now_a, now_b, std::move(sums));
    auto* latch = b_.GetInsertBlock();
    V less = b_.CreateSub(left, i64(1));
    left->addIncoming(less, latch);
    now_a->addIncoming(at(now_a, arg(kAOuter)), latch);
    now_b->addIncoming(next_b, latch);
    for (size_t i = 0; i < phis.size(); ++i) phis[i]->addIncoming(next[i], latch);
    b_.CreateCondBr(b_.CreateICmpNE(less, i64(0)), body, after);
    b_.SetInsertPoint(after);
    return next;
  }

  void finish(V c, std::vector<V> sums) {
    const size_t n = size_t(key_.rows * key_.vectors);
    for (size_t s = size_t(sets_); s > 1; s /= 2)
      for (size_t i = 0; i < s / 2 * n; ++i) sums[i] = add(sums[i], sums[i + s / 2 * n]);
    V row = c;
    for (int r = 0; r < key_.rows; ++r, row = at(row, arg(kCStride))) {
      for (int v = 0; v < key_.vectors; ++v) {
        V x = sums[size_t(r * key_.vectors + v)];
        V p = vector_at(row, v);
        if (is_masked(v)) b_.CreateMaskedStore(x, p, align(), mask_);
        else b_.CreateAlignedStore(x, p, align());
      }
    }
  }

  const Target& t_;
  const Kernel& key_;
  llvm::Function* f_;
  Builder b_;
  llvm::Type* vector_;
  bool is_float_;
  int sets_ = 1, unroll_ = 1;
  V a_stride_ = nullptr, mask_ = nullptr;
};

llvm::Function* kernel_function(llvm::Module& m, const Target& target, const Kernel& k) {
  const std::string name = k.name();
  if (auto* f = m.getFunction(name)) return f;
  auto& c = m.getContext();
  llvm::Type *p = llvm::PointerType::getUnqual(c), *i = llvm::Type::getInt64Ty(c);
  std::vector<llvm::Type*> types(kArguments, i);
  types[kA] = types[kB] = types[kC] = p;
  types[kAccumulate] = llvm::Type::getInt1Ty(c);
  auto* f = internal_function(m, name, llvm::FunctionType::get(llvm::Type::getVoidTy(c), types, false), 2, 1, target);
  KernelWriter(target, k, f).write();
  return f;
}

// A panel of B (as wide as the kernel), row behind row.
llvm::Function* pack_function(llvm::Module& m, const Target& target, const Kernel& k) {
  std::string name = core::cat("pack_", k.vectors, "x", k.lanes, k.masked ? "m_" : "_");
  llvm::raw_string_ostream(name) << *k.element;
  if (auto* f = m.getFunction(name)) return f;
  auto& c = m.getContext();
  llvm::Type *p = llvm::PointerType::getUnqual(c), *i = llvm::Type::getInt64Ty(c);
  auto* f = internal_function(m, name, llvm::FunctionType::get(llvm::Type::getVoidTy(c), {p, p, i, i, i}, false), 1, 1, target);
  Builder b(llvm::BasicBlock::Create(c, "", f));
  llvm::Type* vector = k.lanes == 1 ? k.element : static_cast<llvm::Type*>(llvm::FixedVectorType::get(k.element, unsigned(k.lanes)));
  const llvm::Align align(k.element->getScalarSizeInBits() / 8);
  V mask = k.masked ? first_lanes(b, k.lanes, f->getArg(4)) : nullptr;
  emit_for(b, f->getArg(3), [&](V row) {
    V from = b.CreateGEP(k.element, f->getArg(0), b.CreateMul(row, f->getArg(2)));
    V to = b.CreateGEP(k.element, f->getArg(1), b.CreateMul(row, b.getInt64(uint64_t(k.vectors * k.lanes))));
    for (int v = 0; v < k.vectors; ++v) {
      V offset = b.getInt64(uint64_t(v * k.lanes)), place = b.CreateGEP(k.element, from, offset);
      V x = mask && v == k.vectors - 1 ? static_cast<V>(b.CreateMaskedLoad(vector, place, align, mask, llvm::Constant::getNullValue(vector)))
                                       : b.CreateAlignedLoad(vector, place, align);
      b.CreateAlignedStore(x, b.CreateGEP(k.element, to, offset), align);
    }
  });
  b.CreateRetVoid();
  return f;
}

// ---- which tiles

int max_rows(const Target& t, int vectors) {
  if (vectors > 8) return 1;
  return std::clamp((t.vector_registers - 1 - vectors) / vectors, 1, t.vector_registers == 32 ? 16 : 12);
}

struct Split {  // n in parts that differ by one at most: `wide` parts of size + 1, then `narrow` of size
  int64_t size = 0, wide = 0, narrow = 0;
  Split(int64_t n, int64_t most) {
    const int64_t parts = std::max<int64_t>(1, (n + most - 1) / most);
    size = n / parts, wide = n % parts, narrow = parts - wide;
  }
};

double cost(const Target& t, int64_t rows, int64_t vectors, int64_t k) {
  const double pipe = t.vector_bytes == 64 ? 1 : 0.5;  // cycles for a multiplication or load of a vector
  const double fma = double(rows * vectors) * pipe, loads = double(vectors + rows) * pipe;
  return double(k) * std::max(fma, loads) + 16 + 2.0 * double(rows * vectors) * pipe;
}

struct Tile {
  int rows = 1, vectors = 1;
};

// The tile that takes least time. Kernels that are not there yet (`is_new`) must be worth their memory.
Tile best_tile(const Target& t, int64_t m, int64_t vectors, int64_t k, int most, const std::function<bool(Tile)>& is_new) {
  constexpr double kNew = 0.01;
  Tile best;
  double least = -1;
  if (m > 2) most = std::min(most, 8);  // wide tiles are for single rows
  for (int v = 1; v <= most; ++v) {
    const int rows = max_rows(t, v);
    if (v > 1 && (v > vectors || rows * v + (v > 8 ? 1 : v) >= t.vector_registers)) continue;
    for (int limit : {rows, 8}) {
      if (limit > rows) continue;
      const Split n(vectors, v), r(m, limit);
      double sum = 0, more = 1;
      for (int w = 0; w < 2; ++w) {
        for (int h = 0; h < 2; ++h) {
          const int64_t count = (w ? n.wide : n.narrow) * (h ? r.wide : r.narrow);
          if (count == 0) continue;
          sum += double(count) * cost(t, r.size + h, n.size + w, k);
          if (is_new({int(r.size) + h, int(n.size) + w})) more += kNew;
        }
      }
      if (least < 0 || sum * more < least) least = sum * more, best = {limit, v};
    }
  }
  return best;
}

// ---- the loops around the kernels

class ProductWriter {
 public:
  ProductWriter(Builder& b, const Target& t, const Product& p) : b_(b), t_(t), p_(p) {
    lanes_ = t.lanes(int(p.element->getScalarSizeInBits() / 8));
    m_ = constant_or(p.m, -1), n_ = constant_or(p.n, -1), k_ = constant_or(p.k, -1);
    a_columns_ = p.a_columns, a_stride_ = p.a_stride;
  }

  void write() {
    if (m_ == 0 || n_ == 0) return;
    if (m_ < 0 && p_.m_multiple > 1) {
      blocks(-1);
    } else if (m_ < 0) {
      // One row is what serving asks for, and has kernels of its own.
      emit_when(b_, b_.CreateICmpEQ(p_.m, i64(1)), [&] { blocks(1); });
      emit_when(b_, b_.CreateICmpUGT(p_.m, i64(1)), [&] { blocks(-1); });
    } else {
      blocks(m_);
    }
  }

 private:
  V i64(int64_t n) { return b_.getInt64(uint64_t(n)); }
  V at(V pointer, V elements) { return b_.CreateGEP(p_.element, pointer, elements); }

  // Blocks of k, so that a tile's rows of A stay in the first cache; a packed panel of B is to stay in the second, with rows of A beside
  // it.
  int64_t block_size_ = 512;

  void blocks(int64_t m) {
    const int64_t n = n_ < 0 ? -1 : (n_ + lanes_ - 1) / lanes_;
    pack_ = m == 1 ? nullptr : p_.pack, pack_a_ = p_.pack_a;  // one row is not worth packing for
    block_size_ = pack_ ? kPackRows : 512;
    const bool whole = p_.outer || m == 1 || (k_ >= 0 && k_ <= block_size_);
    const Tile tile = best_tile(t_, m < 0 ? 32 : m, n < 0 ? 2 : n, k_ < 0 ? 64 : std::max<int64_t>(1, k_) * constant_or(p_.outer, 1),
                                pack_ ? int(kPackColumns) / lanes_ : 16, [&](Tile tile) {
                                  return !b_.GetInsertBlock()->getModule()->getFunction(
                                      kernel(tile.rows, tile.vectors, lanes_, false, !whole || p_.accumulate, whole ? p_.k : nullptr).name());
                                });
    rows_ = tile.rows, vectors_ = tile.vectors;
    if (whole) {
      groups(m, p_.a, p_.b, p_.k, p_.accumulate ? b_.getTrue() : nullptr);
      return;
    }
    const int64_t size =
        k_ < 0 ? block_size_ : ((k_ + (k_ + block_size_ - 1) / block_size_ - 1) / ((k_ + block_size_ - 1) / block_size_) + 3) / 4 * 4;
    const auto block = [&](V k0) {
      V left = b_.CreateSub(p_.k, k0);
      V k = k_ >= 0 && k_ % size == 0 ? i64(size) : b_.CreateBinaryIntrinsic(llvm::Intrinsic::umin, left, i64(size));
      V a = at(p_.a, p_.a_columns ? b_.CreateMul(k0, p_.a_stride) : k0);
      V first = p_.accumulate ? b_.getTrue() : b_.CreateICmpNE(k0, i64(0));
      groups(m, a, at(p_.b, b_.CreateMul(k0, p_.b_stride)), k, first);
    };
    // No k at all still writes zeros.
    if (k_ < 0) emit_for(b_, b_.CreateBinaryIntrinsic(llvm::Intrinsic::umax, p_.k, i64(1)), i64(size), block);
    else emit_for(b_, p_.k, i64(size), block);
  }

  // Rows in tiles of equal height.
  void groups(int64_t m, V a, V b, V k, V accumulate) {
    if (m >= 0) {
      const Split s(m, rows_);
      if (s.wide) group(i64(0), int(s.size + 1), i64(s.wide), a, b, k, accumulate);
      if (s.narrow) group(i64(s.wide * (s.size + 1)), int(s.size), i64(s.narrow), a, b, k, accumulate);
      return;
    }
    const int rows = rows_ >= 8 ? 8 : rows_;
    V whole = b_.CreateUDiv(p_.m, i64(rows)), left = b_.CreateURem(p_.m, i64(rows)), row = b_.CreateMul(whole, i64(rows));
    emit_when(b_, b_.CreateICmpNE(whole, i64(0)), [&] { group(i64(0), rows, whole, a, b, k, accumulate); });
    if (p_.m_multiple % rows == 0) return;
    for (int r = rows > 4 ? 4 : rows > 2 ? 2 : 1; rows > 1 && r >= 1; r /= 2) {
      V has = b_.CreateICmpNE(b_.CreateAnd(left, i64(r)), i64(0));
      emit_when(b_, has, [&] { group(row, r, i64(1), a, b, k, accumulate); });
      row = b_.CreateAdd(row, b_.CreateSelect(has, i64(r), i64(0)));
    }
  }

  // As many tiles at a time as the second cache has room for.
  void group(V row, int rows, V tiles, V a, V b, V k, V accumulate) {
    const int64_t count = constant_or(tiles, -1);
    const int64_t depth = k_ < 0 ? block_size_ : p_.outer ? k_ * constant_or(p_.outer, 3) : std::min(k_, block_size_);
    const int64_t most = std::max<int64_t>(
        1, (pack_ || pack_a_ ? kPackABytes : 128 << 10) / std::max<int64_t>(1, depth * rows * int64_t(p_.element->getScalarSizeInBits() / 8)));
    const auto part = [&](V first, V n) {
      V r = b_.CreateAdd(row, b_.CreateMul(first, i64(rows))), c = at(p_.c, b_.CreateMul(r, p_.c_stride));
      a_columns_ = p_.a_columns, a_stride_ = p_.a_stride;
      V from = at(a, a_columns_ ? r : b_.CreateMul(r, a_stride_));
      if (pack_a_ && rows > 1) {
        V height = b_.CreateMul(n, i64(rows));
        emit_transpose(b_, t_, p_.element, from, a_stride_, pack_a_, height, height, k);
        from = pack_a_, a_columns_ = true, a_stride_ = height;
      }
      panels(rows, n, from, b, c, k, accumulate);
    };
    if (count >= 0 && count <= most) return part(i64(0), tiles);
    emit_for(b_, tiles, i64(most),
             [&](V first) { part(first, b_.CreateBinaryIntrinsic(llvm::Intrinsic::umin, b_.CreateSub(tiles, first), i64(most))); });
  }

  void panels(int rows, V tiles, V a, V b, V c, V k, V accumulate) {
    const auto call = [&](int vectors, int lanes, V column, V last) {
      this->call(rows, vectors, lanes, tiles, a, b, c, k, accumulate, column, last);
    };
    const bool masks = t_.vector_bytes >= 32;
    // Columns in whole vectors, and the rest.
    if (n_ >= 0) {
      const int64_t whole = n_ / lanes_, rest = n_ % lanes_, all = whole + (rest && masks);
      int64_t column = 0;
      if (all > 0) {
        const Split s(all, vectors_);
        const bool last = rest && masks;
        for (int w = 1; w >= 0; --w) {
          const int64_t count = (w ? s.wide : s.narrow) - (w == 0 && last), width = (s.size + w) * lanes_;
          const int v = int(s.size) + w;
          if (count == 1) call(v, lanes_, i64(column), nullptr);
          else if (count > 1) emit_for(b_, i64(count * width), i64(width), [&](V i) { call(v, lanes_, b_.CreateAdd(i, i64(column)), nullptr); });
          column += count * width;
        }
        if (last) call(int(s.size), lanes_, i64(column), i64(rest));
      }
      if (rest && !masks) emit_for(b_, i64(rest), [&](V i) { call(1, 1, b_.CreateAdd(i, i64(whole * lanes_)), nullptr); });
      return;
    }
    const int64_t width = int64_t(vectors_) * lanes_;
    V wide = b_.CreateMul(b_.CreateUDiv(p_.n, i64(width)), i64(width)), whole = b_.CreateMul(b_.CreateUDiv(p_.n, i64(lanes_)), i64(lanes_));
    emit_for(b_, wide, i64(width), [&](V i) { call(vectors_, lanes_, i, nullptr); });
    if (vectors_ > 1) emit_for(b_, b_.CreateSub(whole, wide), i64(lanes_), [&](V i) { call(1, lanes_, b_.CreateAdd(wide, i), nullptr); });
    V rest = b_.CreateSub(p_.n, whole);
    if (masks) emit_when(b_, b_.CreateICmpNE(rest, i64(0)), [&] { call(1, lanes_, whole, rest); });
    else emit_for(b_, rest, [&](V i) { call(1, 1, b_.CreateAdd(whole, i), nullptr); });
  }

  Kernel kernel(int rows, int vectors, int lanes, bool masked, bool accumulate, V k) const {
    Kernel key;
    key.element = p_.element;
    key.rows = rows, key.vectors = vectors, key.lanes = lanes;
    key.masked = masked;
    key.columns = a_columns_;
    key.outer = p_.outer != nullptr;
    key.accumulate = accumulate;
    const int64_t kn = constant_or(k, -1), stride = constant_or(a_stride_, -1);
    // Short sums, as first convolutions have them, are all prologue and epilogue unless written out.
    if (!key.columns && kn >= 0 && kn <= (key.outer ? 16 : 4) && rows * vectors * kn <= 320) key.k = kn;
    if (key.k >= 0 && stride <= 64) key.a_stride = stride;
    else if (rows > 1 && rows * vectors >= 4) key.accumulate = true;  // whether it does costs such a tile nothing; one kernel for both
    return key;
  }
  void call(int rows, int vectors, int lanes, V tiles, V a, V b, V c, V k, V accumulate, V column, V last) {
    const Kernel key = kernel(rows, vectors, lanes, last != nullptr, accumulate != nullptr, k);
    V no = i64(0), panel = at(b, column), b_stride = p_.b_stride;
    if (pack_) {
      auto* pack = pack_function(*b_.GetInsertBlock()->getModule(), t_, key);
      b_.CreateCall(pack, {panel, pack_, p_.b_stride, k, last ? last : no});
      panel = pack_, b_stride = i64(int64_t(vectors) * lanes);
    }
    std::vector<V> args(kArguments, no);
    args[kA] = a, args[kB] = panel, args[kC] = at(c, column);
    args[kTiles] = tiles, args[kAStride] = a_stride_, args[kBStride] = b_stride, args[kCStride] = p_.c_stride, args[kK] = k;
    args[kOuter] = p_.outer ? p_.outer : i64(1), args[kAOuter] = p_.a_outer ? p_.a_outer : no;
    args[kLast] = last ? last : no, args[kAccumulate] = accumulate ? accumulate : b_.getFalse();
    b_.CreateCall(kernel_function(*b_.GetInsertBlock()->getModule(), t_, key), args);
  }

  Builder& b_;
  const Target& t_;
  const Product& p_;
  int lanes_ = 1, vectors_ = 1, rows_ = 1;
  int64_t m_, n_, k_;
  bool a_columns_ = false;  // as the kernel finds A: in place, or packed
  V a_stride_ = nullptr, pack_ = nullptr, pack_a_ = nullptr;
};

// ---- turning round

// `size` rows of as many elements, transposed in registers: elements change places with those `half` away, for each power of two.
void transpose_block(Builder& b, std::vector<V>& rows) {
  const int size = int(rows.size());
  for (int half = size / 2; half >= 1; half /= 2) {
    llvm::SmallVector<int, 16> low, high;
    for (int j = 0; j < size; ++j) low.push_back(j & half ? size + j - half : j), high.push_back(j & half ? size + j : j + half);
    for (int i = 0; i < size; ++i) {
      if (i & half) continue;
      V x = rows[size_t(i)], y = rows[size_t(i + half)];
      rows[size_t(i)] = b.CreateShuffleVector(x, y, low);
      rows[size_t(i + half)] = b.CreateShuffleVector(x, y, high);
    }
  }
}

llvm::Function* transpose_function(llvm::Module& m, const Target& target, llvm::Type* element) {
  std::string name = "transpose_";
  llvm::raw_string_ostream(name) << *element;
  if (auto* f = m.getFunction(name)) return f;
  auto& c = m.getContext();
  llvm::Type *p = llvm::PointerType::getUnqual(c), *i = llvm::Type::getInt64Ty(c);
  auto* f = internal_function(m, name, llvm::FunctionType::get(llvm::Type::getVoidTy(c), {p, p, i, i, i, i}, false), 1, 1, target);
  V from = f->getArg(0), to = f->getArg(1), from_stride = f->getArg(2), to_stride = f->getArg(3), rows = f->getArg(4), columns = f->getArg(5);
  Builder b(llvm::BasicBlock::Create(c, "", f));
  const unsigned bytes = element->getScalarSizeInBits() / 8;
  const unsigned size = std::max(2u, unsigned(std::min(target.vector_bytes, 32)) / std::max(bytes, 4u));
  auto* vector = llvm::FixedVectorType::get(element, size);
  const llvm::Align align(bytes);
  const auto place = [&](V base, V row, V stride, V column) { return b.CreateGEP(element, base, b.CreateAdd(b.CreateMul(row, stride), column)); };
  const auto one = [&](V row, V column) {
    b.CreateAlignedStore(b.CreateAlignedLoad(element, place(from, row, from_stride, column), align), place(to, column, to_stride, row), align);
  };
  V n = b.getInt64(size);
  V whole_rows = b.CreateMul(b.CreateUDiv(rows, n), n), whole_columns = b.CreateMul(b.CreateUDiv(columns, n), n);
  emit_for(b, whole_rows, n, [&](V row) {
    emit_for(b, whole_columns, n, [&](V column) {
      std::vector<V> block;
      for (unsigned r = 0; r < size; ++r)
        block.push_back(b.CreateAlignedLoad(vector, place(from, b.CreateAdd(row, b.getInt64(r)), from_stride, column), align));
      transpose_block(b, block);
      for (unsigned r = 0; r < size; ++r) b.CreateAlignedStore(block[r], place(to, b.CreateAdd(column, b.getInt64(r)), to_stride, row), align);
    });
    emit_for(b, b.CreateSub(columns, whole_columns), [&](V column) {
      for (unsigned r = 0; r < size; ++r) one(b.CreateAdd(row, b.getInt64(r)), b.CreateAdd(whole_columns, column));
    });
  });
  emit_for(b, b.CreateSub(rows, whole_rows), [&](V row) { emit_for(b, columns, [&](V column) { one(b.CreateAdd(whole_rows, row), column); }); });
  b.CreateRetVoid();
  return f;
}

// ---- both with contiguous k

llvm::Function* rows_function(llvm::Module& m, const Target& target, llvm::Type* element, int columns) {
  std::string name = core::cat("gemm_rows_", columns, "_");
  llvm::raw_string_ostream(name) << *element;
  if (auto* f = m.getFunction(name)) return f;
  auto& c = m.getContext();
  llvm::Type *p = llvm::PointerType::getUnqual(c), *i = llvm::Type::getInt64Ty(c);
  // a row of A, `columns` rows of B that far apart, k, where the sums go.
  auto* f = internal_function(m, name, llvm::FunctionType::get(llvm::Type::getVoidTy(c), {p, p, p, i, i}, false), 2, 1, target);
  V a = f->getArg(0), rows = f->getArg(1), to = f->getArg(2), stride = f->getArg(3), k = f->getArg(4);
  auto* entry = llvm::BasicBlock::Create(c, "", f);
  Builder b(entry);
  const unsigned bytes = element->getScalarSizeInBits() / 8;
  const unsigned lanes = unsigned(target.lanes(int(bytes)));
  llvm::Type* vector = llvm::FixedVectorType::get(element, lanes);
  const llvm::Align align(bytes);
  const bool is_float = element->isFloatingPointTy();
  const auto multiply_add = [&](llvm::Type* type, V x, V y, V sum) -> V {
    if (!is_float) return b.CreateAdd(b.CreateMul(x, y), sum);
    if (target.fma) return b.CreateIntrinsic(llvm::Intrinsic::fma, {type}, {x, y, sum});
    return b.CreateFAdd(b.CreateFMul(x, y), sum);
  };
  // One loop over k, in vectors or elements.
  const auto run = [&](llvm::Type* type, V begin, V end, unsigned step, std::vector<V> sums) {
    auto* before = b.GetInsertBlock();
    auto *body = llvm::BasicBlock::Create(c, "k", f), *after = llvm::BasicBlock::Create(c, "after", f);
    b.CreateCondBr(b.CreateICmpULT(begin, end), body, after);
    b.SetInsertPoint(body);
    auto* at = b.CreatePHI(i, 2);
    at->addIncoming(begin, before);
    std::vector<V> next;
    std::vector<llvm::PHINode*> phis;
    for (V s : sums) phis.push_back(b.CreatePHI(type, 2)), phis.back()->addIncoming(s, before);
    V x = b.CreateAlignedLoad(type, b.CreateGEP(element, a, at), align);
    for (size_t n = 0; n < sums.size(); ++n) {
      V row = b.CreateGEP(element, rows, b.CreateMul(stride, b.getInt64(n)));
      next.push_back(multiply_add(type, x, b.CreateAlignedLoad(type, b.CreateGEP(element, row, at), align), phis[n]));
      phis[n]->addIncoming(next.back(), body);
    }
    V then = b.CreateAdd(at, b.getInt64(step));
    at->addIncoming(then, body);
    b.CreateCondBr(b.CreateICmpULT(then, end), body, after);
    b.SetInsertPoint(after);
    for (size_t n = 0; n < sums.size(); ++n) {
      auto* s = b.CreatePHI(type, 2);
      s->addIncoming(sums[n], before);
      s->addIncoming(next[n], body);
      sums[n] = s;
    }
    return sums;
  };
  V whole = b.CreateMul(b.CreateUDiv(k, b.getInt64(lanes)), b.getInt64(lanes));
  std::vector<V> sums = run(vector, b.getInt64(0), whole, lanes, std::vector<V>(size_t(columns), llvm::Constant::getNullValue(vector)));
  for (V& s : sums) {
    if (!is_float) {
      s = b.CreateAddReduce(s);
      continue;
    }
    auto* sum = b.CreateFAddReduce(llvm::ConstantFP::getNegativeZero(element), s);
    sum->setHasAllowReassoc(true);
    s = sum;
  }
  sums = run(element, whole, k, 1, std::move(sums));
  for (size_t n = 0; n < sums.size(); ++n) b.CreateAlignedStore(sums[n], b.CreateGEP(element, to, b.getInt64(n)), align);
  b.CreateRetVoid();
  return f;
}

}  // namespace

llvm::Function* internal_function(llvm::Module& m, const std::string& name, llvm::FunctionType* type, int reads, int writes, const Target& target) {
  auto* f = llvm::Function::Create(type, llvm::GlobalValue::InternalLinkage, name, m);
  f->addFnAttr(llvm::Attribute::NoInline);
  f->addFnAttr(llvm::Attribute::NoUnwind);
  if (target.vector_bytes == 64) {
    // Processors that would rather not use the widest registers split vectors unless told.
    f->addFnAttr("prefer-vector-width", "512");
    f->addFnAttr("min-legal-vector-width", "512");
  }
  for (int i = 0; i < reads + writes; ++i) {
    f->addParamAttr(unsigned(i), llvm::Attribute::NoAlias);
    f->addParamAttr(unsigned(i), llvm::Attribute::NoCapture);
    if (i < reads) f->addParamAttr(unsigned(i), llvm::Attribute::ReadOnly);
  }
  return f;
}

void emit_for(Builder& b, V end, V step, const std::function<void(V)>& body) {
  auto* f = b.GetInsertBlock()->getParent();
  auto& c = b.getContext();
  auto *before = b.GetInsertBlock(), *head = llvm::BasicBlock::Create(c, "for", f), *after = llvm::BasicBlock::Create(c, "next", f);
  b.CreateCondBr(b.CreateICmpSGT(end, b.getInt64(0)), head, after);
  b.SetInsertPoint(head);
  auto* i = b.CreatePHI(b.getInt64Ty(), 2);
  i->addIncoming(b.getInt64(0), before);
  body(i);
  V next = b.CreateAdd(i, step);
  i->addIncoming(next, b.GetInsertBlock());
  auto* again = b.CreateCondBr(b.CreateICmpSLT(next, end), head, after);
  // What is in these loops are calls, or written out as far as it is good.
  auto* once = llvm::MDNode::get(c, llvm::MDString::get(c, "llvm.loop.unroll.disable"));
  auto* loop = llvm::MDNode::getDistinct(c, {nullptr, once});
  loop->replaceOperandWith(0, loop);
  again->setMetadata(llvm::LLVMContext::MD_loop, loop);
  b.SetInsertPoint(after);
}

void emit_for(Builder& b, V end, const std::function<void(V)>& body) { emit_for(b, end, b.getInt64(1), body); }

void emit_when(Builder& b, V condition, const std::function<void()>& then) {
  auto* f = b.GetInsertBlock()->getParent();
  auto *yes = llvm::BasicBlock::Create(b.getContext(), "when", f), *after = llvm::BasicBlock::Create(b.getContext(), "then", f);
  b.CreateCondBr(condition, yes, after);
  b.SetInsertPoint(yes);
  then();
  b.CreateBr(after);
  b.SetInsertPoint(after);
}

void emit_product(Builder& b, const Target& target, const Product& p) { ProductWriter(b, target, p).write(); }

void emit_transpose(Builder& b, const Target& target, llvm::Type* element, V from, V from_stride, V to, V to_stride, V rows, V columns) {
  b.CreateCall(transpose_function(*b.GetInsertBlock()->getModule(), target, element), {from, to, from_stride, to_stride, rows, columns});
}

void emit_product_rows(Builder& b, const Target& target, const Product& p) {
  constexpr int kTogether = 8;
  auto& m = *b.GetInsertBlock()->getModule();
  const auto at = [&](V pointer, V elements) { return b.CreateGEP(p.element, pointer, elements); };
  V whole = b.CreateMul(b.CreateUDiv(p.n, b.getInt64(kTogether)), b.getInt64(kTogether));
  emit_for(b, p.m, [&](V row) {
    V a = at(p.a, b.CreateMul(row, p.a_stride)), c = at(p.c, b.CreateMul(row, p.c_stride));
    const auto call = [&](int columns, V n) {
      b.CreateCall(rows_function(m, target, p.element, columns), {a, at(p.b, b.CreateMul(n, p.b_stride)), at(c, n), p.b_stride, p.k});
    };
    emit_for(b, whole, b.getInt64(kTogether), [&](V n) { call(kTogether, n); });
    emit_for(b, b.CreateSub(p.n, whole), [&](V n) { call(1, b.CreateAdd(whole, n)); });
  });
}

}  // namespace weft_engine::compiler
