// Convolutions as products, with no copy of every patch: the image is copied once with its padding (or read where it is), and the pixels
// under one row of the filter then are a row of A, that of the next pixel a stride further on.
#include "compiler/llvm/gemm_kernel.h"
#include "compiler/scratch.h"

namespace weft_engine::compiler {
namespace {

using V = llvm::Value*;
constexpr int kSpatial = 3;  // convolutions of fewer dimensions get leading ones of size 1

class Conv {
 public:
  Conv(CodeEmitter& e, const ir::Instr* i) : e_(e), b_(e.b), i_(i), plan_(plan_conv(*i)) {
    const bool gradient = i->op == ir::Op::kConvFilterGrad;
    const ir::Instr &x = i->operand(0), &other = i->operand(1);
    const ir::Type& y = gradient ? other.type : i->type;
    const ir::Window& w = i->window;
    dtype_ = x.type.dtype;
    element_ = product_type(e, dtype_);
    const int spatial = int(w.size.size()), first = kSpatial - spatial;
    for (int d = 0; d < kSpatial; ++d) {
      const bool real = d >= first;
      const size_t s = size_t(real ? d - first : 0);
      filter_[d] = real ? w.size[s] : 1;
      stride_[d] = real ? w.stride[s] : 1;
      dilation_[d] = real ? w.dilation[s] : 1;
      holes_[d] = real && !w.base_dilation.empty() ? w.base_dilation[s] : 1;
      low_[d] = real ? w.low[s] : ir::Dim(0);
      in_[d] = real ? x.type.dims[s + 1] : ir::Dim(1);
      size_[d] = real ? plan_.size[s] : ir::Dim(1);
      out_[d] = real ? y.dims[s + 1] : ir::Dim(1);
    }
    if (plan_.phased) {  // the image has no holes then
      for (int d = 0; d < kSpatial; ++d) {
        phases_[d] = holes_[d], shift_[d] = low_[d].value();
        holes_[d] = 1, low_[d] = d >= first ? plan_.before[size_t(d - first)] : 0;
      }
    }
    batch_ = x.type.dims[0];
    channels_ = x.type.dims.back();
    features_ = y.dims.back();
    groups_ = std::max<int64_t>(1, w.groups);
    channels_of_group_ = groups_ == 1 ? channels_ : floor_div(channels_, groups_);
    features_of_group_ = groups_ == 1 ? features_ : floor_div(features_, groups_);
  }

  core::Status forward() {
    WEFT_RETURN_IF_ERROR(prepare());
    const bool pointwise = filter_[0] * filter_[1] * filter_[2] == 1 && stride_[0] * stride_[1] * stride_[2] == 1;
    if (pointwise && !plan_.padded && groups_ == 1) {
      Product p = product();
      p.a = x_, p.a_stride = e_.dim(channels_), p.k = e_.dim(channels_);
      p.b = other_, p.b_stride = e_.dim(features_);
      p.c = y_, p.c_stride = e_.dim(features_);
      const ir::Dim pixels = batch_ * out_[0] * out_[1] * out_[2];
      p.m = e_.dim(pixels), p.n = e_.dim(features_), p.m_multiple = multiple_of(pixels);
      if (e_.part()) {
        const auto [begin, end] = e_.share(p.m, 16);
        p.a = at(p.a, b_.CreateMul(begin, p.a_stride)), p.c = at(p.c, b_.CreateMul(begin, p.c_stride));
        p.m = b_.CreateSub(end, begin), p.m_multiple = 1;
      }
      emit_product(b_, e_.target, p);
    } else {
      each_image([&](V image, V n) {
        V y = at(y_, b_.CreateMul(n, e_.dim(out_[0] * out_[1] * out_[2] * features_)));
        if (plan_.phased) return forward_phases(image, y);
        if (large()) return forward_large(image, y);
        emit_for(b_, e_.dim(out_[0]), [&](V depth) { emit_for(b_, e_.dim(out_[1]), [&](V row) { forward_row(image, y, depth, row); }); });
      });
    }
    if (plan_.narrow) copy_from_float(e_, dtype_, y_, e_.pointer(i_), e_.dim(i_->type.elements()));
    return core::Status();
  }

  core::Status filter_gradient() {
    WEFT_RETURN_IF_ERROR(prepare());
    const ir::Dim elements = i_->type.elements();
    if (e_.part()) y_ = e_.part_of_sum(i_);
    b_.CreateMemSet(y_, b_.getInt8(0), e_.dim(elements * int64_t(element_->getScalarSizeInBits() / 8)), llvm::MaybeAlign());
    each_image([&](V image, V n) {
      V dy = at(other_, b_.CreateMul(n, e_.dim(out_[0] * out_[1] * out_[2] * features_)));
      emit_for(b_, e_.dim(out_[0]), [&](V depth) {
        V from = at(image, b_.CreateMul(depth, e_.dim(stride_[0] * plane())));
        V rows = at(dy, b_.CreateMul(depth, e_.dim(out_[1] * out_[2] * features_)));
        if (channelwise()) gradient_channels(from, rows);
        else gradient_products(from, rows);
      });
    });
    if (plan_.narrow) copy_from_float(e_, dtype_, y_, e_.pointer(i_), e_.dim(elements));
    return core::Status();
  }

 private:
  V at(V pointer, V elements) { return b_.CreateGEP(element_, pointer, elements); }
  V i64(int64_t n) { return b_.getInt64(uint64_t(n)); }
  ir::Dim line() const { return size_[2] * channels_; }  // elements of a row of the image
  ir::Dim plane() const { return size_[1] * line(); }
  bool channelwise() const { return groups_ > 1 && channels_of_group_.is(1) && features_of_group_.is(1); }
  Product product() const {
    Product p;
    p.element = element_;
    return p;
  }

  core::Status prepare() {
    if (!element_) return core::unimplemented("code for a convolution of ", core::dtype_name(dtype_));
    const ir::Instr &x = i_->operand(0), &other = i_->operand(1);
    if (e_.plan.buffer_of(&x) < 0 || e_.plan.buffer_of(&other) < 0) return core::internal_error("a convolution's operand has no memory");
    x_ = e_.pointer(&x), other_ = e_.pointer(&other), y_ = e_.pointer(i_);
    V memory = scratch_bytes(*i_).is(0) ? nullptr : e_.scratch(i_);
    if (plan_.padded) image_ = memory;
    if (plan_.narrow) {
      const auto part = [&](const ir::Dim& offset) { return b_.CreateGEP(b_.getInt8Ty(), memory, e_.dim(offset)); };
      V xs = part(plan_.image), others = part(plan_.image + plan_.x);
      copy_as_float(e_, dtype_, x_, xs, e_.dim(x.type.elements()));
      copy_as_float(e_, dtype_, other_, others, e_.dim(other.type.elements()));
      x_ = xs, other_ = others, y_ = part(plan_.image + plan_.x + plan_.filter);
    }
    return core::Status();
  }

  // body(image, number) for each example; the image with its padding. Borders and holes are zero from the start and stay so.
  void each_image(const std::function<void(V image, V n)>& body) {
    const int64_t bytes = element_->getScalarSizeInBits() / 8;
    if (image_) b_.CreateMemSet(image_, b_.getInt8(0), e_.dim(size_[0] * plane() * bytes), llvm::MaybeAlign());
    // The input's pixels that fall into the image: padding may be negative.
    ir::Dim first[kSpatial], count[kSpatial];
    for (int d = 0; d < kSpatial; ++d) {
      first[d] = low_[d].is(0) ? ir::Dim(0) : max(ceil_div(ir::Dim(0) - low_[d], holes_[d]), ir::Dim(0));
      count[d] = max(min(in_[d], ceil_div(size_[d] - low_[d], holes_[d])) - first[d], ir::Dim(0));
    }
    const auto [begin, end] = e_.share(e_.dim(batch_));
    emit_for(b_, b_.CreateSub(end, begin), [&, begin = begin](V k) {
      V n = b_.CreateAdd(begin, k);
      V x = at(x_, b_.CreateMul(n, e_.dim(in_[0] * in_[1] * in_[2] * channels_)));
      if (!image_) return body(x, n);
      const auto place = [&](int d, V k) { return b_.CreateMul(b_.CreateAdd(k, e_.dim(first[d])), i64(holes_[d])); };
      emit_for(b_, e_.dim(count[0]), [&](V depth) {
        emit_for(b_, e_.dim(count[1]), [&](V row) {
          V source = b_.CreateAdd(b_.CreateMul(b_.CreateAdd(depth, e_.dim(first[0])), e_.dim(in_[1])), b_.CreateAdd(row, e_.dim(first[1])));
          V from = at(x, b_.CreateMul(b_.CreateAdd(b_.CreateMul(source, e_.dim(in_[2])), e_.dim(first[2])), e_.dim(channels_)));
          V to_row = b_.CreateAdd(b_.CreateMul(b_.CreateAdd(place(0, depth), e_.dim(low_[0])), e_.dim(size_[1])),
                                  b_.CreateAdd(place(1, row), e_.dim(low_[1])));
          V to = at(image_, b_.CreateMul(to_row, e_.dim(line())));
          if (holes_[2] == 1) {
            copy(at(to, e_.dim((first[2] + low_[2]) * channels_)), from, count[2] * channels_);
          } else {
            emit_for(b_, e_.dim(count[2]), [&](V column) {
              V there = at(to, b_.CreateMul(b_.CreateAdd(place(2, column), e_.dim(low_[2])), e_.dim(channels_)));
              copy(there, at(from, b_.CreateMul(column, e_.dim(channels_))), channels_);
            });
          }
        });
      });
      body(image_, n);
    });
  }
  void copy(V to, V from, const ir::Dim& elements) {
    const int64_t bytes = element_->getScalarSizeInBits() / 8;
    b_.CreateMemCpy(to, llvm::MaybeAlign(), from, llvm::MaybeAlign(), e_.dim(elements * bytes));
  }

  void forward_row(V image, V y, V depth, V row) {
    V from = at(image, b_.CreateAdd(b_.CreateMul(depth, e_.dim(stride_[0] * plane())), b_.CreateMul(row, e_.dim(stride_[1] * line()))));
    V to = at(y, b_.CreateMul(b_.CreateAdd(b_.CreateMul(depth, e_.dim(out_[1])), row), e_.dim(out_[2] * features_)));
    if (channelwise()) return forward_channels(from, to);
    const auto group = [&](V g) {
      Product p = product();
      p.c = g ? at(to, b_.CreateMul(g, e_.dim(features_of_group_))) : to;
      p.c_stride = e_.dim(features_), p.b_stride = e_.dim(features_);
      p.m = e_.dim(out_[2]), p.n = e_.dim(features_of_group_);
      p.a_stride = e_.dim(stride_[2] * channels_);
      V a = g ? at(from, b_.CreateMul(g, e_.dim(channels_of_group_))) : from;
      V filter = g ? at(other_, b_.CreateMul(g, e_.dim(features_of_group_))) : other_;
      // As much of the filter as the kernel walks by itself: rows of it where its pixels are side by side, else one row.
      const bool whole = dilation_[2] == 1 && groups_ == 1;
      const ir::Dim taps = channels_of_group_ * features_;
      if (whole) p.k = e_.dim(filter_[2] * channels_), p.outer = i64(filter_[1]), p.a_outer = e_.dim(dilation_[1] * line());
      else p.k = e_.dim(channels_of_group_), p.outer = i64(filter_[2]), p.a_outer = e_.dim(dilation_[2] * channels_);
      bool first = true;
      for (int64_t d = 0; d < filter_[0]; ++d) {
        for (int64_t h = 0; h < (whole ? 1 : filter_[1]); ++h) {
          p.a = at(a, e_.dim(d * dilation_[0] * plane() + h * dilation_[1] * line()));
          p.b = at(filter, e_.dim((d * filter_[1] + h) * filter_[2] * taps));
          p.accumulate = !first;
          emit_product(b_, e_.target, p);
          first = false;
        }
      }
    };
    if (groups_ == 1) group(nullptr);
    else emit_for(b_, i64(groups_), group);
  }

  // A filter beyond the second cache: as much of it as fits there, for all pixels, then the next part. Wide vectors read whole lines of it
  // anyway, and are better off without.
  static constexpr int64_t kColumns = 64;
  bool large() const {
    if (e_.target.vector_bytes > 32 || !channels_.is_const() || !features_.is_const() || groups_ > 1 || dilation_[2] != 1) return false;
    const int64_t row = filter_[2] * channels_.value() * int64_t(element_->getScalarSizeInBits() / 8);
    return row * filter_[0] * filter_[1] * features_.value() > (768 << 10) && row * kColumns <= (768 << 10);
  }
  void forward_large(V image, V y) {
    const int64_t features = features_.value(), whole = features / kColumns * kColumns;
    const auto part = [&](V column, int64_t n) {
      for (int64_t d = 0; d < filter_[0]; ++d) {
        for (int64_t h = 0; h < filter_[1]; ++h) {
          emit_for(b_, e_.dim(out_[0]), [&](V depth) {
            emit_for(b_, e_.dim(out_[1]), [&](V row) {
              V from = b_.CreateAdd(b_.CreateMul(depth, e_.dim(stride_[0] * plane())), b_.CreateMul(row, e_.dim(stride_[1] * line())));
              V to = b_.CreateMul(b_.CreateAdd(b_.CreateMul(depth, e_.dim(out_[1])), row), e_.dim(out_[2] * features_));
              Product p = product();
              p.m = e_.dim(out_[2]), p.n = i64(n), p.k = e_.dim(filter_[2] * channels_);
              p.a = at(at(image, from), e_.dim(d * dilation_[0] * plane() + h * dilation_[1] * line())), p.a_stride = e_.dim(stride_[2] * channels_);
              p.b = at(at(other_, e_.dim((d * filter_[1] + h) * filter_[2] * channels_ * features_)), column);
              p.c = at(at(y, to), column);
              p.b_stride = p.c_stride = e_.dim(features_);
              p.accumulate = d + h > 0;
              emit_product(b_, e_.target, p);
            });
          });
        }
      }
    };
    if (whole) emit_for(b_, i64(whole), i64(kColumns), [&](V column) { part(column, kColumns); });
    if (features > whole) part(i64(whole), features - whole);
  }

  // One dimension of a phase: every `step`-th output from `first` on, `count` of them; the taps that they see, and the pixel under the
  // first tap of the first output (the next tap and the next output are a pixel further on).
  struct Phase {
    int64_t first = 0, step = 1, count = 0, tap = 0, taps = 0, pixel = 0;
  };
  Phase phase(int d, int64_t first) const {
    Phase p;
    p.first = first, p.step = phases_[d];
    p.count = (out_[d].value() - first + p.step - 1) / p.step;
    p.tap = ((shift_[d] - first) % p.step + p.step) % p.step;
    p.taps = p.tap < filter_[d] ? (filter_[d] - p.tap + p.step - 1) / p.step : 0;
    p.pixel = (first + p.tap - shift_[d]) / p.step + low_[d].value();
    return p;
  }
  // Output pixels that see the same part of the filter, together.
  void forward_phases(V image, V y) {
    for (int64_t n = 0; n < phases_[0] * phases_[1] * phases_[2]; ++n) {
      const Phase depth = phase(0, n / (phases_[1] * phases_[2])), row = phase(1, n / phases_[2] % phases_[1]), column = phase(2, n % phases_[2]);
      if (depth.count <= 0 || row.count <= 0 || column.count <= 0) continue;
      emit_for(b_, i64(depth.count), [&](V z) { emit_for(b_, i64(row.count), [&](V h) { phase_row(image, y, depth, row, column, z, h); }); });
    }
  }
  void phase_row(V image, V y, const Phase& depth, const Phase& row, const Phase& column, V z, V h) {
    Product p = product();
    p.m = i64(column.count), p.n = e_.dim(features_), p.k = e_.dim(channels_);
    p.a_stride = e_.dim(channels_), p.b_stride = e_.dim(features_), p.c_stride = e_.dim(column.step * features_);
    const auto output = [&](const Phase& f, V k) { return b_.CreateAdd(b_.CreateMul(k, i64(f.step)), i64(f.first)); };
    V line_out = b_.CreateAdd(b_.CreateMul(output(depth, z), e_.dim(out_[1])), output(row, h));
    p.c = at(y, b_.CreateMul(b_.CreateAdd(b_.CreateMul(line_out, e_.dim(out_[2])), i64(column.first)), e_.dim(features_)));
    V line_in = b_.CreateAdd(b_.CreateMul(b_.CreateAdd(z, i64(depth.pixel)), e_.dim(size_[1])), b_.CreateAdd(h, i64(row.pixel)));
    V from = at(image, b_.CreateMul(b_.CreateAdd(b_.CreateMul(line_in, e_.dim(size_[2])), i64(column.pixel)), e_.dim(channels_)));
    if (depth.taps * row.taps * column.taps == 0) {  // nothing is seen: zeros
      p.a = from, p.b = other_, p.k = i64(0);
      return emit_product(b_, e_.target, p);
    }
    for (int64_t td = 0; td < depth.taps; ++td) {
      for (int64_t th = 0; th < row.taps; ++th) {
        for (int64_t tw = 0; tw < column.taps; ++tw) {
          const int64_t tap = ((depth.tap + td * depth.step) * filter_[1] + row.tap + th * row.step) * filter_[2] + column.tap + tw * column.step;
          p.a = at(from, e_.dim(td * plane() + th * line() + tw * channels_));
          p.b = at(other_, e_.dim(tap * channels_ * features_));
          p.accumulate = td + th + tw > 0;
          emit_product(b_, e_.target, p);
        }
      }
    }
  }

  // Channels in vectors, and one by one what is left: body(channel, type).
  void each_channels(const std::function<void(V channel, llvm::Type* type)>& body) {
    const int lanes = e_.target.lanes(int(element_->getScalarSizeInBits() / 8));
    V all = e_.dim(channels_), whole = e_.dim(floor_div(channels_, lanes) * lanes);
    emit_for(b_, whole, i64(lanes), [&](V c) { body(c, llvm::FixedVectorType::get(element_, unsigned(lanes))); });
    emit_for(b_, b_.CreateSub(all, whole), [&](V c) { body(b_.CreateAdd(whole, c), element_); });
  }
  V load(llvm::Type* type, V p) { return b_.CreateAlignedLoad(type, p, llvm::Align(element_->getScalarSizeInBits() / 8)); }
  void store(V x, V p) { b_.CreateAlignedStore(x, p, llvm::Align(element_->getScalarSizeInBits() / 8)); }
  V multiply_add(V x, V y, V sum) {
    if (!element_->isFloatingPointTy()) return b_.CreateAdd(b_.CreateMul(x, y), sum);
    if (e_.target.fma) return b_.CreateIntrinsic(llvm::Intrinsic::fma, {x->getType()}, {x, y, sum});
    return b_.CreateFAdd(b_.CreateFMul(x, y), sum);
  }
  // Sum over a loop of `n` rounds.
  V sum_over(V n, V start, const std::function<V(V i, V sum)>& body) {
    return e_.loop(i64(0), n, i64(1), {start}, false, [&](V i, const std::vector<V>& sum) { return std::vector<V>{body(i, sum[0])}; })[0];
  }
  // body(number of the tap, where its pixel is, sum so far) over the filter, written out where that is short.
  V over_taps(V start, const std::function<V(V tap, V offset, V sum)>& body) {
    const int64_t taps = filter_[0] * filter_[1] * filter_[2];
    const auto offset = [&](V d, V h, V w) {
      return b_.CreateAdd(b_.CreateAdd(b_.CreateMul(d, e_.dim(dilation_[0] * plane())), b_.CreateMul(h, e_.dim(dilation_[1] * line()))),
                          b_.CreateMul(w, e_.dim(dilation_[2] * channels_)));
    };
    if (taps <= 32) {
      V sum = start;
      for (int64_t t = 0; t < taps; ++t)
        sum = body(i64(t), offset(i64(t / (filter_[1] * filter_[2])), i64(t / filter_[2] % filter_[1]), i64(t % filter_[2])), sum);
      return sum;
    }
    return sum_over(i64(taps), start, [&](V t, V sum) {
      V row = b_.CreateUDiv(t, i64(filter_[2]));
      return body(t, offset(b_.CreateUDiv(row, i64(filter_[1])), b_.CreateURem(row, i64(filter_[1])), b_.CreateURem(t, i64(filter_[2]))), sum);
    });
  }

  // Each channel for itself: vectors of channels.
  void forward_channels(V from, V to) {
    each_channels([&](V c, llvm::Type* type) {
      emit_for(b_, e_.dim(out_[2]), [&](V column) {
        V pixel = at(from, b_.CreateAdd(b_.CreateMul(column, e_.dim(stride_[2] * channels_)), c));
        V sum = over_taps(llvm::Constant::getNullValue(type), [&](V tap, V offset, V sum) {
          return multiply_add(load(type, at(pixel, offset)), load(type, at(other_, b_.CreateAdd(b_.CreateMul(tap, e_.dim(features_)), c))), sum);
        });
        store(sum, at(to, b_.CreateAdd(b_.CreateMul(column, e_.dim(features_)), c)));
      });
    });
  }
  void gradient_channels(V from, V dy) {
    each_channels([&](V c, llvm::Type* type) {
      over_taps(nullptr, [&](V tap, V offset, V) -> V {
        V place = at(y_, b_.CreateAdd(b_.CreateMul(tap, e_.dim(features_)), c));
        V pixels = at(from, b_.CreateAdd(offset, c));
        V sum = sum_over(e_.dim(out_[1]), load(type, place), [&](V row, V so_far) {
          V xs = at(pixels, b_.CreateMul(row, e_.dim(stride_[1] * line())));
          V ys = at(dy, b_.CreateAdd(b_.CreateMul(row, e_.dim(out_[2] * features_)), c));
          return sum_over(e_.dim(out_[2]), so_far, [&](V column, V sum) {
            return multiply_add(load(type, at(xs, b_.CreateMul(column, e_.dim(stride_[2] * channels_)))),
                                load(type, at(ys, b_.CreateMul(column, e_.dim(features_)))), sum);
          });
        });
        store(sum, place);
        return nullptr;
      });
    });
  }

  // The filter's gradient is a product over pixels: A's columns are what is under a row of the filter.
  void gradient_products(V from, V dy) {
    const bool whole = dilation_[2] == 1 && groups_ == 1;
    const auto group = [&](V g) {
      Product p = product();
      p.accumulate = true;
      p.a_columns = true;
      p.a_stride = e_.dim(stride_[2] * channels_);
      p.k = e_.dim(out_[2]), p.outer = e_.dim(out_[1]), p.a_outer = e_.dim(stride_[1] * line());
      p.b = g ? at(dy, b_.CreateMul(g, e_.dim(features_of_group_))) : dy;
      p.b_stride = p.c_stride = e_.dim(features_);
      p.m = e_.dim(whole ? filter_[2] * channels_ : channels_of_group_), p.n = e_.dim(features_of_group_);
      V a = g ? at(from, b_.CreateMul(g, e_.dim(channels_of_group_))) : from;
      V to = g ? at(y_, b_.CreateMul(g, e_.dim(features_of_group_))) : y_;
      const int64_t columns = whole ? 1 : filter_[2];
      const ir::Dim taps = (whole ? filter_[2] : 1) * channels_of_group_ * features_;
      emit_for(b_, i64(filter_[0]), [&](V d) {
        emit_for(b_, i64(filter_[1]), [&](V h) {
          V offset = b_.CreateAdd(b_.CreateMul(d, e_.dim(dilation_[0] * plane())), b_.CreateMul(h, e_.dim(dilation_[1] * line())));
          emit_for(b_, i64(columns), [&](V w) {
            p.a = at(a, b_.CreateAdd(offset, b_.CreateMul(w, e_.dim(dilation_[2] * channels_))));
            V tap = b_.CreateAdd(b_.CreateMul(b_.CreateAdd(b_.CreateMul(d, i64(filter_[1])), h), i64(columns)), w);
            p.c = at(to, b_.CreateMul(tap, e_.dim(taps)));
            emit_when(b_, b_.CreateICmpNE(p.outer, i64(0)), [&] { emit_product(b_, e_.target, p); });
          });
        });
      });
    };
    if (groups_ == 1) group(nullptr);
    else emit_for(b_, i64(groups_), group);
  }

  CodeEmitter& e_;
  llvm::IRBuilder<>& b_;
  const ir::Instr* i_;
  ConvPlan plan_;
  core::DType dtype_;
  llvm::Type* element_;
  int64_t phases_[kSpatial] = {1, 1, 1}, shift_[kSpatial] = {};  // ConvPlan::phased: the holes, and the padding before the input with its holes
  int64_t filter_[kSpatial], stride_[kSpatial], dilation_[kSpatial], holes_[kSpatial], groups_;
  ir::Dim low_[kSpatial], in_[kSpatial], size_[kSpatial], out_[kSpatial], batch_, channels_, features_, channels_of_group_, features_of_group_;
  V x_ = nullptr, other_ = nullptr, y_ = nullptr, image_ = nullptr;
};

}  // namespace

core::Status CodeEmitter::emit_conv(const ir::Instr* i) { return i->window.winograd ? emit_winograd(i) : Conv(*this, i).forward(); }
core::Status CodeEmitter::emit_conv_filter_grad(const ir::Instr* i) {
  return i->window.winograd ? emit_winograd(i) : Conv(*this, i).filter_gradient();
}

}  // namespace weft_engine::compiler
