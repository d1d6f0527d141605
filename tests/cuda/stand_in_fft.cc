// A stand-in for cuFFT over the stand-in for the driver (stand_in.cc, the same library): transforms by their definition, axis by axis. As the real one it leaves out the
// division by the number of points, overwrites what transforms back to real numbers read, and has its workspace from the caller.
#include <cmath>
#include <complex>
#include <cstring>
#include <map>
#include <vector>

#include "cuda/cufft.h"
#include "tests/cuda/stand_in.h"

namespace {

using weft_engine::cuda::FftType;

constexpr int kInvalidPlan = 1, kInvalidValue = 4, kInternal = 5, kNoWorkspace = 14;
constexpr size_t kWorkspace = 640;

using Number = std::complex<double>;

struct Plan {
  int rank = 0;
  long long sizes[3] = {}, in[3] = {}, out[3] = {}, in_distance = 0, out_distance = 0, batch = 0;
  FftType type = FftType::kFloatComplex;
  bool automatic = true, made = false;
  char* workspace = nullptr;
  void* stream = nullptr;
};

std::map<int, Plan>& plans() {
  static auto* p = new std::map<int, Plan>();
  return *p;
}
Plan* find(int plan) {
  const auto it = plans().find(plan);
  return it == plans().end() ? nullptr : &it->second;
}

// Along axis d of a box of these sizes.
void along(std::vector<Number>& x, const std::vector<long long>& sizes, size_t d, int sign) {
  long long inner = 1, outer = 1;
  for (size_t k = 0; k < d; ++k) outer *= sizes[k];
  for (size_t k = d + 1; k < sizes.size(); ++k) inner *= sizes[k];
  const long long n = sizes[d];
  std::vector<Number> row(static_cast<size_t>(n));
  for (long long o = 0; o < outer; ++o) {
    for (long long i = 0; i < inner; ++i) {
      const auto at = [&](long long k) -> Number& { return x[size_t((o * n + k) * inner + i)]; };
      for (long long k = 0; k < n; ++k) {
        Number sum = 0;
        for (long long j = 0; j < n; ++j) {
          const double angle = sign * 2 * 3.14159265358979323846 * double(j * k % n) / double(n);
          sum += at(j) * Number(std::cos(angle), std::sin(angle));
        }
        row[size_t(k)] = sum;
      }
      for (long long k = 0; k < n; ++k) at(k) = row[size_t(k)];
    }
  }
}

// Where element i of a box of `sizes` lies in the larger one.
long long place(long long i, const std::vector<long long>& sizes, const long long* box) {
  long long out = 0, scale = 1;
  for (size_t d = sizes.size(); d-- > 0;) {
    out += i % sizes[d] * scale;
    i /= sizes[d];
    scale *= box[d];
  }
  return out;
}

template <class T>
void compute(const Plan& p, T* from, T* to, int sign) {
  const bool forward = p.type == FftType::kFloatForward || p.type == FftType::kDoubleForward;
  const bool back = p.type == FftType::kFloatBack || p.type == FftType::kDoubleBack;
  const std::vector<long long> sizes(p.sizes, p.sizes + p.rank);
  std::vector<long long> half = sizes;
  half.back() = sizes.back() / 2 + 1;
  const auto elements = [](const std::vector<long long>& s) {
    long long n = 1;
    for (long long k : s) n *= k;
    return n;
  };
  const std::vector<long long>&read = back ? half : sizes, &written = forward ? half : sizes;
  for (long long t = 0; t < p.batch; ++t) {
    std::vector<Number> x(static_cast<size_t>(elements(read)));
    for (size_t i = 0; i < x.size(); ++i) {
      const long long at = t * p.in_distance + place(static_cast<long long>(i), read, p.in);
      x[i] = forward ? Number(double(from[at])) : Number(double(from[2 * at]), double(from[2 * at + 1]));
    }
    if (back) {
      for (size_t d = 0; d + 1 < sizes.size(); ++d) along(x, half, d, 1);
      std::vector<Number> whole(static_cast<size_t>(elements(sizes)));
      const long long n = sizes.back(), rows = elements(sizes) / n;
      for (long long r = 0; r < rows; ++r) {
        for (long long k = 0; k < n; ++k) {
          const Number v = x[size_t(r * half.back() + (k < half.back() ? k : n - k))];
          whole[size_t(r * n + k)] = k < half.back() ? (k == 0 || 2 * k == n ? Number(v.real()) : v) : std::conj(v);
        }
      }
      x = std::move(whole);
      along(x, sizes, sizes.size() - 1, 1);
    } else {
      for (size_t d = 0; d < sizes.size(); ++d) along(x, sizes, d, forward ? -1 : sign);
    }
    for (long long i = 0; i < elements(written); ++i) {
      const long long at = t * p.out_distance + place(i, written, p.out);
      const Number v = x[size_t(place(i, written, sizes.data()))];
      if (back) {
        to[at] = T(v.real());
      } else {
        to[2 * at] = T(v.real());
        to[2 * at + 1] = T(v.imag());
      }
    }
    if (back) std::memset(from + 2 * t * p.in_distance, 0x7f, size_t(p.in_distance) * 2 * sizeof(T));
  }
}

template <class T>
int execute(int number, FftType type, uint64_t from, uint64_t to, int sign) {
  if (weft_stand_in::counted("cufftExec")) return kInternal;
  const Plan* p = find(number);
  if (!p || !p->made || p->type != type) return kInvalidPlan;
  if (!p->automatic && !p->workspace) return kNoWorkspace;
  return weft_stand_in::queue(p->stream, [plan = *p, from, to, sign] {
    if (plan.workspace) std::memset(plan.workspace, 0x7f, kWorkspace);
    compute(plan, reinterpret_cast<T*>(from), reinterpret_cast<T*>(to), sign);
    return 0;
  });
}

}  // namespace

#define EXPORT extern "C" __attribute__((visibility("default")))

EXPORT int cufftCreate(int* plan) {
  static int next = 0;
  *plan = next++;
  plans()[*plan] = Plan();
  return 0;
}
EXPORT int cufftDestroy(int plan) {
  weft_stand_in::counted("cufftDestroy");
  return plans().erase(plan) ? 0 : kInvalidPlan;
}
EXPORT int cufftSetAutoAllocation(int plan, int on) {
  if (!find(plan)) return kInvalidPlan;
  find(plan)->automatic = on != 0;
  return 0;
}
EXPORT int cufftMakePlanMany64(int plan, int rank, long long* sizes, long long* in_box, long long in_stride, long long in_distance,
                               long long* out_box, long long out_stride, long long out_distance, int type, long long batch, size_t* workspace) {
  weft_stand_in::counted("cufftMakePlanMany64");
  Plan* p = find(plan);
  if (!p || p->made) return kInvalidPlan;
  if (rank < 1 || rank > 3 || in_stride != 1 || out_stride != 1 || batch < 1) return kInvalidValue;
  p->rank = rank;
  for (int d = 0; d < rank; ++d) {
    if (sizes[d] < 1) return kInvalidValue;
    p->sizes[d] = sizes[d];
    p->in[d] = in_box[d];
    p->out[d] = out_box[d];
  }
  p->in_distance = in_distance;
  p->out_distance = out_distance;
  p->batch = batch;
  p->type = FftType(type);
  p->made = true;
  *workspace = kWorkspace;
  return 0;
}
EXPORT int cufftSetWorkArea(int plan, void* workspace) {
  if (!find(plan)) return kInvalidPlan;
  find(plan)->workspace = static_cast<char*>(workspace);
  return 0;
}
EXPORT int cufftSetStream(int plan, void* stream) {
  if (!find(plan)) return kInvalidPlan;
  find(plan)->stream = stream;
  return 0;
}
EXPORT int cufftExecC2C(int plan, uint64_t from, uint64_t to, int direction) {
  return execute<float>(plan, FftType::kFloatComplex, from, to, direction);
}
EXPORT int cufftExecR2C(int plan, uint64_t from, uint64_t to) { return execute<float>(plan, FftType::kFloatForward, from, to, -1); }
EXPORT int cufftExecC2R(int plan, uint64_t from, uint64_t to) { return execute<float>(plan, FftType::kFloatBack, from, to, 1); }
EXPORT int cufftExecZ2Z(int plan, uint64_t from, uint64_t to, int direction) {
  return execute<double>(plan, FftType::kDoubleComplex, from, to, direction);
}
EXPORT int cufftExecD2Z(int plan, uint64_t from, uint64_t to) { return execute<double>(plan, FftType::kDoubleForward, from, to, -1); }
EXPORT int cufftExecZ2D(int plan, uint64_t from, uint64_t to) { return execute<double>(plan, FftType::kDoubleBack, from, to, 1); }
