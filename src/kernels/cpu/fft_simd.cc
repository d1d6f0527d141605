#include <utility>

#include "kernels/cpu/fft.h"
#include "kernels/cpu/isa_begin.h"

#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic ignored "-Wpsabi"  // registers that are wider than the plain instruction set's are passed to inlined functions only
#endif

namespace {

#define INLINE inline __attribute__((always_inline))

// A register of R, for rows that are a whole number of them; X below is that or R itself.
#if defined(WEFT_ISA_AVX512)
constexpr int kRegister = 64;
#elif defined(WEFT_ISA_AVX2)
constexpr int kRegister = 32;
#else
constexpr int kRegister = 16;
#endif
template <class R, int kBytes>
struct Register {
  typedef R Type __attribute__((vector_size(kBytes)));
};

template <class X, class R>
INLINE X get(const R* p) {
  X v;
  __builtin_memcpy(&v, p, sizeof v);
  return v;
}
template <class X, class R>
INLINE void put(R* p, X v) {
  __builtin_memcpy(p, &v, sizeof v);
}

// One butterfly's inputs and outputs: pointers to the first of `radix` rows that are `step` apart.
template <class R>
struct Rows {
  const R *re, *im;
  R *out_re, *out_im;
  int64_t in_step, out_step, n;
  const R *wr, *wi;
};

template <class X, class R>
INLINE void store(const Rows<R>& t, int64_t k, int64_t i, X re, X im) {
  if (k == 0) {
    put(t.out_re + i, re);
    put(t.out_im + i, im);
  } else {
    const R c = t.wr[k - 1], s = t.wi[k - 1];
    put(t.out_re + k * t.out_step + i, X(re * c - im * s));
    put(t.out_im + k * t.out_step + i, X(re * s + im * c));
  }
}

template <class X, class R>
INLINE void radix2(const Rows<R>& t) {
  for (int64_t i = 0; i < t.n; i += int64_t(sizeof(X) / sizeof(R))) {
    const X r0 = get<X>(t.re + i), i0 = get<X>(t.im + i), r1 = get<X>(t.re + t.in_step + i), i1 = get<X>(t.im + t.in_step + i);
    store<X>(t, 0, i, r0 + r1, i0 + i1);
    store<X>(t, 1, i, r0 - r1, i0 - i1);
  }
}

template <class X, class R>
INLINE void radix3(const Rows<R>& t) {
  constexpr R kHalf = R(0.5), kSin = R(0.86602540378443864676);
  for (int64_t i = 0; i < t.n; i += int64_t(sizeof(X) / sizeof(R))) {
    const X r0 = get<X>(t.re + i), i0 = get<X>(t.im + i), r1 = get<X>(t.re + t.in_step + i), i1 = get<X>(t.im + t.in_step + i);
    const X r2 = get<X>(t.re + 2 * t.in_step + i), i2 = get<X>(t.im + 2 * t.in_step + i);
    const X sr = r1 + r2, si = i1 + i2, dr = kSin * (r1 - r2), di = kSin * (i1 - i2);
    const X mr = r0 - kHalf * sr, mi = i0 - kHalf * si;
    store<X>(t, 0, i, r0 + sr, i0 + si);
    store<X>(t, 1, i, mr + di, mi - dr);
    store<X>(t, 2, i, mr - di, mi + dr);
  }
}

template <class X, class R>
INLINE void radix4(const Rows<R>& t) {
  const int64_t s = t.in_step;
  for (int64_t i = 0; i < t.n; i += int64_t(sizeof(X) / sizeof(R))) {
    const X r0 = get<X>(t.re + i), r1 = get<X>(t.re + s + i), r2 = get<X>(t.re + 2 * s + i), r3 = get<X>(t.re + 3 * s + i);
    const X i0 = get<X>(t.im + i), i1 = get<X>(t.im + s + i), i2 = get<X>(t.im + 2 * s + i), i3 = get<X>(t.im + 3 * s + i);
    const X ar = r0 + r2, ai = i0 + i2, br = r0 - r2, bi = i0 - i2, cr = r1 + r3, ci = i1 + i3, dr = r1 - r3, di = i1 - i3;
    store<X>(t, 0, i, ar + cr, ai + ci);
    store<X>(t, 1, i, br + di, bi - dr);
    store<X>(t, 2, i, ar - cr, ai - ci);
    store<X>(t, 3, i, br - di, bi + dr);
  }
}

template <class X, class R>
INLINE void radix5(const Rows<R>& t) {
  constexpr R c1 = R(0.30901699437494742410), c2 = R(-0.80901699437494742410), s1 = R(0.95105651629515357212), s2 = R(0.58778525229247312917);
  const int64_t s = t.in_step;
  for (int64_t i = 0; i < t.n; i += int64_t(sizeof(X) / sizeof(R))) {
    const X r0 = get<X>(t.re + i), r1 = get<X>(t.re + s + i), r2 = get<X>(t.re + 2 * s + i), r3 = get<X>(t.re + 3 * s + i),
            r4 = get<X>(t.re + 4 * s + i);
    const X i0 = get<X>(t.im + i), i1 = get<X>(t.im + s + i), i2 = get<X>(t.im + 2 * s + i), i3 = get<X>(t.im + 3 * s + i),
            i4 = get<X>(t.im + 4 * s + i);
    const X ar = r1 + r4, ai = i1 + i4, br = r1 - r4, bi = i1 - i4, cr = r2 + r3, ci = i2 + i3, dr = r2 - r3, di = i2 - i3;
    const X er = r0 + c1 * ar + c2 * cr, ei = i0 + c1 * ai + c2 * ci, fr = r0 + c2 * ar + c1 * cr, fi = i0 + c2 * ai + c1 * ci;
    const X gr = s1 * br + s2 * dr, gi = s1 * bi + s2 * di, hr = s2 * br - s1 * dr, hi = s2 * bi - s1 * di;
    store<X>(t, 0, i, r0 + ar + cr, i0 + ai + ci);
    store<X>(t, 1, i, er + gi, ei - gr);
    store<X>(t, 2, i, fr + hi, fi - hr);
    store<X>(t, 3, i, fr - hi, fi + hr);
    store<X>(t, 4, i, er - gi, ei + gr);
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

template <class X, class R>
INLINE void pass(const FftStage<R>& stage, const R* re, const R* im, R* other_re, R* other_im, int64_t row) {
  for (int64_t p = 0; p < stage.m; ++p) {
    const Rows<R> t{re + p * row, im + p * row, other_re + p * stage.radix * row,         other_im + p * stage.radix * row,        stage.m * row,
                    row,          row,          stage.twiddle_re + p * (stage.radix - 1), stage.twiddle_im + p * (stage.radix - 1)};
    switch (stage.radix) {
      case 2: radix2<X>(t); break;
      case 3: radix3<X>(t); break;
      case 4: radix4<X>(t); break;
      case 5: radix5<X>(t); break;
      default: any_radix(t, stage);
    }
  }
}

template <class R>
INLINE bool passes(const FftStage<R>* stages, int64_t count, R* re, R* im, R* other_re, R* other_im, int64_t lines) {
  constexpr int kHalf = kRegister > 16 ? kRegister / 2 : kRegister;
  bool swapped = false;
  for (int64_t k = 0; k < count; ++k) {
    const int64_t row = stages[k].stride * lines, bytes = row * int64_t(sizeof(R));
    if (bytes % kRegister == 0) pass<typename Register<R, kRegister>::Type>(stages[k], re, im, other_re, other_im, row);
    else if (bytes % kHalf == 0) pass<typename Register<R, kHalf>::Type>(stages[k], re, im, other_re, other_im, row);
    else pass<R>(stages[k], re, im, other_re, other_im, row);
    std::swap(re, other_re);
    std::swap(im, other_im);
    swapped = !swapped;
  }
  return swapped;
}

// ---- eight lines of complex floats between memory and the passes

typedef float Eight __attribute__((vector_size(32)));

// Rows become columns: of pairs, of fours, of eights.
INLINE void turn(Eight (&v)[8]) {
  Eight t[8];
  for (int i = 0; i < 4; ++i) {
    t[2 * i] = __builtin_shufflevector(v[2 * i], v[2 * i + 1], 0, 8, 2, 10, 4, 12, 6, 14);
    t[2 * i + 1] = __builtin_shufflevector(v[2 * i], v[2 * i + 1], 1, 9, 3, 11, 5, 13, 7, 15);
  }
  for (int i : {0, 1, 4, 5}) {
    v[i] = __builtin_shufflevector(t[i], t[i + 2], 0, 1, 8, 9, 4, 5, 12, 13);
    v[i + 2] = __builtin_shufflevector(t[i], t[i + 2], 2, 3, 10, 11, 6, 7, 14, 15);
  }
  for (int i = 0; i < 4; ++i) {
    t[i] = __builtin_shufflevector(v[i], v[i + 4], 0, 1, 2, 3, 8, 9, 10, 11);
    t[i + 4] = __builtin_shufflevector(v[i], v[i + 4], 4, 5, 6, 7, 12, 13, 14, 15);
  }
  for (int i = 0; i < 8; ++i) v[i] = t[i];
}

}  // namespace

WEFT_FFT_PASSES(fft_passes_float, float) { return passes(stages, count, re, im, other_re, other_im, lines); }
WEFT_FFT_PASSES(fft_passes_double, double) { return passes(stages, count, re, im, other_re, other_im, lines); }

void fft_take_eight(const float* from, int64_t step, int64_t n, float* re, float* im) {
  int64_t k = 0;
  for (; k + 4 <= n; k += 4) {
    Eight v[8];
    for (int l = 0; l < 8; ++l) v[l] = get<Eight>(from + l * step + 2 * k);
    turn(v);
    for (int i = 0; i < 4; ++i) {
      put(re + (k + i) * 8, v[2 * i]);
      put(im + (k + i) * 8, v[2 * i + 1]);
    }
  }
  for (; k < n; ++k) {
    for (int l = 0; l < 8; ++l) {
      re[k * 8 + l] = from[l * step + 2 * k];
      im[k * 8 + l] = from[l * step + 2 * k + 1];
    }
  }
}

void fft_give_eight(const float* re, const float* im, int64_t n, float factor, float* to, int64_t step) {
  int64_t k = 0;
  for (; k + 4 <= n; k += 4) {
    Eight v[8];
    for (int i = 0; i < 4; ++i) {
      v[2 * i] = get<Eight>(re + (k + i) * 8) * factor;
      v[2 * i + 1] = get<Eight>(im + (k + i) * 8) * factor;
    }
    turn(v);
    for (int l = 0; l < 8; ++l) put(to + l * step + 2 * k, v[l]);
  }
  for (; k < n; ++k) {
    for (int l = 0; l < 8; ++l) {
      to[l * step + 2 * k] = re[k * 8 + l] * factor;
      to[l * step + 2 * k + 1] = im[k * 8 + l] * factor;
    }
  }
}

void fft_take_columns(const float* from, int64_t step, int64_t n, float* re, float* im) {
  for (int64_t k = 0; k < n; ++k) {
    const Eight a = get<Eight>(from + k * step), b = get<Eight>(from + k * step + 8);
    put(re + k * 8, Eight(__builtin_shufflevector(a, b, 0, 2, 4, 6, 8, 10, 12, 14)));
    put(im + k * 8, Eight(__builtin_shufflevector(a, b, 1, 3, 5, 7, 9, 11, 13, 15)));
  }
}

void fft_give_columns(const float* re, const float* im, int64_t n, float factor, float* to, int64_t step) {
  for (int64_t k = 0; k < n; ++k) {
    const Eight a = get<Eight>(re + k * 8) * factor, b = get<Eight>(im + k * 8) * factor;
    put(to + k * step, Eight(__builtin_shufflevector(a, b, 0, 8, 1, 9, 2, 10, 3, 11)));
    put(to + k * step + 8, Eight(__builtin_shufflevector(a, b, 4, 12, 5, 13, 6, 14, 7, 15)));
  }
}

void fft_turn_eight(float* re, float* im, int64_t n, const float* base_re, const float* base_im, const float* root_re, const float* root_im) {
  for (int64_t k = 0; k < n; ++k) {
    const Eight a = get<Eight>(root_re + k * 8), b = get<Eight>(root_im + k * 8), x = get<Eight>(re + k * 8), y = get<Eight>(im + k * 8);
    const Eight c = a * base_re[k] - b * base_im[k], s = a * base_im[k] + b * base_re[k];
    put(re + k * 8, Eight(x * c - y * s));
    put(im + k * 8, Eight(x * s + y * c));
  }
}

void fft_unfold_eight(const float* re, const float* im, const float* root_re, const float* root_im, int64_t h, float* out_re, float* out_im) {
  for (int64_t k = 0; k <= h; ++k) {
    const int64_t at = (k == h ? 0 : k) * 8, back = (k == 0 ? 0 : h - k) * 8;
    const Eight ar = get<Eight>(re + at), ai = get<Eight>(im + at), br = get<Eight>(re + back), bi = get<Eight>(im + back);
    const Eight er = (ar + br) * 0.5f, ei = (ai - bi) * 0.5f, odd_r = (ai + bi) * 0.5f, odd_i = (br - ar) * 0.5f;
    const float c = root_re[k], s = root_im[k];
    put(out_re + k * 8, Eight(er + odd_r * c - odd_i * s));
    put(out_im + k * 8, Eight(ei + odd_r * s + odd_i * c));
  }
}

void fft_fold_eight(const float* re, const float* im, const float* root_re, const float* root_im, int64_t h, float* out_re, float* out_im) {
  for (int64_t k = 0; k < h; ++k) {
    const Eight ar = get<Eight>(re + k * 8), br = get<Eight>(re + (h - k) * 8);
    const Eight ai = k == 0 ? Eight{} : get<Eight>(im + k * 8), bi = k == 0 ? Eight{} : -get<Eight>(im + (h - k) * 8);
    const Eight dr = ar - br, di = ai - bi;
    const float c = root_re[k], s = -root_im[k];
    put(out_re + k * 8, Eight(ai + bi + (dr * c - di * s)));
    put(out_im + k * 8, Eight(ar + br - (dr * s + di * c)));
  }
}

#undef INLINE
#include "kernels/cpu/isa_end.h"
