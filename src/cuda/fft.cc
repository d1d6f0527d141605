#include "cuda/fft.h"

#include <array>
#include <list>
#include <map>
#include <mutex>

#include "core/log.h"
#include "cuda/cufft.h"
#include "cuda/ir_kernel.h"

namespace weft_engine::cuda {
namespace {

using namespace weft_engine::core;  // NOLINT: tensors, shapes and statuses throughout

constexpr size_t kMostPlans = 64;  // of a GPU: each holds some of its memory

constexpr DevicePtr kAlignment = 16;

using Box = std::array<long long, 3>;

struct Key {
  FftType type = FftType::kFloatComplex;
  int rank = 0;
  Box sizes{}, in{}, out{};
  long long batch = 0;
  auto operator<=>(const Key&) const = default;
};

struct Plan {
  int handle = -1;
  size_t workspace = 0;
  bool refused = false;
  std::list<Key>::iterator use;
};

// Of one GPU, for as long as the process lives.
struct Plans {
  std::mutex mutex;
  std::map<Key, Plan> all;
  std::list<Key> used;  // the latest first
};

Plans& plans_of(Gpu& gpu) {
  static std::mutex mutex;
  static auto* all = new std::map<Gpu*, std::unique_ptr<Plans>>();
  const std::lock_guard lock(mutex);
  auto& slot = (*all)[&gpu];
  if (!slot) slot = std::make_unique<Plans>();
  return *slot;
}

long long elements(const Box& box, int rank) {
  long long n = 1;
  for (int d = 0; d < rank; ++d) n *= box[size_t(d)];
  return n;
}

// With the lock of the plans held.
Plan& plan_of(const Cufft& fft, Plans& plans, const Key& key) {
  if (const auto it = plans.all.find(key); it != plans.all.end()) {
    plans.used.splice(plans.used.begin(), plans.used, it->second.use);
    return it->second;
  }
  if (plans.all.size() >= kMostPlans) {
    const auto oldest = plans.all.find(plans.used.back());
    if (oldest->second.handle >= 0) fft.destroy(oldest->second.handle);  // waits for what still runs
    plans.all.erase(oldest);
    plans.used.pop_back();
  }
  Plan& p = plans.all[key];
  plans.used.push_front(key);
  p.use = plans.used.begin();
  Key k = key;
  int error = fft.create(&p.handle);
  if (!error) error = fft.set_auto_allocation(p.handle, 0);
  if (!error)
    error = fft.make_plan(p.handle, k.rank, k.sizes.data(), k.in.data(), 1, elements(k.in, k.rank), k.out.data(), 1, elements(k.out, k.rank), k.type,
                          k.batch, &p.workspace);
  if (!error) return p;
  log(LogLevel::kInfo, cat("cuFFT has nothing for a transform (error ", error, ")"));
  p.refused = true;
  return p;
}

int execute(const Cufft& fft, const Plan& p, FftType type, DevicePtr from, DevicePtr to, bool inverse) {
  const FftDirection direction = inverse ? FftDirection::kInverse : FftDirection::kForward;
  switch (type) {
    case FftType::kFloatComplex: return fft.float_complex(p.handle, from, to, direction);
    case FftType::kFloatForward: return fft.float_forward(p.handle, from, to);
    case FftType::kFloatBack: return fft.float_back(p.handle, from, to);
    case FftType::kDoubleComplex: return fft.double_complex(p.handle, from, to, direction);
    case FftType::kDoubleForward: return fft.double_forward(p.handle, from, to);
    case FftType::kDoubleBack: return fft.double_back(p.handle, from, to);
  }
  return -1;
}

// What of the call cuFFT is asked for, and the shape of the result. False: nothing that makes sense.
struct Asked {
  Key key;
  Shape shape;
};
bool read(op::KernelContext& c, const op::LibraryCall& call, Asked& out) {
  const Tensor& x = c.input(0);
  const int rank = call.rank, outer = x.rank() - rank;
  const DType complex = call.real && !call.inverse ? c.output_type(0) : x.dtype(), other = call.real && !call.inverse ? x.dtype() : c.output_type(0);
  const bool is_double = complex == DType::kComplex128;
  if (outer < 0 || (!is_double && complex != DType::kComplex64)) return false;
  if (other != (call.real ? is_double ? DType::kDouble : DType::kFloat : complex)) return false;
  Key& k = out.key;
  k.rank = rank;
  k.batch = 1;
  std::vector<int64_t> dims;
  for (int d = 0; d < outer; ++d) {
    k.batch *= x.dim(d);
    dims.push_back(x.dim(d));
  }
  const Tensor* lengths = call.real ? &c.input(1) : nullptr;
  if (lengths && (lengths->dtype() != DType::kInt32 || lengths->rank() != 1 || lengths->dim(0) != rank || memory_of(*lengths))) return false;
  for (int d = 0; d < rank; ++d) {
    const size_t i = size_t(d);
    const bool last = d == rank - 1;
    k.in[i] = x.dim(outer + d);
    k.sizes[i] = lengths ? lengths->data<int32_t>()[d] : k.in[i];
    if (k.sizes[i] < 1) return false;
    const long long half = k.sizes[i] / 2 + 1;
    if (k.in[i] < (call.real && call.inverse && last ? half : k.sizes[i])) return false;
    k.out[i] = call.real && !call.inverse && last ? half : k.sizes[i];
    dims.push_back(k.out[i]);
  }
  if (k.batch < 1) return false;
  using T = FftType;
  if (!call.real) k.type = is_double ? T::kDoubleComplex : T::kFloatComplex;
  else if (call.inverse) k.type = is_double ? T::kDoubleBack : T::kFloatBack;
  else k.type = is_double ? T::kDoubleForward : T::kFloatForward;
  out.shape = Shape(dims);
  return true;
}

// cuFFT leaves out the division by the number of points.
Status divide(Gpu& gpu, DType part, DevicePtr at, long long batch, long long points, int parts) {
  const IrArgument argument{part, {batch, points, parts}, at};
  return run_ir(gpu, "fft_scale", {&argument, 1}, {&at, 1}, [part](ir::Builder& b, const std::vector<ir::Value>& x) -> std::vector<ir::Value> {
    const ir::Value n = b.convert(b.sizes({x[0]->dim(1)}, DType::kInt64, true), DType::kDouble);
    return {b.mul(x[0], b.convert(b.div(b.scalar(DType::kDouble, 1), n), part))};
  });
}

}  // namespace

Result<bool> transform(CudaDevice& device, op::KernelContext& c, const op::LibraryCall& call) {
  const Tensor& x = c.input(0);
  Asked asked;
  if (memory_of(x) != &device || !read(c, call, asked)) return false;
  const auto fft = cufft();
  if (!fft.ok()) {
    static std::once_flag once;
    std::call_once(once, [&] { log(LogLevel::kWarning, cat("Fourier transforms on GPUs are slower than they could be: ", fft.status().message())); });
    return false;
  }
  Gpu& gpu = device.gpu();
  WEFT_RETURN_IF_ERROR(gpu.use());
  Plans& plans = plans_of(gpu);
  const Key& k = asked.key;
  {
    const std::lock_guard lock(plans.mutex);
    const Plan& p = plan_of(**fft, plans, k);
    if (p.refused) return false;
    WEFT_ASSIGN(Tensor* out, c.allocate(0, asked.shape));
    // Transforms back to real numbers overwrite what they read; all want it as aligned as its complex numbers are.
    DevicePtr from = address(x), own = 0, workspace = 0;
    if ((call.real && call.inverse) || from % kAlignment) {
      WEFT_ASSIGN(own, gpu.allocate(x.byte_size()));
      from = own;
    }
    const auto queue = [&]() -> Status {
      if (own) WEFT_RETURN_IF_ERROR(gpu.copy(own, address(x), x.byte_size()));
      if (p.workspace) {
        WEFT_ASSIGN(workspace, gpu.allocate(p.workspace));
        WEFT_RETURN_IF_ERROR((*fft)->status((*fft)->set_workspace(p.handle, workspace), "giving memory"));
      }
      WEFT_RETURN_IF_ERROR((*fft)->status((*fft)->set_stream(p.handle, gpu.stream()), "choosing a stream"));
      return (*fft)->status(execute(**fft, p, k.type, from, address(*out), call.inverse), "a transform");
    };
    const Status s = queue();
    if (own) gpu.free(own);
    if (workspace) gpu.free(workspace);
    WEFT_RETURN_IF_ERROR(s);
  }
  if (!call.inverse) return true;
  const DType part = k.type == FftType::kDoubleComplex || k.type == FftType::kDoubleBack ? DType::kDouble : DType::kFloat;
  WEFT_RETURN_IF_ERROR(divide(gpu, part, address(c.output(0)), k.batch, elements(k.sizes, k.rank), call.real ? 1 : 2));
  return true;
}

}  // namespace weft_engine::cuda
