// Fourier transforms of any length along one axis, in the type's own precision. Lengths whose prime factors
// are small go through Stockham's passes; others are turned into a convolution (Bluestein). Lines are
// worked on several at a time, interleaved, so that the passes run along memory. Long lines are matrices: transforms of their columns, transposed, and of their rows.
#pragma once

#include <complex>
#include <cstdint>

#include "core/thread_pool.h"
#include "kernels/cpu/isa.h"

namespace weft_engine::kernels {

// Over the middle axis of [outer, n, inner]: out_k = factor * sum_j in_j exp(-+ 2 pi i j k / n), with the minus
// forwards and the plus inverse. `out` may be `in`.
template <class Real>
void fft_axis(const std::complex<Real>* in, std::complex<Real>* out, int64_t outer, int64_t n, int64_t inner, bool inverse, Real factor,
              core::ThreadPool& pool);

// From `lines` rows of n real numbers to rows of n / 2 + 1.
template <class Real>
void real_fft(const Real* in, std::complex<Real>* out, int64_t lines, int64_t n, core::ThreadPool& pool);
// Back, times factor. Imaginary parts that cannot be (of the first element, and of the last for even n) are
// not read.
template <class Real>
void inverse_real_fft(const std::complex<Real>* in, Real* out, int64_t lines, int64_t n, Real factor, core::ThreadPool& pool);

// One pass of Stockham's algorithm: n = radix * m * stride.
template <class Real>
struct FftStage {
  int64_t radix, m, stride;
  const Real *twiddle_re, *twiddle_im;  // [m, radix - 1]
  const Real *root_re, *root_im;  // powers of exp(-2 pi i / radix), for radices without code of their own
};
// Element k of line l lies at k * lines + l. Each pass goes from re, im to other_re, other_im and swaps
// them; true if the result is in the others.
#define WEFT_FFT_PASSES(name, Real) \
  bool name(const FftStage<Real>* stages, int64_t count, Real* re, Real* im, Real* other_re, Real* other_im, int64_t lines)
WEFT_DECLARE_ISA(WEFT_FFT_PASSES(fft_passes_float, float))
WEFT_DECLARE_ISA(WEFT_FFT_PASSES(fft_passes_double, double))
// Eight lines of n complex floats, `step` floats apart, to where the passes work, and back times factor.
WEFT_DECLARE_ISA(void fft_take_eight(const float* from, int64_t step, int64_t n, float* re, float* im))
WEFT_DECLARE_ISA(void fft_give_eight(const float* re, const float* im, int64_t n, float factor, float* to, int64_t step))
// The same for eight lines that lie side by side: element k of all of them is at k * step.
WEFT_DECLARE_ISA(void fft_take_columns(const float* from, int64_t step, int64_t n, float* re, float* im))
WEFT_DECLARE_ISA(void fft_give_columns(const float* re, const float* im, int64_t n, float factor, float* to, int64_t step))
// Element k of line l times base[k] root[k, l].
WEFT_DECLARE_ISA(void fft_turn_eight(float* re, float* im, int64_t n, const float* base_re, const float* base_im, const float* root_re,
                                     const float* root_im))
// From the transforms of 2 h real numbers taken as h complex ones, of eight lines, to their h + 1 bins: those of the even and of the odd elements come from the sum and
// its mirror image. The roots are exp(-pi i k / h).
WEFT_DECLARE_ISA(void fft_unfold_eight(const float* re, const float* im, const float* root_re, const float* root_im, int64_t h, float* out_re,
                                       float* out_im))
// Back: from h + 1 bins, of which the first and the last count as real, to what the passes turn into 2 h real numbers; the parts are swapped, as for an inverse.
WEFT_DECLARE_ISA(void fft_fold_eight(const float* re, const float* im, const float* root_re, const float* root_im, int64_t h, float* out_re,
                                     float* out_im))

}  // namespace weft_engine::kernels
