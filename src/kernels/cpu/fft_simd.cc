#include <utility>

#include "kernels/cpu/fft.h"
#include "kernels/cpu/isa_begin.h"

namespace {

#define INLINE inline __attribute__((always_inline))

// One butterfly's inputs and outputs: pointers to the first of `radix` rows that are `step` apart.
template <class R>
struct Rows {
  const R *re, *im;
  R *out_re, *out_im;
  int64_t in_step, out_step, n;
  const R *wr, *wi;
};

template <class R>
INLINE void store(const Rows<R>& t, int64_t k, int64_t i, R re, R im) {
  if (k == 0) {
    t.out_re[i] = re;
    t.out_im[i] = im;
  } else {
    const R c = t.wr[k - 1], s = t.wi[k - 1];
    t.out_re[k * t.out_step + i] = re * c - im * s;
    t.out_im[k * t.out_step + i] = re * s + im * c;
  }
}

template <class R>
INLINE void radix2(const Rows<R>& t) {
  const R* __restrict a = t.re, * __restrict b = t.im;
  for (int64_t i = 0; i < t.n; ++i) {
    const R r0 = a[i], i0 = b[i], r1 = a[t.in_step + i], i1 = b[t.in_step + i];
    store(t, 0, i, r0 + r1, i0 + i1);
    store(t, 1, i, r0 - r1, i0 - i1);
  }
}

template <class R>
INLINE void radix3(const Rows<R>& t) {
  constexpr R kHalf = R(0.5), kSin = R(0.86602540378443864676);
  for (int64_t i = 0; i < t.n; ++i) {
    const R r0 = t.re[i], i0 = t.im[i], r1 = t.re[t.in_step + i], i1 = t.im[t.in_step + i];
    const R r2 = t.re[2 * t.in_step + i], i2 = t.im[2 * t.in_step + i];
    const R sr = r1 + r2, si = i1 + i2, dr = kSin * (r1 - r2), di = kSin * (i1 - i2);
    const R mr = r0 - kHalf * sr, mi = i0 - kHalf * si;
    store(t, 0, i, r0 + sr, i0 + si);
    store(t, 1, i, mr + di, mi - dr);
    store(t, 2, i, mr - di, mi + dr);
  }
}

template <class R>
INLINE void radix4(const Rows<R>& t) {
  const int64_t s = t.in_step;
  for (int64_t i = 0; i < t.n; ++i) {
    const R ar = t.re[i] + t.re[2 * s + i], ai = t.im[i] + t.im[2 * s + i], br = t.re[i] - t.re[2 * s + i], bi = t.im[i] - t.im[2 * s + i];
    const R cr = t.re[s + i] + t.re[3 * s + i], ci = t.im[s + i] + t.im[3 * s + i], dr = t.re[s + i] - t.re[3 * s + i],
            di = t.im[s + i] - t.im[3 * s + i];
    store(t, 0, i, ar + cr, ai + ci);
    store(t, 1, i, br + di, bi - dr);
    store(t, 2, i, ar - cr, ai - ci);
    store(t, 3, i, br - di, bi + dr);
  }
}

template <class R>
INLINE void radix5(const Rows<R>& t) {
  constexpr R c1 = R(0.30901699437494742410), c2 = R(-0.80901699437494742410), s1 = R(0.95105651629515357212), s2 = R(0.58778525229247312917);
  const int64_t s = t.in_step;
  for (int64_t i = 0; i < t.n; ++i) {
    const R r0 = t.re[i], i0 = t.im[i];
    const R ar = t.re[s + i] + t.re[4 * s + i], ai = t.im[s + i] + t.im[4 * s + i], br = t.re[s + i] - t.re[4 * s + i],
            bi = t.im[s + i] - t.im[4 * s + i];
    const R cr = t.re[2 * s + i] + t.re[3 * s + i], ci = t.im[2 * s + i] + t.im[3 * s + i];
    const R dr = t.re[2 * s + i] - t.re[3 * s + i], di = t.im[2 * s + i] - t.im[3 * s + i];
    const R er = r0 + c1 * ar + c2 * cr, ei = i0 + c1 * ai + c2 * ci, fr = r0 + c2 * ar + c1 * cr, fi = i0 + c2 * ai + c1 * ci;
    const R gr = s1 * br + s2 * dr, gi = s1 * bi + s2 * di, hr = s2 * br - s1 * dr, hi = s2 * bi - s1 * di;
    store(t, 0, i, r0 + ar + cr, i0 + ai + ci);
    store(t, 1, i, er + gi, ei - gr);
    store(t, 2, i, fr + hi, fi - hr);
    store(t, 3, i, fr - hi, fi + hr);
    store(t, 4, i, er - gi, ei + gr);
  }
}

template <class R>
INLINE void any_radix(const Rows<R>& t, const FftStage<R>& stage) {
  const int64_t r = stage.radix;
  for (int64_t k = 0; k < r; ++k) {
    R *out_re = t.out_re + k * t.out_step, *out_im = t.out_im + k * t.out_step;
    const R c = k ? t.wr[k - 1] : R(1), s = k ? t.wi[k - 1] : R(0);
    for (int64_t i = 0; i < t.n; ++i) {
      R re = 0, im = 0;
      int64_t power = 0;
      for (int64_t j = 0; j < r; ++j) {
        const R a = t.re[j * t.in_step + i], b = t.im[j * t.in_step + i];
        re += a * stage.root_re[power] - b * stage.root_im[power];
        im += a * stage.root_im[power] + b * stage.root_re[power];
        power += k;
        if (power >= r) power -= r;
      }
      out_re[i] = re * c - im * s;
      out_im[i] = re * s + im * c;
    }
  }
}

template <class R>
INLINE bool passes(const FftStage<R>* stages, int64_t count, R* re, R* im, R* other_re, R* other_im, int64_t lines) {
  bool swapped = false;
  for (int64_t k = 0; k < count; ++k) {
    const FftStage<R>& stage = stages[k];
    const int64_t row = stage.stride * lines;
    for (int64_t p = 0; p < stage.m; ++p) {
      const Rows<R> t{re + p * row, im + p * row, other_re + p * stage.radix * row,         other_im + p * stage.radix * row,        stage.m * row,
                      row,          row,          stage.twiddle_re + p * (stage.radix - 1), stage.twiddle_im + p * (stage.radix - 1)};
      switch (stage.radix) {
        case 2: radix2(t); break;
        case 3: radix3(t); break;
        case 4: radix4(t); break;
        case 5: radix5(t); break;
        default: any_radix(t, stage);
      }
    }
    std::swap(re, other_re);
    std::swap(im, other_im);
    swapped = !swapped;
  }
  return swapped;
}

}  // namespace

WEFT_FFT_PASSES(fft_passes_float, float) { return passes(stages, count, re, im, other_re, other_im, lines); }
WEFT_FFT_PASSES(fft_passes_double, double) { return passes(stages, count, re, im, other_re, other_im, lines); }

#undef INLINE
#include "kernels/cpu/isa_end.h"
