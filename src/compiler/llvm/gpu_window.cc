// Windows as folds: pooling and its gradients, and convolutions where no library does them.
#include <algorithm>

#include "compiler/llvm/gpu_emitter.h"

namespace weft_engine::compiler {
namespace {

using V = llvm::Value*;
using Index = CodeEmitter::Index;

// Where the places of a window are.
struct Taps {
  CodeEmitter& e;
  const ir::Window& w;
  std::vector<ir::Dim> in, out, size;  // spatial

  Taps(CodeEmitter& emitter, const ir::Window& window, const ir::Type& x, const ir::Type& y) : e(emitter), w(window) {
    for (size_t d = 0; d < w.size.size(); ++d) {
      in.push_back(x.dims[d + 1]);
      out.push_back(y.dims[d + 1]);
      size.push_back(w.size[d]);
    }
  }
  int64_t stride(size_t d) const { return w.stride.empty() ? 1 : w.stride[d]; }
  int64_t dilation(size_t d) const { return w.dilation.empty() ? 1 : w.dilation[d]; }
  int64_t holes(size_t d) const { return w.base_dilation.empty() ? 1 : w.base_dilation[d]; }
  // The input's place under tap `tap` of the window at `at`, and whether there is one. Places are inside in any case.
  std::pair<Index, V> input(const Index& at, const Index& tap) const {
    auto& b = e.b;
    Index place;
    V good = b.getTrue();
    for (size_t d = 0; d < at.size(); ++d) {
      V p = b.CreateSub(b.CreateAdd(b.CreateMul(at[d], e.i64(stride(d))), b.CreateMul(tap[d], e.i64(dilation(d)))), e.dim(w.low[d]));
      V n = e.dim(in[d]);
      if (holes(d) != 1) {
        V held = b.CreateBinaryIntrinsic(llvm::Intrinsic::smax, p, e.i64(0));
        good = b.CreateAnd(good, b.CreateAnd(b.CreateICmpSGE(p, e.i64(0)), b.CreateICmpEQ(b.CreateURem(held, e.i64(holes(d))), e.i64(0))));
        p = b.CreateUDiv(held, e.i64(holes(d)));
      }
      good = b.CreateAnd(good, b.CreateICmpULT(p, n));
      place.push_back(inside(p, n));
    }
    return {place, good};
  }
  // The window of which tap `tap` lies on the input's `place`.
  std::pair<Index, V> window(const Index& place, const Index& tap) const {
    auto& b = e.b;
    Index at;
    V good = b.getTrue();
    for (size_t d = 0; d < place.size(); ++d) {
      V p = b.CreateSub(b.CreateAdd(place[d], e.dim(w.low[d])), b.CreateMul(tap[d], e.i64(dilation(d))));
      V held = b.CreateBinaryIntrinsic(llvm::Intrinsic::smax, p, e.i64(0)), n = e.dim(out[d]);
      good = b.CreateAnd(good, b.CreateAnd(b.CreateICmpSGE(p, e.i64(0)), b.CreateICmpEQ(b.CreateURem(held, e.i64(stride(d))), e.i64(0))));
      V q = b.CreateUDiv(held, e.i64(stride(d)));
      good = b.CreateAnd(good, b.CreateICmpULT(q, n));
      at.push_back(inside(q, n));
    }
    return {at, good};
  }
  V inside(V p, V n) const {
    auto& b = e.b;
    return b.CreateBinaryIntrinsic(llvm::Intrinsic::smax, b.CreateBinaryIntrinsic(llvm::Intrinsic::smin, p, b.CreateSub(n, e.i64(1))), e.i64(0));
  }
  // The offset in the filter of tap r = [tap..., channel] for a feature, in whichever way the filter is stored.
  V filter_place(ir::FilterForm form, V r, const Index& tap, const ir::Dim& channels, const ir::Dim& features, V feature) const {
    auto& b = e.b;
    if (form == ir::FilterForm::kPlain) return b.CreateAdd(b.CreateMul(r, e.dim(features)), feature);
    const ir::Dim all = ir::product(size);
    if (form == ir::FilterForm::kOutputChannelsFirst) return b.CreateAdd(b.CreateMul(feature, e.dim(all * channels)), r);
    V back = e.i64(0);  // the tap, reversed
    for (size_t d = 0; d < size.size(); ++d) back = b.CreateAdd(b.CreateMul(back, e.dim(size[d])), b.CreateSub(e.dim(size[d] - ir::Dim(1)), tap[d]));
    return b.CreateAdd(b.CreateMul(b.CreateAdd(b.CreateMul(tap.back(), e.dim(all)), back), e.dim(features)), feature);
  }
  // The offset of [image, place..., channel].
  V offset(V image, const std::vector<ir::Dim>& sizes, const Index& place, const ir::Dim& channels, V channel) const {
    auto& b = e.b;
    V n = image;
    for (size_t d = 0; d < place.size(); ++d) n = b.CreateAdd(b.CreateMul(n, e.dim(sizes[d])), place[d]);
    return b.CreateAdd(b.CreateMul(n, e.dim(channels)), channel);
  }
};

bool is_unsigned(core::DType t) {
  using core::DType;
  return t == DType::kUint8 || t == DType::kUint16 || t == DType::kUint32 || t == DType::kUint64 || t == DType::kBool;
}

// What a window with nothing in it gives: of floats the least number, not -inf.
V start_of(CodeEmitter& e, core::DType t, bool max, bool min, ir::Reduce r) {
  llvm::Type* type = e.value_type(t);
  if (!type->isFloatingPointTy() || !(max || min)) return e.identity(max ? ir::Reduce::kMax : r, t);
  const llvm::fltSemantics& s = t == core::DType::kHalf       ? llvm::APFloat::IEEEhalf()
                                : t == core::DType::kBfloat16 ? llvm::APFloat::BFloat()
                                                              : type->getFltSemantics();
  llvm::APFloat v = llvm::APFloat::getLargest(s, max);
  bool inexact = false;
  v.convert(type->getFltSemantics(), llvm::APFloat::rmNearestTiesToEven, &inexact);
  return llvm::ConstantFP::get(type, v);
}

V greater(CodeEmitter& e, core::DType t, V a, V c) {
  if (a->getType()->isFloatingPointTy()) return e.b.CreateFCmpOGT(a, c);
  return is_unsigned(t) ? e.b.CreateICmpUGT(a, c) : e.b.CreateICmpSGT(a, c);
}

std::vector<ir::Dim> dims_of(const ir::Type& t) { return t.dims; }

}  // namespace

core::Status GpuEmitter::window(const ir::Instr* i) {
  const ir::Instr* x = i->operands[0];
  const core::DType t = x->type.dtype;
  const Taps taps(e, i->window, x->type, i->type);
  for (size_t d = 0; d < taps.in.size(); ++d) {
    if (taps.holes(d) != 1) return of_instr(core::unimplemented("a window over an input with holes"), i);
  }
  const bool mean = i->reduce == ir::Reduce::kMean, max = i->reduce == ir::Reduce::kMax, min = i->reduce == ir::Reduce::kMin;
  const ir::Dim channels = x->type.dims.back();
  const auto spatial = [](const Index& index) { return Index(index.begin() + 1, index.end() - 1); };
  Fold f;
  f.what = "window", f.instr = i, f.kept = i->type.elements(), f.rows = false;
  f.reduced = x->type.elements().is(0) ? ir::Dim(0) : ir::product(taps.size);  // of an input without elements nothing may be read
  f.types = {carried(t), core::DType::kInt64};
  f.start = [&](V) {
    std::vector<V> v{start_of(e, t, max, min, i->reduce)};
    if (mean) v.push_back(e.i64(0));
    return v;
  };
  f.step = [&](V k, V r, const std::vector<V>& v) {
    const Index at = e.places(k, i->type.dims), tap = e.places(r, taps.size);
    const auto [place, good] = taps.input(spatial(at), tap);
    V y = e.load(t, e.pointer(x), taps.offset(at[0], taps.in, place, channels, at.back()));
    V next = nullptr;
    // A NaN never wins over a number.
    if (max) next = b.CreateSelect(greater(e, t, y, v[0]), y, v[0]);
    else if (min) next = b.CreateSelect(greater(e, t, v[0], y), y, v[0]);
    else next = e.combine(i->reduce, t, v[0], y);
    std::vector<V> result{b.CreateSelect(good, next, v[0])};
    if (mean) result.push_back(b.CreateAdd(v[1], b.CreateZExt(good, b.getInt64Ty())));
    return result;
  };
  f.finish = [&](V k, const std::vector<V>& v) {
    V y = v[0];
    if (mean) {
      V n = b.CreateBinaryIntrinsic(llvm::Intrinsic::smax, v[1], e.i64(1));
      llvm::Type* type = y->getType();
      if (!type->isFloatingPointTy()) y = b.CreateSDiv(y, b.CreateTrunc(n, type));
      else y = b.CreateFMul(y, b.CreateFDiv(llvm::ConstantFP::get(type, 1.0), b.CreateSIToFP(n, type)));
    }
    e.store(t, y, e.pointer(i), k);
  };
  return fold_by_thread(f);
}

// First which tap each window takes, then for every place of x what the windows over it give: no two threads write to one place.
core::Status GpuEmitter::max_pool_grad(const ir::Instr* i) {
  const ir::Instr *x = i->operands[0], *dy = i->operands[1];
  const core::DType t = x->type.dtype;
  const Taps taps(e, i->window, x->type, dy->type);
  for (size_t d = 0; d < taps.in.size(); ++d) {
    if (taps.holes(d) != 1) return of_instr(core::unimplemented("a window over an input with holes"), i);
  }
  const ir::Dim channels = x->type.dims.back(), chosen = reserve(dy->type.elements() * 4);
  const auto spatial = [](const Index& index) { return Index(index.begin() + 1, index.end() - 1); };
  Fold first;
  first.what = "max_pool_choice", first.instr = i, first.kept = dy->type.elements();
  first.reduced = x->type.elements().is(0) ? ir::Dim(0) : ir::product(taps.size);
  first.start = [&](V) { return std::vector<V>{start_of(e, t, true, false, ir::Reduce::kMax), b.getInt32(~0u)}; };
  first.step = [&](V k, V r, const std::vector<V>& v) {
    const Index at = e.places(k, dy->type.dims), tap = e.places(r, taps.size);
    const auto [place, good] = taps.input(spatial(at), tap);
    V y = e.load(t, e.pointer(x), taps.offset(at[0], taps.in, place, channels, at.back()));
    V wins = b.CreateAnd(good, b.CreateOr(greater(e, t, y, v[0]), b.CreateICmpEQ(v[1], b.getInt32(~0u))));
    return std::vector<V>{b.CreateSelect(wins, y, v[0]), b.CreateSelect(wins, b.CreateTrunc(r, b.getInt32Ty()), v[1])};
  };
  first.finish = [&](V k, const std::vector<V>& v) { e.store(core::DType::kInt32, v[1], scratch(chosen), k); };
  WEFT_RETURN_IF_ERROR(fold_by_thread(first));
  Fold second;
  second.what = "max_pool_grad", second.instr = i, second.kept = i->type.elements();
  second.reduced = dy->type.elements().is(0) ? ir::Dim(0) : ir::product(taps.size);
  second.start = [&](V) { return std::vector<V>{llvm::Constant::getNullValue(e.value_type(t))}; };
  second.step = [&](V k, V r, const std::vector<V>& v) {
    const Index at = e.places(k, x->type.dims), tap = e.places(r, taps.size);
    const auto [place, good] = taps.window(spatial(at), tap);
    V from = taps.offset(at[0], taps.out, place, channels, at.back());
    V mine = b.CreateAnd(good, b.CreateICmpEQ(e.load(core::DType::kInt32, scratch(chosen), from), b.CreateTrunc(r, b.getInt32Ty())));
    V y = e.load(t, e.pointer(dy), from);
    V sum = y->getType()->isFloatingPointTy() ? b.CreateFAdd(v[0], y) : b.CreateAdd(v[0], y);
    return std::vector<V>{b.CreateSelect(mine, sum, v[0])};
  };
  second.finish = [&](V k, const std::vector<V>& v) { e.store(t, v[0], e.pointer(i), k); };
  return fold_by_thread(second);
}

core::Status GpuEmitter::conv(const ir::Instr* i) {
  const ir::Instr *x = i->operands[0], *filter = i->operands[1];
  const core::DType t = x->type.dtype;
  if (i->window.winograd) return of_instr(core::unimplemented("GPU code for a convolution in Winograd's form"), i);
  if (t == core::DType::kBool) return core::unimplemented("code for a convolution of bool");
  return library(i, {x, filter}, plan.buffer_of(i), false, [&]() -> core::Status {
    const Taps taps(e, i->window, x->type, i->type);
    const int64_t groups = std::max<int64_t>(1, i->window.groups);
    const ir::Dim channels = x->type.dims.back(), features = i->type.dims.back();
    const ir::Dim own = groups == 1 ? channels : ir::floor_div(channels, groups),
                  features_of_group = groups == 1 ? features : ir::floor_div(features, groups);
    std::vector<ir::Dim> sizes = taps.size;
    sizes.push_back(own);
    Fold f;
    f.what = "conv", f.instr = i, f.kept = i->type.elements(), f.rows = false, f.work = 4;
    f.reduced = x->type.elements().is(0) ? ir::Dim(0) : ir::product(sizes);
    f.types = {carried(t)};
    f.start = [&](V) { return std::vector<V>{e.identity(ir::Reduce::kSum, t)}; };
    f.step = [&](V k, V r, const std::vector<V>& v) {
      const Index at = e.places(k, i->type.dims), tap = e.places(r, sizes);
      const auto [place, good] = taps.input(Index(at.begin() + 1, at.end() - 1), Index(tap.begin(), tap.end() - 1));
      V channel = tap.back();
      if (groups > 1) channel = e.add(e.mul(e.div(at.back(), e.dim(features_of_group)), e.dim(own)), channel);
      V a = e.load(t, e.pointer(x), taps.offset(at[0], taps.in, place, channels, channel));
      V c = e.load(t, e.pointer(filter), taps.filter_place(filter_form(*i), r, tap, own, features, at.back()));
      V product = a->getType()->isFloatingPointTy() ? b.CreateFMul(a, c) : b.CreateMul(a, c);
      product = b.CreateSelect(good, product, llvm::Constant::getNullValue(product->getType()));
      return std::vector<V>{e.combine(ir::Reduce::kSum, t, v[0], product)};
    };
    f.merge = [&](const std::vector<V>& a, const std::vector<V>& c) { return std::vector<V>{e.combine(ir::Reduce::kSum, t, a[0], c[0])}; };
    f.finish = [&](V k, const std::vector<V>& v) { e.store(t, v[0], e.pointer(i), k); };
    return fold_by_thread(f);
  });
}

core::Status GpuEmitter::conv_filter_grad(const ir::Instr* i) {
  const ir::Instr *x = i->operands[0], *dy = i->operands[1];
  const core::DType t = x->type.dtype;
  if (i->window.winograd) return of_instr(core::unimplemented("GPU code for a convolution in Winograd's form"), i);
  if (t == core::DType::kBool) return core::unimplemented("code for a convolution of bool");
  return library(i, {x, dy}, plan.buffer_of(i), false, [&]() -> core::Status {
    const Taps taps(e, i->window, x->type, dy->type);
    const int64_t groups = std::max<int64_t>(1, i->window.groups);
    const ir::Dim channels = x->type.dims.back(), features = dy->type.dims.back();
    const ir::Dim own = groups == 1 ? channels : ir::floor_div(channels, groups),
                  features_of_group = groups == 1 ? features : ir::floor_div(features, groups);
    std::vector<ir::Dim> pixels = dims_of(dy->type);  // [batch, spatial...]
    pixels.pop_back();
    const bool output_channels_first = filter_form(*i) == ir::FilterForm::kOutputChannelsFirst;
    Fold f;
    f.what = "conv_filter_grad", f.instr = i, f.kept = i->type.elements(), f.rows = false, f.work = 2;
    f.reduced = x->type.elements().is(0) ? ir::Dim(0) : ir::product(pixels);
    f.types = {carried(t)};
    f.start = [&](V) { return std::vector<V>{e.identity(ir::Reduce::kSum, t)}; };
    f.step = [&](V k, V r, const std::vector<V>& v) {
      Index at = e.places(k, i->type.dims);
      if (output_channels_first) std::rotate(at.begin(), at.begin() + 1, at.end());
      const Index pixel = e.places(r, pixels);
      const auto [place, good] = taps.input(Index(pixel.begin() + 1, pixel.end()), Index(at.begin(), at.end() - 2));
      V channel = at[at.size() - 2];
      if (groups > 1) channel = e.add(e.mul(e.div(at.back(), e.dim(features_of_group)), e.dim(own)), channel);
      V a = e.load(t, e.pointer(x), taps.offset(pixel[0], taps.in, place, channels, channel));
      V c = e.load(t, e.pointer(dy), e.add(e.mul(r, e.dim(features)), at.back()));
      V product = a->getType()->isFloatingPointTy() ? b.CreateFMul(a, c) : b.CreateMul(a, c);
      product = b.CreateSelect(good, product, llvm::Constant::getNullValue(product->getType()));
      return std::vector<V>{e.combine(ir::Reduce::kSum, t, v[0], product)};
    };
    f.merge = [&](const std::vector<V>& a, const std::vector<V>& c) { return std::vector<V>{e.combine(ir::Reduce::kSum, t, a[0], c[0])}; };
    f.finish = [&](V k, const std::vector<V>& v) { e.store(t, v[0], e.pointer(i), k); };
    return fold(f);
  });
}

}  // namespace weft_engine::compiler
