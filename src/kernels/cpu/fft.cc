#include "kernels/cpu/fft.h"

#include <algorithm>
#include <cmath>
#include <memory>
#include <mutex>
#include <numbers>
#include <unordered_map>
#include <vector>

#include "kernels/cpu/scratch.h"

namespace weft_engine::kernels {

namespace {

constexpr int64_t kLargestRadix = 31;
constexpr size_t kMaxCachedPlans = 64;
constexpr int64_t kMaxCachedLength = int64_t(1) << 20;
constexpr int64_t kLongLine = int64_t(1) << 16;  // whose passes would go through memory, and not through a core's own cache
constexpr int64_t kElementsAtOnce = 16384, kLinesAtOnce = 8;

template <class Real>
struct Table {
  std::vector<Real> re, im;
  void add(double angle) {
    re.push_back(exact(std::cos(angle)));
    im.push_back(exact(std::sin(angle)));
  }
  // At quarters of a turn pi's rounding leaves 1e-16 where zero belongs, and the spectrum of a real line would not be quite symmetric.
  static Real exact(double v) { return std::abs(v) < 1e-15 ? Real(0) : Real(v); }
};

// exp(-2 pi i k / n), k reduced first so that the angle is small and exact.
double angle_of(int64_t k, int64_t n) { return -2 * std::numbers::pi * (double(k % n) / double(n)); }

// Room for one group of lines.
template <class Real>
struct Work {
  explicit Work(int64_t n) : re(size_t(n), Real(0)), im(size_t(n), Real(0)), other_re(size_t(n), Real(0)), other_im(size_t(n), Real(0)) {}
  std::vector<Real> re, im, other_re, other_im;
};

// P for n, made once. `longest`: of those that are kept.
template <class P>
std::shared_ptr<const P> cached(int64_t n, int64_t longest) {
  static std::mutex mutex;
  static auto* plans = new std::unordered_map<int64_t, std::shared_ptr<const P>>();  // threads may run while the process ends
  {
    std::lock_guard lock(mutex);
    if (const auto it = plans->find(n); it != plans->end()) return it->second;
  }
  auto plan = std::make_shared<const P>(n);
  if (n <= longest) {
    std::lock_guard lock(mutex);
    if (plans->size() >= kMaxCachedPlans) plans->clear();
    plans->emplace(n, plan);
  }
  return plan;
}

template <class Real>
class Plan {
 public:
  static std::shared_ptr<const Plan> get(int64_t n) { return cached<Plan>(n, kMaxCachedLength); }

  explicit Plan(int64_t n) : n_(n) {
    std::vector<int64_t> radices;
    if (factor(n, radices)) {
      make_stages(radices);
    } else {
      make_convolution();
    }
  }

  // Elements of work for each line.
  int64_t room() const { return inner_ ? inner_->n_ : n_; }
  int64_t lines_at_once() const { return std::clamp<int64_t>(kElementsAtOnce / room(), 1, kLinesAtOnce); }

  // Forwards, over the first n elements of work.re and work.im.
  void run(Work<Real>& work, int64_t lines) const {
    if (inner_) return convolve(work, lines);
    bool swapped;
    if constexpr (std::is_same_v<Real, float>) {
      swapped = WEFT_BEST_ISA(fft_passes_float)(stages_.data(), int64_t(stages_.size()), work.re.data(), work.im.data(), work.other_re.data(),
                                                work.other_im.data(), lines);
    } else {
      swapped = WEFT_BEST_ISA(fft_passes_double)(stages_.data(), int64_t(stages_.size()), work.re.data(), work.im.data(), work.other_re.data(),
                                                 work.other_im.data(), lines);
    }
    if (swapped) {
      work.re.swap(work.other_re);
      work.im.swap(work.other_im);
    }
  }

 private:
  static bool factor(int64_t n, std::vector<int64_t>& radices) {
    for (int64_t r : {4, 2, 3, 5}) {
      for (; n % r == 0; n /= r) radices.push_back(r);
    }
    for (int64_t r = 7; r <= kLargestRadix; r += 2) {
      for (; n % r == 0; n /= r) radices.push_back(r);
    }
    return n == 1;
  }

  void make_stages(const std::vector<int64_t>& radices) {
    std::vector<std::pair<size_t, size_t>> offsets;  // pointers are taken when the tables have stopped moving
    int64_t left = n_, stride = 1;
    for (int64_t r : radices) {
      const int64_t m = left / r;
      offsets.emplace_back(twiddles_.re.size(), roots_.re.size());
      for (int64_t p = 0; p < m; ++p) {
        for (int64_t k = 1; k < r; ++k) twiddles_.add(angle_of(p * k, left));
      }
      if (r > 5) {
        for (int64_t k = 0; k < r; ++k) roots_.add(angle_of(k, r));
      }
      stages_.push_back({r, m, stride, nullptr, nullptr, nullptr, nullptr});
      left = m;
      stride *= r;
    }
    for (size_t i = 0; i < stages_.size(); ++i) {
      stages_[i].twiddle_re = twiddles_.re.data() + offsets[i].first;
      stages_[i].twiddle_im = twiddles_.im.data() + offsets[i].first;
      stages_[i].root_re = roots_.re.data() + offsets[i].second;
      stages_[i].root_im = roots_.im.data() + offsets[i].second;
    }
  }

  // j k = (j^2 + k^2 - (k - j)^2) / 2: a convolution with the chirp exp(i pi k^2 / n).
  void make_convolution() {
    int64_t m = 1;
    while (m < 2 * n_ - 1) m *= 2;
    inner_ = std::make_shared<const Plan>(m);
    for (int64_t k = 0; k < n_; ++k) chirp_.add(-std::numbers::pi * (double((k * k) % (2 * n_)) / double(n_)));
    Work<Real> work(m);
    for (int64_t k = 0; k < n_; ++k) {
      for (int64_t at : {k, (m - k) % m}) {
        work.re[size_t(at)] = chirp_.re[size_t(k)];
        work.im[size_t(at)] = -chirp_.im[size_t(k)];
      }
    }
    inner_->run(work, 1);
    spectrum_.re = std::move(work.re);
    spectrum_.im = std::move(work.im);
  }

  // work *= factor, element by element, for all lines; negated imaginary parts make the next forward
  // transform an inverse one.
  static void multiply(Work<Real>& work, const Table<Real>& factor, int64_t n, int64_t lines, bool conjugate, Real scale) {
    for (int64_t k = 0; k < n; ++k) {
      const Real c = factor.re[size_t(k)] * scale, s = factor.im[size_t(k)] * scale;
      Real *re = work.re.data() + k * lines, *im = work.im.data() + k * lines;
      for (int64_t l = 0; l < lines; ++l) {
        const Real a = re[l], b = im[l];
        re[l] = a * c - b * s;
        im[l] = conjugate ? -(a * s + b * c) : a * s + b * c;
      }
    }
  }

  void convolve(Work<Real>& work, int64_t lines) const {
    const int64_t m = inner_->n_;
    multiply(work, chirp_, n_, lines, false, Real(1));
    std::fill(work.re.begin() + n_ * lines, work.re.begin() + m * lines, Real(0));
    std::fill(work.im.begin() + n_ * lines, work.im.begin() + m * lines, Real(0));
    inner_->run(work, lines);
    multiply(work, spectrum_, m, lines, true, Real(1) / Real(m));
    inner_->run(work, lines);
    for (int64_t i = 0; i < n_ * lines; ++i) work.im[size_t(i)] = -work.im[size_t(i)];
    multiply(work, chirp_, n_, lines, false, Real(1));
  }

  int64_t n_;
  std::vector<FftStage<Real>> stages_;
  Table<Real> twiddles_, roots_, chirp_, spectrum_;
  std::shared_ptr<const Plan> inner_;  // of the convolution
};

// Calls body(work, first line, count) for groups of lines. Groups depend on the sizes alone.
template <class Real, class Body>
void each_group(const Plan<Real>& plan, int64_t lines, core::ThreadPool& pool, Body body) {
  const int64_t at_once = std::min(plan.lines_at_once(), lines), groups = (lines + at_once - 1) / at_once;
  const double cost = double(plan.room()) * double(at_once) * (4 + 2 * std::log2(double(plan.room()) + 1)) / 2;
  pool.parallel_for(groups, cost, [&](int64_t begin, int64_t end) {
    Work<Real> work(plan.room() * at_once);
    for (int64_t g = begin; g < end; ++g) body(work, g * at_once, std::min(at_once, lines - g * at_once));
  });
}

// One long line of floats as a matrix of `rows` by `columns`: x_(k1 + rows k2) is the transform, over the columns j2, of what the transform of each column has at k1, transposed
// by k1 j2 of n. Everything goes through memory twice.
class LongLine {
 public:
  explicit LongLine(int64_t n) : n_(n) {
    if (!smooth(n)) return;
    for (int64_t r = int64_t(std::sqrt(double(n))); r >= 8 && !rows_; --r) {
      if (n % r == 0 && r % 8 == 0 && n / r % 8 == 0) rows_ = r;
    }
    if (!rows_) return;
    columns_ = n / rows_;
    by_rows_ = Plan<float>::get(rows_);
    by_columns_ = Plan<float>::get(columns_);
    for (int64_t k = 0; k < rows_; ++k) {
      for (int64_t l = 0; l < 8; ++l) near_.add(angle_of(k * l, n));
    }
    for (int64_t k = 0; k < kCoarse; ++k) fine_.add(angle_of(k, n));
    for (int64_t k = 0; k * kCoarse < n; ++k) coarse_.add(angle_of(k * kCoarse, n));
  }
  static std::shared_ptr<const LongLine> get(int64_t n) { return cached<LongLine>(n, int64_t(1) << 26); }
  bool applies() const { return rows_ > 0; }

  void run(const std::complex<float>* in, std::complex<float>* out, bool inverse, float factor, core::ThreadPool& pool) const {
    const Scratch transposed(2 * n_);
    const float* const from = reinterpret_cast<const float*>(in);
    float *const to = reinterpret_cast<float*>(out), *const between = transposed.get();
    const auto cost = [](int64_t n) { return double(n) * 8 * (4 + 2 * std::log2(double(n))) / 4; };
    pool.parallel_for(columns_ / 8, cost(rows_), [&](int64_t begin, int64_t end) {
      Work<float> work(rows_ * 8);
      std::vector<float> base(size_t(rows_) * 2);
      for (int64_t j = begin * 8; j < end * 8; j += 8) {
        // Swapping real and imaginary parts before and after makes a forward transform an inverse one.
        WEFT_BEST_ISA(fft_take_columns)(from + 2 * j, 2 * columns_, rows_, (inverse ? work.im : work.re).data(),
                                        (inverse ? work.re : work.im).data());
        by_rows_->run(work, 8);
        find_base(j, base.data(), base.data() + rows_);
        WEFT_BEST_ISA(fft_turn_eight)(work.re.data(), work.im.data(), rows_, base.data(), base.data() + rows_, near_.re.data(), near_.im.data());
        WEFT_BEST_ISA(fft_give_columns)(work.re.data(), work.im.data(), rows_, 1, between + 2 * j, 2 * columns_);
      }
    });
    pool.parallel_for(rows_ / 8, cost(columns_), [&](int64_t begin, int64_t end) {
      Work<float> work(columns_ * 8);
      for (int64_t i = begin * 8; i < end * 8; i += 8) {
        WEFT_BEST_ISA(fft_take_eight)(between + 2 * i * columns_, 2 * columns_, columns_, work.re.data(), work.im.data());
        by_columns_->run(work, 8);
        WEFT_BEST_ISA(fft_give_columns)((inverse ? work.im : work.re).data(), (inverse ? work.re : work.im).data(), columns_, factor, to + 2 * i,
                                        2 * rows_);
      }
    });
  }

 private:
  static bool smooth(int64_t n) {
    for (int64_t r : {2, 3, 5, 7, 11, 13, 17, 19, 23, 29, 31}) {
      while (n % r == 0) n /= r;
    }
    return n == 1;
  }

  // exp(-2 pi i j k / n) for all k, as a product of two.
  void find_base(int64_t j, float* re, float* im) const {
    for (int64_t k = 0; k < rows_; ++k) {
      const auto a = size_t(j * k / kCoarse), b = size_t(j * k % kCoarse);
      re[k] = float(coarse_.re[a] * fine_.re[b] - coarse_.im[a] * fine_.im[b]);
      im[k] = float(coarse_.re[a] * fine_.im[b] + coarse_.im[a] * fine_.re[b]);
    }
  }

  static constexpr int64_t kCoarse = 1024;
  int64_t n_, rows_ = 0, columns_ = 0;
  std::shared_ptr<const Plan<float>> by_rows_, by_columns_;
  Table<float> near_;  // [rows_, 8]
  Table<double> fine_, coarse_;  // by one of n, and by kCoarse
};

// The usual case: eight lines of floats, one after the other or side by side. False for others.
template <class Real>
bool run_eight(const Plan<Real>& plan, Work<Real>& work, const std::complex<Real>* in, std::complex<Real>* out, int64_t first, int64_t count,
               int64_t inner, int64_t n, bool inverse, Real factor) {
  if constexpr (std::is_same_v<Real, float>) {
    if (count != 8 || (inner != 1 && first % inner + 8 > inner)) return false;
    const int64_t at = first / inner * n * inner + first % inner;
    const bool rows = inner == 1;
    const int64_t step = 2 * (rows ? n : inner);
    (rows ? WEFT_BEST_ISA(fft_take_eight) : WEFT_BEST_ISA(fft_take_columns))(
        reinterpret_cast<const float*>(in + at), step, n, (inverse ? work.im : work.re).data(), (inverse ? work.re : work.im).data());
    plan.run(work, 8);
    (rows ? WEFT_BEST_ISA(fft_give_eight) : WEFT_BEST_ISA(fft_give_columns))(
        (inverse ? work.im : work.re).data(), (inverse ? work.re : work.im).data(), n, factor, reinterpret_cast<float*>(out + at), step);
    return true;
  }
  return false;
}

}  // namespace

template <class Real>
void fft_axis(const std::complex<Real>* in, std::complex<Real>* out, int64_t outer, int64_t n, int64_t inner, bool inverse, Real factor,
              core::ThreadPool& pool) {
  if constexpr (std::is_same_v<Real, float>) {
    if (const auto line = inner == 1 && n >= kLongLine ? LongLine::get(n) : nullptr; line && line->applies()) {
      for (int64_t i = 0; i < outer; ++i) line->run(in + i * n, out + i * n, inverse, factor, pool);
      return;
    }
  }
  const auto plan = Plan<Real>::get(n);
  each_group(*plan, outer * inner, pool, [&](Work<Real>& work, int64_t first, int64_t count) {
    if (run_eight(*plan, work, in, out, first, count, inner, n, inverse, factor)) return;
    int64_t lines[kLinesAtOnce];
    for (int64_t l = 0; l < count; ++l) lines[l] = (first + l) / inner * n * inner + (first + l) % inner;
    // Swapping real and imaginary parts before and after makes a forward transform an inverse one.
    for (int64_t k = 0; k < n; ++k) {
      for (int64_t l = 0; l < count; ++l) {
        const std::complex<Real> v = in[lines[l] + k * inner];
        work.re[size_t(k * count + l)] = inverse ? v.imag() : v.real();
        work.im[size_t(k * count + l)] = inverse ? v.real() : v.imag();
      }
    }
    plan->run(work, count);
    for (int64_t k = 0; k < n; ++k) {
      for (int64_t l = 0; l < count; ++l) {
        const Real a = work.re[size_t(k * count + l)] * factor, b = work.im[size_t(k * count + l)] * factor;
        out[lines[l] + k * inner] = inverse ? std::complex<Real>(b, a) : std::complex<Real>(a, b);
      }
    }
  });
}

template <class Real>
void real_fft(const Real* in, std::complex<Real>* out, int64_t lines, int64_t n, core::ThreadPool& pool) {
  const bool even = n % 2 == 0;
  const int64_t h = even ? n / 2 : n, bins = n / 2 + 1;
  const auto plan = Plan<Real>::get(h);
  Table<Real> w;
  if (even) {
    for (int64_t k = 0; k <= h; ++k) w.add(angle_of(k, n));
  }
  each_group(*plan, lines, pool, [&](Work<Real>& work, int64_t first, int64_t count) {
    bool taken = false;
    if constexpr (std::is_same_v<Real, float>) {
      taken = even && count == 8;
      if (taken) WEFT_BEST_ISA(fft_take_eight)(in + first * n, n, h, work.re.data(), work.im.data());
    }
    for (int64_t l = 0; l < count && !taken; ++l) {
      const Real* line = in + (first + l) * n;
      for (int64_t k = 0; k < h; ++k) {  // an even line is taken as h complex numbers
        work.re[size_t(k * count + l)] = even ? line[2 * k] : line[k];
        work.im[size_t(k * count + l)] = even ? line[2 * k + 1] : Real(0);
      }
    }
    plan->run(work, count);
    if constexpr (std::is_same_v<Real, float>) {
      if (taken) {
        work.other_re.resize(std::max(work.other_re.size(), size_t(bins) * 8));
        work.other_im.resize(std::max(work.other_im.size(), size_t(bins) * 8));
        WEFT_BEST_ISA(fft_unfold_eight)(work.re.data(), work.im.data(), w.re.data(), w.im.data(), h, work.other_re.data(), work.other_im.data());
        WEFT_BEST_ISA(fft_give_eight)(work.other_re.data(), work.other_im.data(), bins, 1, reinterpret_cast<float*>(out + first * bins), 2 * bins);
        return;
      }
    }
    for (int64_t l = 0; l < count; ++l) {
      std::complex<Real>* line = out + (first + l) * bins;
      for (int64_t k = 0; k < bins; ++k) {
        const size_t at = size_t((k % h) * count + l), back = size_t(((h - k) % h) * count + l);
        if (!even) {
          line[k] = {work.re[at], work.im[at]};
          continue;
        }
        // Transforms of the even and the odd elements, from their sum and its mirror image.
        const Real er = (work.re[at] + work.re[back]) / 2, ei = (work.im[at] - work.im[back]) / 2;
        const Real orr = (work.im[at] + work.im[back]) / 2, oi = (work.re[back] - work.re[at]) / 2;
        const Real c = w.re[size_t(k)], s = w.im[size_t(k)];
        line[k] = {er + orr * c - oi * s, ei + orr * s + oi * c};
      }
    }
  });
}

template <class Real>
void inverse_real_fft(const std::complex<Real>* in, Real* out, int64_t lines, int64_t n, Real factor, core::ThreadPool& pool) {
  const bool even = n % 2 == 0;
  const int64_t h = even ? n / 2 : n, bins = n / 2 + 1;
  const auto plan = Plan<Real>::get(h);
  Table<Real> w;
  if (even) {
    for (int64_t k = 0; k <= h; ++k) w.add(angle_of(k, n));
  }
  each_group(*plan, lines, pool, [&](Work<Real>& work, int64_t first, int64_t count) {
    bool taken = false;
    if constexpr (std::is_same_v<Real, float>) {
      taken = even && count == 8;
      if (taken) {
        work.other_re.resize(std::max(work.other_re.size(), size_t(bins) * 8));
        work.other_im.resize(std::max(work.other_im.size(), size_t(bins) * 8));
        work.re.resize(work.other_re.size()), work.im.resize(work.other_im.size());  // they change places
        WEFT_BEST_ISA(fft_take_eight)(reinterpret_cast<const float*>(in + first * bins), 2 * bins, bins, work.other_re.data(), work.other_im.data());
        WEFT_BEST_ISA(fft_fold_eight)(work.other_re.data(), work.other_im.data(), w.re.data(), w.im.data(), h, work.re.data(), work.im.data());
      }
    }
    for (int64_t l = 0; l < count && !taken; ++l) {
      const std::complex<Real>* line = in + (first + l) * bins;
      const auto bin = [&](int64_t k) { return k == 0 || (even && k == h) ? std::complex<Real>(line[k].real()) : line[k]; };
      for (int64_t k = 0; k < h; ++k) {
        std::complex<Real> z;
        if (even) {
          const std::complex<Real> a = bin(k), b = std::conj(bin(h - k)), difference = a - b;
          const Real c = w.re[size_t(k)], s = -w.im[size_t(k)];
          const Real orr = difference.real() * c - difference.imag() * s, oi = difference.real() * s + difference.imag() * c;
          z = {a.real() + b.real() - oi, a.imag() + b.imag() + orr};
        } else {
          z = k < bins ? bin(k) : std::conj(bin(n - k));
        }
        work.re[size_t(k * count + l)] = z.imag();  // swapped: inverse
        work.im[size_t(k * count + l)] = z.real();
      }
    }
    plan->run(work, count);
    if constexpr (std::is_same_v<Real, float>) {
      if (even && count == 8) {  // pairs of real numbers, as complex ones: the parts are swapped
        WEFT_BEST_ISA(fft_give_eight)(work.im.data(), work.re.data(), h, factor, out + first * n, n);
        return;
      }
    }
    for (int64_t l = 0; l < count; ++l) {
      Real* line = out + (first + l) * n;
      for (int64_t k = 0; k < h; ++k) {
        const size_t at = size_t(k * count + l);
        if (even) {
          line[2 * k] = work.im[at] * factor;
          line[2 * k + 1] = work.re[at] * factor;
        } else {
          line[k] = work.im[at] * factor;
        }
      }
    }
  });
}

#define WEFT_FFT(Real)                                                                                                              \
  template void fft_axis(const std::complex<Real>*, std::complex<Real>*, int64_t, int64_t, int64_t, bool, Real, core::ThreadPool&); \
  template void real_fft(const Real*, std::complex<Real>*, int64_t, int64_t, core::ThreadPool&);                                    \
  template void inverse_real_fft(const std::complex<Real>*, Real*, int64_t, int64_t, Real, core::ThreadPool&);
WEFT_FFT(float)
WEFT_FFT(double)
#undef WEFT_FFT

}  // namespace weft_engine::kernels
