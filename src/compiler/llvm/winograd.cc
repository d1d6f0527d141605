// Convolutions in Winograd's form (ir/winograd.cc has the filter's part and the points): tiles of pixels are evaluated at 6x6 points, which
// are then 36 products over the channels, and the sums at the points become tiles of results. Blocks of tiles stay in the second
// cache from one of these steps to the next (compiler/scratch.h). An infinity or NaN among the pixels spreads over its tiles.
#include <array>

#include "compiler/llvm/gemm_kernel.h"
#include "compiler/scratch.h"
#include "core/cat.h"

namespace weft_engine::compiler {
namespace {

using V = llvm::Value*;
using Builder = llvm::IRBuilder<>;
constexpr int kSide = 6;  // points in one direction
using Line = std::array<V, kSide>;

// One direction of each transform. `out` lines of results, of `in` numbers.
class Transform {
 public:
  enum Kind { kPixels, kGradient, kResult };
  Transform(Builder& b, const Target& target, llvm::Type* vector, Kind kind) : b_(b), fma_(target.fma), vector_(vector), kind_(kind) {}

  static int in(Kind k) { return k == kGradient ? 4 : kSide; }
  static int out(Kind k) { return k == kResult ? 4 : kSide; }

  Line run(const Line& d) {
    switch (kind_) {
      case kPixels: {  // by the polynomials whose roots are the other points
        V a = sub(d[3], d[1]), b = sub(d[4], d[2]);
        return {plus(plus(add(d[0], d[4]), -2, d[2]), 1.5, a),
                plus(plus(sub(d[4], d[1]), 0.5, d[2]), 2.5, d[3]),
                plus(plus(add(d[4], d[1]), 0.5, d[3]), -2.5, d[2]),
                plus(b, 2, a),
                plus(b, -0.5, a),
                plus(plus(add(d[1], d[5]), -2, d[3]), 1.5, b)};
      }
      case kGradient: {  // as a filter of four taps: a^j / f
        V even = add(d[0], d[2]), odd = add(d[1], d[3]);
        return {d[0],
                times(1. / 3, add(even, odd)),
                times(1. / 3, sub(odd, even)),
                times(-16. / 15, add(plus(d[0], 0.25, d[2]), plus(times(0.5, d[1]), 0.125, d[3]))),
                times(1. / 15, sub(plus(d[0], 4, d[2]), plus(times(2, d[1]), 8, d[3]))),
                d[3]};
      }
      case kResult: {  // by a^j
        V sum = add(d[1], d[2]), difference = sub(d[1], d[2]);
        return {add(add(d[0], sum), add(d[3], d[4])), plus(plus(difference, 0.5, d[3]), -2, d[4]), plus(plus(sum, 0.25, d[3]), 4, d[4]),
                plus(plus(add(difference, d[5]), 0.125, d[3]), -8, d[4])};
      }
    }
    return d;
  }

 private:
  V add(V x, V y) { return b_.CreateFAdd(x, y); }
  V sub(V x, V y) { return b_.CreateFSub(x, y); }
  V times(double c, V x) { return b_.CreateFMul(x, llvm::ConstantFP::get(vector_, c)); }
  V plus(V y, double c, V x) {  // y + c x
    if (!fma_) return b_.CreateFAdd(y, times(c, x));
    return b_.CreateIntrinsic(llvm::Intrinsic::fma, {vector_}, {x, llvm::ConstantFP::get(vector_, c), y});
  }

  Builder& b_;
  const bool fma_;
  llvm::Type* vector_;
  const Kind kind_;
};

// The arguments of the functions below, in order: from, to; elements between points, lines and pixels; tiles of a column and a row; and
// for results, how many lines and pixels there are.
enum Argument { kFrom, kTo, kPlane, kLine, kPixel, kRows, kColumns, kHeight, kWidth, kArguments };

// Tiles of pixels to points [36][tiles, channels], or points to tiles of results.
llvm::Function* transform_function(llvm::Module& m, const Target& target, Transform::Kind kind) {
  const std::string name = core::cat("winograd_", kind == Transform::kPixels ? "pixels" : kind == Transform::kGradient ? "gradient" : "result");
  if (auto* f = m.getFunction(name)) return f;
  auto& c = m.getContext();
  llvm::Type *p = llvm::PointerType::getUnqual(c), *i = llvm::Type::getInt64Ty(c), *element = llvm::Type::getFloatTy(c);
  std::vector<llvm::Type*> types(kArguments, i);
  types[kFrom] = types[kTo] = p;
  auto* f = internal_function(m, name, llvm::FunctionType::get(llvm::Type::getVoidTy(c), types, false), 1, 1, target);
  const auto arg = [&](Argument n) { return f->getArg(n); };
  Builder b(llvm::BasicBlock::Create(c, "", f));
  const int64_t lanes = target.lanes(4);
  llvm::Type* vector = llvm::FixedVectorType::get(element, unsigned(lanes));
  const auto n = [&](int64_t k) { return b.getInt64(uint64_t(k)); };
  const auto at = [&](V pointer, V elements) { return b.CreateGEP(element, pointer, elements); };
  const llvm::Align align(4);
  const bool results = kind == Transform::kResult;
  const int in = Transform::in(kind), out = Transform::out(kind), side = results ? out : in;
  const llvm::Align whole(uint64_t(target.vector_bytes));
  auto* buffer = b.CreateAlloca(llvm::ArrayType::get(vector, uint64_t(in * out)));
  buffer->setAlignment(whole);
  const auto half = [&](V k) { return b.CreateGEP(vector, buffer, k); };
  // Written out where the registers hold most of what is between columns and rows; else it would only be long.
  const auto each = [&](int count, const std::function<void(V k)>& body) {
    if (target.vector_registers < 32) return emit_for(b, n(count), body);
    for (int k = 0; k < count; ++k) body(n(k));
  };
  V step = b.CreateMul(arg(kPixel), n(kWinogradTile)), row_step = b.CreateMul(arg(kLine), n(kWinogradTile));
  emit_for(b, arg(kRows), [&](V row) {
    V points_of_row = b.CreateMul(b.CreateMul(row, arg(kColumns)), arg(kPixel)), line_of_row = b.CreateMul(row, row_step);
    V left = b.CreateSub(b.CreateSub(arg(kHeight), n(1)), b.CreateMul(row, n(kWinogradTile)));
    emit_for(b, arg(kColumns), [&](V column) {
      V points = at(arg(results ? kFrom : kTo), b.CreateAdd(points_of_row, b.CreateMul(column, arg(kPixel))));
      V pixels = at(arg(results ? kTo : kFrom), b.CreateAdd(line_of_row, b.CreateMul(column, step)));
      // Results beyond the edge go to the last place before it, and the one that belongs there follows.
      V left_of_line = b.CreateSub(b.CreateSub(arg(kWidth), n(1)), b.CreateMul(column, n(kWinogradTile)));
      const auto inside = [&](V k, V last) { return results ? b.CreateBinaryIntrinsic(llvm::Intrinsic::smin, k, last) : k; };
      const auto line = [&](V k) { return at(pixels, b.CreateMul(inside(k, left), arg(kLine))); };
      const auto place = [&](V k) { return b.CreateMul(inside(k, left_of_line), arg(kPixel)); };
      std::vector<V> lines, places;
      for (int k = 0; k < side; ++k) lines.push_back(line(n(k))), places.push_back(place(n(k)));
      // The last vector begins early where the channels are no multiple of it.
      V last = b.CreateSub(arg(kPixel), n(lanes));
      emit_for(b, arg(kPixel), n(lanes), [&](V q) {
        V channel = b.CreateBinaryIntrinsic(llvm::Intrinsic::smin, q, last);
        V here = at(points, channel);
        Transform t(b, target, vector, kind);
        // Columns first.
        each(in, [&](V column) {
          V first = results ? at(here, b.CreateMul(column, arg(kPlane))) : b.CreateAdd(place(column), channel);
          Line d{};
          for (int r = 0; r < in; ++r) {
            V p = results ? at(first, b.CreateMul(arg(kPlane), n(r * kSide))) : at(lines[size_t(r)], first);
            d[size_t(r)] = b.CreateAlignedLoad(vector, p, align);
          }
          d = t.run(d);
          for (int r = 0; r < out; ++r) b.CreateAlignedStore(d[size_t(r)], half(b.CreateAdd(column, n(r * in))), whole);
        });
        each(out, [&](V r) {
          V row = b.CreateSub(n(out - 1), r), from = b.CreateMul(row, n(in));
          Line d{};
          for (int k = 0; k < in; ++k) d[size_t(k)] = b.CreateAlignedLoad(vector, half(b.CreateAdd(from, n(k))), whole);
          d = t.run(d);
          V to = results ? at(line(row), channel) : at(here, b.CreateMul(b.CreateMul(row, n(kSide)), arg(kPlane)));
          for (int k = out; k-- > 0;) b.CreateAlignedStore(d[size_t(k)], at(to, results ? places[size_t(k)] : b.CreateMul(arg(kPlane), n(k))), align);
        });
      });
    });
  });
  b.CreateRetVoid();
  return f;
}

class Winograd {
 public:
  Winograd(CodeEmitter& e, const ir::Instr* i) : e_(e), b_(e.b), i_(i), plan_(plan_winograd(*i)), gradient_(i->op == ir::Op::kConvFilterGrad) {
    const ir::Type &x = i->operand(0).type, &y = gradient_ ? i->operand(1).type : i->type;
    batch_ = x.dims[0];
    channels_ = x.dims[3].value(), features_ = y.dims[3].value();
    in_height_ = x.dims[1].value(), in_width_ = x.dims[2].value(), height_ = y.dims[1].value(), width_ = y.dims[2].value();
  }

  core::Status write() {
    const ir::Instr &x = i_->operand(0), &other = i_->operand(1);
    if (e_.plan.buffer_of(&x) < 0 || e_.plan.buffer_of(&other) < 0) return core::internal_error("a convolution's operand has no memory");
    V memory = e_.scratch(i_);
    x_ = e_.pointer(&x), other_ = e_.pointer(&other), result_ = e_.pointer(i_);
    const auto part = [&](int64_t offset) { return b_.CreateGEP(b_.getInt8Ty(), memory, i64(offset)); };
    x_image_ = part(0), y_image_ = part(plan_.x_image);
    x_points_ = part(plan_.x_image + plan_.y_image), y_points_ = part(plan_.x_image + plan_.y_image + plan_.x_points);
    // Padding is zero from the start and stays so.
    const int64_t padding = plan_.x_image + plan_.y_image;
    if (padding) b_.CreateMemSet(memory, b_.getInt8(0), i64(padding), llvm::MaybeAlign(64));
    if (gradient_ && e_.part()) result_ = e_.part_of_sum(i_);
    if (gradient_) b_.CreateMemSet(result_, b_.getInt8(0), i64(kWinogradPoints * channels_ * features_ * 4), llvm::MaybeAlign());
    const auto [begin, end] = e_.share(e_.dim(batch_));
    if (plan_.rows < plan_.high) {
      emit_for(b_, b_.CreateSub(end, begin), [&, begin = begin](V k) {
        V image = b_.CreateAdd(begin, k);
        fetch(image, i64(1));
        each_part(plan_.high, plan_.rows, [&](V row, int64_t rows) { block(image, i64(1), row, rows); });
      });
    } else if (batch_.is_const() && !e_.part()) {
      each_part(batch_.value(), plan_.images, [&](V first, int64_t count) { images(first, i64(count)); });
    } else {
      emit_for(b_, b_.CreateSub(end, begin), i64(plan_.images), [&, begin = begin, end = end](V k) {
        V first = b_.CreateAdd(begin, k), left = b_.CreateSub(end, first);
        images(first, plan_.images == 1 ? i64(1) : b_.CreateBinaryIntrinsic(llvm::Intrinsic::smin, left, i64(plan_.images)));
      });
    }
    return core::Status();
  }

 private:
  V at(V pointer, V elements) { return b_.CreateGEP(b_.getFloatTy(), pointer, elements); }
  V i64(int64_t n) { return b_.getInt64(uint64_t(n)); }

  // n in parts of `most` and fewer that differ by one.
  void each_part(int64_t n, int64_t most, const std::function<void(V first, int64_t count)>& body) {
    const int64_t parts = (n + most - 1) / most, size = parts ? n / parts : 0, wide = parts ? n % parts : 0, from = wide * (size + 1);
    if (wide) emit_for(b_, i64(from), i64(size + 1), [&](V first) { body(first, size + 1); });
    if (parts > wide) emit_for(b_, i64(n - from), i64(size), [&](V first) { body(b_.CreateAdd(first, i64(from)), size); });
  }
  void each_image(V count, const std::function<void(V k)>& body) {
    const auto* c = llvm::dyn_cast<llvm::ConstantInt>(count);
    if (c && c->isOne()) body(i64(0));
    else emit_for(b_, count, body);
  }

  void images(V first, V count) {
    fetch(first, count);
    block(first, count, i64(0), plan_.high);
  }

  // Images with their padding.
  void fetch(V first, V count) {
    if (plan_.copy_x)
      copy(first, count, x_, in_height_, in_width_, channels_, x_image_, i_->window.low[0].value(), i_->window.low[1].value(), plan_.x_height,
           plan_.x_width);
    if (plan_.copy_y) copy(first, count, other_, height_, width_, features_, y_image_, 0, 0, plan_.high * kWinogradTile, plan_.wide * kWinogradTile);
  }
  void copy(V first, V count, V from, int64_t height, int64_t width, int64_t channels, V to, int64_t top, int64_t before, int64_t to_height,
            int64_t to_width) {
    const int64_t rows = std::min(height, to_height - top), pixels = std::min(width, to_width - before);
    each_image(count, [&](V k) {
      V source = at(from, b_.CreateMul(b_.CreateAdd(first, k), i64(height * width * channels)));
      V place = at(to, b_.CreateAdd(b_.CreateMul(k, i64(to_height * to_width * channels)), i64((top * to_width + before) * channels)));
      emit_for(b_, i64(rows), [&](V row) {
        b_.CreateMemCpy(at(place, b_.CreateMul(row, i64(to_width * channels))), llvm::MaybeAlign(4),
                        at(source, b_.CreateMul(row, i64(width * channels))), llvm::MaybeAlign(4), i64(pixels * channels * 4));
      });
    });
  }

  void transform(Transform::Kind kind, V from, V to, int64_t plane, int64_t line, int64_t pixel, int64_t rows, V height) {
    auto* f = transform_function(*b_.GetInsertBlock()->getModule(), e_.target, kind);
    b_.CreateCall(f, {from, to, i64(plane), i64(line), i64(pixel), i64(rows), i64(plan_.wide), height, i64(width_)});
  }
  // The first pixel of a row of tiles.
  V pixels(V in_place, V copied, V first, V k, V row, int64_t height, int64_t width, int64_t channels) {
    V image = copied ? k : b_.CreateAdd(first, k);
    V line = b_.CreateAdd(b_.CreateMul(image, i64(height)), b_.CreateMul(row, i64(kWinogradTile)));
    return at(copied ? copied : in_place, b_.CreateMul(line, i64(width * channels)));
  }

  void block(V first, V count, V row, int64_t rows) {
    const int64_t tiles = rows * plan_.wide;
    each_image(count, [&](V k) {
      V x = pixels(x_, plan_.copy_x ? x_image_ : nullptr, first, k, row, plan_.x_height, plan_.x_width, channels_);
      transform(Transform::kPixels, x, at(x_points_, b_.CreateMul(k, i64(tiles * channels_))), plan_.x_plane, plan_.x_width * channels_, channels_,
                rows, i64(0));
      if (!gradient_) return;
      const int64_t height = plan_.copy_y ? plan_.high * kWinogradTile : height_, width = plan_.copy_y ? plan_.wide * kWinogradTile : width_;
      V y = pixels(other_, plan_.copy_y ? y_image_ : nullptr, first, k, row, height, width, features_);
      transform(Transform::kGradient, y, at(y_points_, b_.CreateMul(k, i64(tiles * features_))), plan_.y_plane, width * features_, features_, rows,
                i64(0));
    });
    V all = b_.CreateMul(count, i64(tiles));
    emit_for(b_, i64(kWinogradPoints), [&](V point) {
      V x = at(x_points_, b_.CreateMul(point, i64(plan_.x_plane))), y = at(y_points_, b_.CreateMul(point, i64(plan_.y_plane)));
      V filter = b_.CreateMul(point, i64(channels_ * features_));
      Product p;
      p.element = b_.getFloatTy();
      p.a = x, p.a_stride = i64(channels_);
      p.b_stride = p.c_stride = p.n = i64(features_);
      if (gradient_) {
        p.a_columns = p.accumulate = true;
        p.m = i64(channels_), p.k = all;
        p.b = y, p.c = at(result_, filter);
      } else {
        p.m = all, p.m_multiple = tiles, p.k = i64(channels_);
        p.b = at(other_, filter), p.c = y;
      }
      emit_product(b_, e_.target, p);
    });
    if (gradient_) return;
    each_image(count, [&](V k) {
      V y = pixels(result_, nullptr, first, k, row, height_, width_, features_);
      V height = b_.CreateSub(i64(height_), b_.CreateMul(row, i64(kWinogradTile)));
      transform(Transform::kResult, at(y_points_, b_.CreateMul(k, i64(tiles * features_))), y, plan_.y_plane, width_ * features_, features_, rows,
                height);
    });
  }

  CodeEmitter& e_;
  Builder& b_;
  const ir::Instr* i_;
  const WinogradPlan plan_;
  const bool gradient_;
  ir::Dim batch_;
  int64_t channels_, features_, in_height_, in_width_, height_, width_;
  V x_ = nullptr, other_ = nullptr, result_ = nullptr;
  V x_image_ = nullptr, y_image_ = nullptr, x_points_ = nullptr, y_points_ = nullptr;
};

}  // namespace

core::Status CodeEmitter::emit_winograd(const ir::Instr* i) { return Winograd(*this, i).write(); }

}  // namespace weft_engine::compiler
