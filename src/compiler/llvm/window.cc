// Pooling: reductions over windows, and where the gradient of the largest goes. Channels run in vectors.
#include "compiler/llvm/gemm_kernel.h"

namespace weft_engine::compiler {
namespace {

using V = llvm::Value*;
constexpr int kSpatial = 3;  // fewer dimensions get leading ones of size 1

class Windows {
 public:
  Windows(CodeEmitter& e, const ir::Instr* i, const ir::Type& out) : e_(e), b_(e.b), i_(i) {
    const ir::Type& x = i->operand(0).type;
    const ir::Window& w = i->window;
    dtype_ = x.dtype;
    const int first = kSpatial - int(w.size.size());
    for (int d = 0; d < kSpatial; ++d) {
      const bool real = d >= first;
      const size_t s = size_t(real ? d - first : 0);
      size_[d] = real ? w.size[s] : 1;
      stride_[d] = real ? w.stride[s] : 1;
      dilation_[d] = real && !w.dilation.empty() ? w.dilation[s] : 1;
      low_[d] = real ? w.low[s] : ir::Dim(0);
      in_[d] = real ? x.dims[s + 1] : ir::Dim(1);
      out_[d] = real ? out.dims[s + 1] : ir::Dim(1);
      clipped_[d] = real && !(w.low[s].is(0) && w.high[s].is(0));
      if (real && !w.base_dilation.empty() && w.base_dilation[s] != 1) holes_ = true;
    }
    batch_ = x.dims[0];
    channels_ = x.dims.back();
    narrow_ = dtype_ == core::DType::kHalf || dtype_ == core::DType::kBfloat16 || dtype_ == core::DType::kBool;
  }

  core::Status reduce() {
    WEFT_RETURN_IF_ERROR(check());
    V x = e_.pointer(&i_->operand(0)), y = e_.pointer(i_);
    each_window([&](V image, V place) {
      V count = i_->reduce == ir::Reduce::kMean ? taps_inside() : nullptr;
      each_channels([&](V c, int lanes) {
        V acc = over_taps({splat(start(), lanes)}, [&](V, V offset, const std::vector<V>& so_far) {
          return std::vector<V>{combine(so_far[0], load(x, b_.CreateAdd(image, b_.CreateAdd(offset, c)), lanes))};
        })[0];
        if (count) acc = mean(acc, count, lanes);
        store(acc, y, b_.CreateAdd(place, c), lanes);
      });
    });
    return core::Status();
  }

  core::Status max_gradient() {
    WEFT_RETURN_IF_ERROR(check());
    V x = e_.pointer(&i_->operand(0)), dy = e_.pointer(&i_->operand(1)), dx = e_.pointer(i_);
    // Windows side by side that cover everything store what they find; else they add to zeros.
    bool apart = true;
    for (int d = 0; d < kSpatial; ++d) apart = apart && !clipped_[d] && stride_[d] == size_[d] && dilation_[d] == 1 && out_[d] * stride_[d] == in_[d];
    if (!apart) {
      const auto [begin, end] = e_.share(e_.dim(batch_));
      V image = e_.dim(in_[0] * in_[1] * in_[2] * channels_ * int64_t(core::dtype_size(dtype_)));
      V first = b_.CreateGEP(b_.getInt8Ty(), dx, b_.CreateMul(begin, image));
      b_.CreateMemSet(first, b_.getInt8(0), b_.CreateMul(b_.CreateSub(end, begin), image), llvm::MaybeAlign());
    }
    each_window([&](V image, V place) {
      each_channels([&](V c, int lanes) {
        V none = splat(b_.getInt32(~0u), lanes);
        const std::vector<V> best = over_taps({splat(start(), lanes), none}, [&](V tap, V offset, const std::vector<V>& so_far) {
          V value = load(x, b_.CreateAdd(image, b_.CreateAdd(offset, c)), lanes);
          V wins = b_.CreateOr(greater(value, so_far[0]), b_.CreateICmpEQ(so_far[1], none));
          return std::vector<V>{b_.CreateSelect(wins, value, so_far[0]),
                                b_.CreateSelect(wins, splat(b_.CreateTrunc(tap, b_.getInt32Ty()), lanes), so_far[1])};
        });
        V gradient = load(dy, b_.CreateAdd(place, c), lanes);
        over_taps({}, [&](V tap, V offset, const std::vector<V>&) {
          V at = b_.CreateAdd(image, b_.CreateAdd(offset, c));
          V mine = b_.CreateICmpEQ(best[1], splat(b_.CreateTrunc(tap, b_.getInt32Ty()), lanes));
          V part = b_.CreateSelect(mine, gradient, llvm::Constant::getNullValue(gradient->getType()));
          if (!apart) {
            V before = load(dx, at, lanes);
            part = is_float(before) ? b_.CreateFAdd(before, part) : b_.CreateAdd(before, part);
          }
          store(part, dx, at, lanes);
          return std::vector<V>();
        });
      });
    });
    return core::Status();
  }

 private:
  V i64(int64_t n) { return b_.getInt64(uint64_t(n)); }
  static bool is_float(V v) { return v->getType()->isFPOrFPVectorTy(); }
  V splat(V x, int lanes) { return lanes == 1 ? x : b_.CreateVectorSplat(unsigned(lanes), x); }

  core::Status check() {
    if (holes_) return of_instr(core::unimplemented("a window over an input with holes"), i_);
    for (const ir::Instr* o : i_->operands)
      if (e_.plan.buffer_of(o) < 0) return core::internal_error("a window's operand has no memory");
    return core::Status();
  }

  // What a window with nothing in it gives: of floats the least number, not -inf.
  V start() {
    llvm::Type* type = e_.value_type(dtype_);
    const bool max = i_->op == ir::Op::kMaxPoolGrad || i_->reduce == ir::Reduce::kMax;
    if (type->isFloatingPointTy() && (max || i_->reduce == ir::Reduce::kMin)) {
      const llvm::fltSemantics& s = dtype_ == core::DType::kHalf       ? llvm::APFloat::IEEEhalf()
                                    : dtype_ == core::DType::kBfloat16 ? llvm::APFloat::BFloat()
                                                                       : type->getFltSemantics();
      llvm::APFloat v = llvm::APFloat::getLargest(s, max);
      bool inexact = false;
      v.convert(type->getFltSemantics(), llvm::APFloat::rmNearestTiesToEven, &inexact);
      return llvm::ConstantFP::get(type, v);
    }
    return e_.identity(i_->op == ir::Op::kMaxPoolGrad ? ir::Reduce::kMax : i_->reduce, dtype_);
  }
  bool is_unsigned() const {
    using core::DType;
    return dtype_ == DType::kUint8 || dtype_ == DType::kUint16 || dtype_ == DType::kUint32 || dtype_ == DType::kUint64 || dtype_ == DType::kBool;
  }
  V greater(V a, V c) { return is_float(a) ? b_.CreateFCmpOGT(a, c) : is_unsigned() ? b_.CreateICmpUGT(a, c) : b_.CreateICmpSGT(a, c); }
  V combine(V so_far, V x) {
    // A NaN never wins over a number.
    if (i_->reduce == ir::Reduce::kMax) return b_.CreateSelect(greater(x, so_far), x, so_far);
    if (i_->reduce == ir::Reduce::kMin) return b_.CreateSelect(greater(so_far, x), x, so_far);
    if (is_float(x) && i_->reduce == ir::Reduce::kProd) return b_.CreateFMul(so_far, x);
    if (is_float(x)) return b_.CreateFAdd(so_far, x);
    return e_.combine(i_->reduce, dtype_, so_far, x);
  }
  V mean(V sum, V count, int lanes) {
    llvm::Type* type = sum->getType()->getScalarType();
    if (!type->isFloatingPointTy()) return b_.CreateSDiv(sum, splat(b_.CreateTrunc(count, type), lanes));
    V scale = b_.CreateFDiv(llvm::ConstantFP::get(type, 1.0), b_.CreateSIToFP(count, type));
    return b_.CreateFMul(sum, splat(scale, lanes));
  }

  V load(V pointer, V offset, int lanes) {
    if (lanes == 1) return e_.load(dtype_, pointer, offset);
    llvm::Type* t = e_.type(dtype_);
    return b_.CreateAlignedLoad(llvm::FixedVectorType::get(t, unsigned(lanes)), b_.CreateGEP(t, pointer, offset),
                                llvm::Align(core::dtype_size(dtype_)));
  }
  void store(V value, V pointer, V offset, int lanes) {
    if (lanes == 1) return e_.store(dtype_, value, pointer, offset);
    b_.CreateAlignedStore(value, b_.CreateGEP(e_.type(dtype_), pointer, offset), llvm::Align(core::dtype_size(dtype_)));
  }

  // body(offset of the window's first place in x, offset of the output) for each output pixel. The first place may be outside.
  void each_window(const std::function<void(V image, V place)>& body) {
    const auto [begin, end] = e_.share(e_.dim(batch_));
    emit_for(b_, b_.CreateSub(end, begin), [&, begin = begin](V k) {
      V n = b_.CreateAdd(begin, k);
      emit_for(b_, e_.dim(out_[0]), [&](V depth) {
        emit_for(b_, e_.dim(out_[1]), [&](V row) {
          emit_for(b_, e_.dim(out_[2]), [&](V column) {
            V out = n, in = n;
            const V at[] = {depth, row, column};
            for (int d = 0; d < kSpatial; ++d) {
              out = b_.CreateAdd(b_.CreateMul(out, e_.dim(out_[d])), at[d]);
              origin_[d] = b_.CreateSub(b_.CreateMul(at[d], i64(stride_[d])), e_.dim(low_[d]));
              in = b_.CreateAdd(b_.CreateMul(in, e_.dim(in_[d])), origin_[d]);
              if (clipped_[d]) bounds(d);
              else begin_[d] = i64(0), end_[d] = i64(size_[d]);
            }
            body(b_.CreateMul(in, e_.dim(channels_)), b_.CreateMul(out, e_.dim(channels_)));
          });
        });
      });
    });
  }
  // The taps that are inside: begin = ceil(-origin / dilation), end = ceil((in - origin) / dilation), both in [0, size].
  void bounds(int d) {
    const auto up = [&](V x) {
      x = b_.CreateBinaryIntrinsic(llvm::Intrinsic::smax, x, i64(0));
      if (dilation_[d] != 1) x = b_.CreateUDiv(b_.CreateAdd(x, i64(dilation_[d] - 1)), i64(dilation_[d]));
      return b_.CreateBinaryIntrinsic(llvm::Intrinsic::smin, x, i64(size_[d]));
    };
    begin_[d] = up(b_.CreateNeg(origin_[d]));
    end_[d] = up(b_.CreateSub(e_.dim(in_[d]), origin_[d]));
  }
  V taps_inside() {
    V n = i64(1);
    for (int d = 0; d < kSpatial; ++d) n = b_.CreateMul(n, b_.CreateBinaryIntrinsic(llvm::Intrinsic::smax, b_.CreateSub(end_[d], begin_[d]), i64(0)));
    return b_.CreateBinaryIntrinsic(llvm::Intrinsic::smax, n, i64(1));
  }

  void each_channels(const std::function<void(V channel, int lanes)>& body) {
    const int lanes = narrow_ ? 1 : e_.target.lanes(int(core::dtype_size(dtype_)));
    V all = e_.dim(channels_), whole = e_.dim(lanes == 1 ? ir::Dim(0) : floor_div(channels_, lanes) * lanes);
    if (lanes > 1) emit_for(b_, whole, i64(lanes), [&](V c) { body(c, lanes); });
    emit_for(b_, b_.CreateSub(all, whole), [&](V c) { body(b_.CreateAdd(whole, c), 1); });
  }

  // body(number of the tap, its offset from the window's first place, values so far) for the taps that are inside.
  std::vector<V> over_taps(std::vector<V> values, const std::function<std::vector<V>(V, V, const std::vector<V>&)>& body) {
    const auto tap = [&](V d, V h, V w) { return b_.CreateAdd(b_.CreateMul(b_.CreateAdd(b_.CreateMul(d, i64(size_[1])), h), i64(size_[2])), w); };
    const auto offset = [&](V d, V h, V w) {
      V row = b_.CreateAdd(b_.CreateMul(b_.CreateMul(d, i64(dilation_[0])), e_.dim(in_[1])), b_.CreateMul(h, i64(dilation_[1])));
      return b_.CreateMul(b_.CreateAdd(b_.CreateMul(row, e_.dim(in_[2])), b_.CreateMul(w, i64(dilation_[2]))), e_.dim(channels_));
    };
    const int64_t taps = size_[0] * size_[1] * size_[2];
    if (!clipped_[0] && !clipped_[1] && !clipped_[2] && taps <= 16) {
      for (int64_t t = 0; t < taps; ++t) {
        V d = i64(t / (size_[1] * size_[2])), h = i64(t / size_[2] % size_[1]), w = i64(t % size_[2]);
        values = body(i64(t), offset(d, h, w), values);
      }
      return values;
    }
    return e_.loop(begin_[0], end_[0], i64(1), values, false, [&](V d, const std::vector<V>& v0) {
      return e_.loop(begin_[1], end_[1], i64(1), v0, false, [&](V h, const std::vector<V>& v1) {
        return e_.loop(begin_[2], end_[2], i64(1), v1, false, [&](V w, const std::vector<V>& v2) { return body(tap(d, h, w), offset(d, h, w), v2); });
      });
    });
  }

  CodeEmitter& e_;
  llvm::IRBuilder<>& b_;
  const ir::Instr* i_;
  core::DType dtype_;
  bool narrow_ = false, holes_ = false;
  int64_t size_[kSpatial], stride_[kSpatial], dilation_[kSpatial];
  ir::Dim low_[kSpatial], in_[kSpatial], out_[kSpatial], batch_, channels_;
  bool clipped_[kSpatial];
  V origin_[kSpatial], begin_[kSpatial], end_[kSpatial];
};

}  // namespace

core::Status CodeEmitter::emit_window(const ir::Instr* i) { return Windows(*this, i, i->type).reduce(); }
core::Status CodeEmitter::emit_max_pool_grad(const ir::Instr* i) { return Windows(*this, i, i->operand(1).type).max_gradient(); }

}  // namespace weft_engine::compiler
