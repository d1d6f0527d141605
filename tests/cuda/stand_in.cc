// A stand-in for libcuda.so.1 on machines without a GPU: the functions that weft calls, over host memory that nobody but a copy or a kernel of this library
// may touch (others get a fault), with a count of the calls. Work is done when it is queued. Kernels are the compiler's for the processor
// (compiler/gpu_code.h): weftHostFunction takes them in place of PTX.
//
// A stream that records keeps what is queued, with copies of the kernels' arguments, for launches of the graph.
//
// WEFT_STAND_IN_GUARD: blocks lie at the end of pages of their own, and what reads or writes beyond them gets a fault; copies are not the only ones that may touch them then.
// WEFT_STAND_IN_SKIP: kernels do nothing and all memory may be touched, to time what is around them. WEFT_STAND_IN_DEVICES: how many GPUs (1). WEFT_STAND_IN_MEMORY: bytes of each (1 GiB). WEFT_STAND_IN_FAULT: a function that fails with an internal error.
#include <sys/mman.h>
#include <ucontext.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "compiler/gpu_code.h"
#include "cuda/driver.h"
#include "tests/cuda/stand_in.h"

namespace {

using weft_engine::compiler::GpuHostKernel;
using weft_engine::compiler::GpuThread;

constexpr int kInvalidValue = 1, kOutOfMemory = 2, kInvalidDevice = 101, kUnknown = 999;
constexpr size_t kPage = 4096, kRegion = size_t(64) << 30;  // addresses, not memory

struct State {
  std::recursive_mutex mutex;
  std::map<std::string, long> calls;
  char* region = nullptr;
  size_t next = kPage, used = 0, open = 0;
  std::map<uint64_t, size_t> live;
  std::multimap<size_t, uint64_t> spare;  // freed, by size
};
State& state() {
  static auto* s = new State();
  return *s;
}

long from_environment(const char* name, long otherwise) {
  const char* text = std::getenv(name);
  return text && *text ? std::atol(text) : otherwise;
}

// Counts a call; true if it is to fail.
bool counted(const char* name) {
  const std::lock_guard lock(state().mutex);
  ++state().calls[name];
  const char* fault = std::getenv("WEFT_STAND_IN_FAULT");
  return fault && std::strcmp(fault, name) == 0;
}
#define COUNTED(name) \
  if (counted(name)) return kUnknown

bool skips() {
  static const bool on = from_environment("WEFT_STAND_IN_SKIP", 0) != 0;
  return on;
}
bool guarded() {
  static const bool on = from_environment("WEFT_STAND_IN_GUARD", 0) != 0;
  return on;
}

// The device's memory may be touched for as long as it lives.
class Open {
 public:
  Open() : lock_(state().mutex) {
    if (state().open++ == 0 && state().region && !skips()) mprotect(state().region, state().next, PROT_READ | PROT_WRITE);
  }
  ~Open() {
    if (--state().open == 0 && state().region && !skips()) mprotect(state().region, state().next, PROT_NONE);
  }

 private:
  std::lock_guard<std::recursive_mutex> lock_;
};

// ---- Kernels: the threads of a block take turns on one thread of the processor, each with a stack of its own. The thread sanitizer does not know
// such stacks: what switches between them stays out of its books of calls.
#define SWITCHES __attribute__((no_sanitize("thread")))

constexpr size_t kStack = 64 << 10, kShared = 48 << 10;

struct Block;
struct Lane {
  GpuThread thread;
  ucontext_t context;
  std::unique_ptr<char[]> stack;
  bool done = false;
  int shuffles = 0;
  Block* block = nullptr;
};
struct Block {
  ucontext_t scheduler;
  GpuHostKernel kernel = nullptr;
  const uint64_t* args = nullptr;
  std::vector<Lane> lanes;
  std::vector<uint64_t> exchanged;  // two for each lane
  std::unique_ptr<char[]> shared{new char[kShared]};
};

Lane& lane_of(GpuThread* self) { return *reinterpret_cast<Lane*>(self); }  // its first member
SWITCHES void turn_over(GpuThread* self) {
  Lane& l = lane_of(self);
  swapcontext(&l.context, &l.block->scheduler);
}
SWITCHES uint64_t shuffle(GpuThread* self, uint64_t bits, int32_t lane_xor) {
  Lane& l = lane_of(self);
  const int turn = l.shuffles++ & 1;
  l.block->exchanged[size_t(self->thread) * 2 + size_t(turn)] = bits;
  turn_over(self);
  return l.block->exchanged[size_t(self->thread ^ lane_xor) * 2 + size_t(turn)];
}

thread_local Lane* entering = nullptr;
SWITCHES void enter() {
  Lane& l = *entering;
  l.block->kernel(l.block->args, &l.thread);
  l.done = true;
  swapcontext(&l.context, &l.block->scheduler);
}

SWITCHES void run_block(Block& b, int block, int blocks, int threads) {
  for (int i = 0; i < threads; ++i) {
    Lane& l = b.lanes[size_t(i)];
    l.thread.thread = i;
    l.thread.block = block;
    l.thread.threads = threads;
    l.thread.blocks = blocks;
    l.thread.shared = b.shared.get();
    l.thread.barrier = turn_over;
    l.thread.shuffle = shuffle;
    l.done = false;
    l.shuffles = 0;
    l.block = &b;
    if (!l.stack) l.stack.reset(new char[kStack]);
    getcontext(&l.context);
    l.context.uc_stack.ss_sp = l.stack.get();
    l.context.uc_stack.ss_size = kStack;
    l.context.uc_link = nullptr;
    makecontext(&l.context, enter, 0);
  }
  for (bool some = true; some;) {
    some = false;
    for (Lane& l : b.lanes) {
      if (l.done) continue;
      entering = &l;
      swapcontext(&b.scheduler, &l.context);
      some |= !l.done;
    }
  }
}

struct Kernel {
  GpuHostKernel function = nullptr;
  std::string name;
  unsigned arguments = 0;
};

// Until the process ends: the driver has no call that lets go of a function.
Kernel* kept(Kernel kernel) {
  static auto* kernels = new std::deque<Kernel>;
  const std::lock_guard lock(state().mutex);
  return &kernels->emplace_back(std::move(kernel));
}

using Graph = std::vector<std::function<int()>>;
struct Stream {
  std::unique_ptr<Graph> recorded;  // while it records
};

// Does what is queued, or records it.
int queue(void* stream, std::function<int()> work) {
  const std::lock_guard lock(state().mutex);
  auto* s = static_cast<Stream*>(stream);
  if (!s || !s->recorded) return work();
  s->recorded->push_back(std::move(work));
  return 0;
}

}  // namespace

namespace weft_stand_in {

bool counted(const char* name) { return ::counted(name); }

int queue(void* stream, std::function<int()> work) {
  return ::queue(stream, [work = std::move(work)] {
    const Open open;
    return work();
  });
}

}  // namespace weft_stand_in

#define EXPORT extern "C" __attribute__((visibility("default")))

EXPORT long weftStandInCalls(const char* name) {
  const std::lock_guard lock(state().mutex);
  const auto it = state().calls.find(name);
  return it == state().calls.end() ? 0 : it->second;
}
EXPORT long weftStandInMemory() { return long(state().used); }

EXPORT int weftHostFunction(void** function, void* kernel, const char* name, unsigned arguments) {
  COUNTED("weftHostFunction");
  *function = kept({reinterpret_cast<GpuHostKernel>(kernel), name, arguments});
  return 0;
}

EXPORT int cuInit(unsigned) {
  COUNTED("cuInit");
  return 0;
}
EXPORT int cuDriverGetVersion(int* version) {
  *version = 13000;
  return 0;
}
EXPORT int cuGetErrorName(int error, const char** text) {
  *text = error == kOutOfMemory ? "CUDA_ERROR_OUT_OF_MEMORY" : error == kInvalidValue ? "CUDA_ERROR_INVALID_VALUE" : "CUDA_ERROR_UNKNOWN";
  return 0;
}
EXPORT int cuGetErrorString(int error, const char** text) {
  *text = error == kOutOfMemory ? "out of memory" : error == kInvalidValue ? "invalid argument" : "unknown error";
  return 0;
}
EXPORT int cuDeviceGetCount(int* count) {
  COUNTED("cuDeviceGetCount");
  *count = int(from_environment("WEFT_STAND_IN_DEVICES", 1));
  if (const char* visible = std::getenv("CUDA_VISIBLE_DEVICES")) {  // as the driver has it, for numbers in order
    int named = 0;
    for (const char* p = visible; *p >= '0' && *p <= '9'; p += p[1] == ',' ? 2 : 1) ++named;
    if (named < *count) *count = named;
  }
  return 0;
}
EXPORT int cuDeviceGet(int* device, int ordinal) {
  COUNTED("cuDeviceGet");
  *device = ordinal;
  return ordinal < 0 ? kInvalidDevice : 0;
}
EXPORT int cuDeviceGetName(char* name, int length, int) {
  std::snprintf(name, size_t(length), "Stand-in GPU");
  return 0;
}
EXPORT int cuDeviceGetAttribute(int* value, int attribute, int) {
  COUNTED("cuDeviceGetAttribute");
  *value = attribute == 75 ? 9 : attribute == 76 ? 0 : attribute == 16 ? 4 : attribute == 115 ? 1 : 1024;
  return 0;
}
EXPORT int cuDeviceTotalMem_v2(size_t* bytes, int) {
  *bytes = size_t(from_environment("WEFT_STAND_IN_MEMORY", 1L << 30));
  return 0;
}
EXPORT int cuDeviceGetPCIBusId(char* text, int length, int device) {
  std::snprintf(text, size_t(length), "0000:%02X:00.0", device + 10);
  return 0;
}
EXPORT int cuDevicePrimaryCtxRetain(void** context, int device) {
  COUNTED("cuDevicePrimaryCtxRetain");
  *context = reinterpret_cast<void*>(uintptr_t(device) + 1);
  return 0;
}
EXPORT int cuCtxSetCurrent(void*) { return 0; }
EXPORT int cuCtxSynchronize() {
  COUNTED("cuCtxSynchronize");
  return 0;
}
EXPORT int cuMemGetInfo_v2(size_t* free_bytes, size_t* total) {
  cuDeviceTotalMem_v2(total, 0);
  *free_bytes = *total - state().used;
  return 0;
}
EXPORT int cuMemPoolCreate(void** pool, const void*) {
  COUNTED("cuMemPoolCreate");
  *pool = &state();
  return 0;
}
EXPORT int cuMemPoolSetAttribute(void*, int, void*) { return 0; }
EXPORT int cuMemPoolTrimTo(void*, size_t) {
  COUNTED("cuMemPoolTrimTo");
  return 0;
}
EXPORT int cuMemAllocFromPoolAsync(uint64_t* at, size_t bytes, void*, void*) {
  COUNTED("cuMemAllocFromPoolAsync");
  State& s = state();
  const std::lock_guard lock(s.mutex);
  size_t total = 0;
  cuDeviceTotalMem_v2(&total, 0);
  if (s.used + bytes > total) return kOutOfMemory;
  if (!s.region) {
    void* region = mmap(nullptr, kRegion, skips() ? PROT_READ | PROT_WRITE : PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (region == MAP_FAILED) return kOutOfMemory;
    s.region = static_cast<char*>(region);
  }
  const size_t size = (bytes + 255) / 256 * 256;
  if (guarded()) {
    const size_t pages = (size + kPage - 1) / kPage * kPage;
    void* at_all = mmap(nullptr, pages + kPage, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (at_all == MAP_FAILED || mprotect(at_all, pages, PROT_READ | PROT_WRITE)) return kOutOfMemory;
    *at = reinterpret_cast<uint64_t>(at_all) + pages - size;
    std::memset(reinterpret_cast<void*>(*at), 0xfb, size < 65536 ? size : 65536);
    s.live[*at] = size;
    s.used += size;
    return 0;
  }
  if (const auto it = s.spare.find(size); it != s.spare.end()) {
    *at = it->second;
    s.spare.erase(it);
  } else {
    if (s.next + size > kRegion) return kOutOfMemory;
    *at = reinterpret_cast<uint64_t>(s.region) + s.next;
    s.next += size;
  }
  s.live[*at] = size;
  s.used += size;
  const Open open;
  std::memset(reinterpret_cast<void*>(*at), 0xfb, bytes < 65536 ? bytes : 65536);  // nothing that anybody may rely on
  return 0;
}
EXPORT int cuMemFreeAsync(uint64_t at, void*) {
  COUNTED("cuMemFreeAsync");
  State& s = state();
  const std::lock_guard lock(s.mutex);
  const auto it = s.live.find(at);
  if (it == s.live.end()) return kInvalidValue;
  s.used -= it->second;
  if (guarded()) {
    const size_t pages = (it->second + kPage - 1) / kPage * kPage;
    munmap(reinterpret_cast<char*>(at + it->second) - pages, pages + kPage);
    s.live.erase(it);
    return 0;
  }
  s.spare.emplace(it->second, at);
  s.live.erase(it);
  return 0;
}
EXPORT int cuMemHostAlloc(void** at, size_t bytes, unsigned) {
  COUNTED("cuMemHostAlloc");
  *at = std::malloc(bytes);
  return *at ? 0 : kOutOfMemory;
}
EXPORT int cuMemFreeHost(void* at) {
  std::free(at);
  return 0;
}
EXPORT int cuMemcpyHtoDAsync_v2(uint64_t to, const void* from, size_t bytes, void*) {
  COUNTED("cuMemcpyHtoDAsync_v2");
  const Open open;
  std::memcpy(reinterpret_cast<void*>(to), from, bytes);
  return 0;
}
EXPORT int cuMemcpyDtoHAsync_v2(void* to, uint64_t from, size_t bytes, void*) {
  COUNTED("cuMemcpyDtoHAsync_v2");
  const Open open;
  std::memcpy(to, reinterpret_cast<const void*>(from), bytes);
  return 0;
}
EXPORT int cuMemcpyDtoDAsync_v2(uint64_t to, uint64_t from, size_t bytes, void* stream) {
  COUNTED("cuMemcpyDtoDAsync_v2");
  return queue(stream, [=] {
    const Open open;
    std::memcpy(reinterpret_cast<void*>(to), reinterpret_cast<const void*>(from), bytes);
    return 0;
  });
}
EXPORT int cuMemcpy3DAsync_v2(const void* description, void* stream) {
  COUNTED("cuMemcpy3DAsync_v2");
  const auto box = *static_cast<const weft_engine::cuda::BoxCopy*>(description);
  return queue(stream, [=] {
    const Open open;
    const auto row = [](const weft_engine::cuda::BoxCopy::Side& s, size_t y, size_t z) {
      return reinterpret_cast<char*>(s.device) + ((s.z + z) * s.height + s.y + y) * s.pitch + s.x_bytes;
    };
    for (size_t z = 0; z < box.depth; ++z) {
      for (size_t y = 0; y < box.height; ++y) std::memcpy(row(box.to, y, z), row(box.from, y, z), box.width);
    }
    return 0;
  });
}
EXPORT int cuMemsetD8Async(uint64_t to, unsigned char value, size_t bytes, void* stream) {
  COUNTED("cuMemsetD8Async");
  return queue(stream, [=] {
    const Open open;
    std::memset(reinterpret_cast<void*>(to), value, bytes);
    return 0;
  });
}
EXPORT int cuStreamCreate(void** stream, unsigned) {
  COUNTED("cuStreamCreate");
  *stream = new Stream();
  return 0;
}
EXPORT int cuStreamDestroy_v2(void* stream) {
  delete static_cast<Stream*>(stream);
  return 0;
}
EXPORT int cuStreamBeginCapture_v2(void* stream, int) {
  COUNTED("cuStreamBeginCapture_v2");
  auto* s = static_cast<Stream*>(stream);
  if (!s || s->recorded) return kInvalidValue;
  s->recorded = std::make_unique<Graph>();
  return 0;
}
EXPORT int cuStreamEndCapture(void* stream, void** graph) {
  COUNTED("cuStreamEndCapture");
  auto* s = static_cast<Stream*>(stream);
  if (!s || !s->recorded) return kInvalidValue;
  *graph = s->recorded.release();
  return 0;
}
EXPORT int cuGraphInstantiateWithFlags(void** ready, void* graph, unsigned long long) {
  COUNTED("cuGraphInstantiateWithFlags");
  *ready = new Graph(*static_cast<Graph*>(graph));
  return 0;
}
EXPORT int cuGraphLaunch(void* ready, void*) {
  COUNTED("cuGraphLaunch");
  for (const auto& work : *static_cast<Graph*>(ready)) {
    if (const int error = work()) return error;
  }
  return 0;
}
EXPORT int cuGraphExecDestroy(void* ready) {
  COUNTED("cuGraphExecDestroy");
  delete static_cast<Graph*>(ready);
  return 0;
}
EXPORT int cuGraphDestroy(void* graph) {
  delete static_cast<Graph*>(graph);
  return 0;
}
EXPORT int cuStreamSynchronize(void*) {
  COUNTED("cuStreamSynchronize");
  return 0;
}
EXPORT int cuStreamWaitEvent(void*, void*, unsigned) {
  COUNTED("cuStreamWaitEvent");
  return 0;
}
EXPORT int cuEventCreate(void** event, unsigned) {
  *event = &state();
  return 0;
}
EXPORT int cuEventDestroy_v2(void*) { return 0; }
EXPORT int cuEventRecord(void*, void*) { return 0; }
EXPORT int cuEventElapsedTime(float* milliseconds, void*, void*) {
  *milliseconds = 0.001f;
  return 0;
}
EXPORT int cuEventSynchronize(void*) {
  COUNTED("cuEventSynchronize");
  return 0;
}
EXPORT int cuModuleLoadDataEx(void** module, const void* image, unsigned, int*, void**) {
  COUNTED("cuModuleLoadDataEx");
  *module = &state();
  return image && std::strstr(static_cast<const char*>(image), ".version") ? 0 : kInvalidValue;
}
EXPORT int cuModuleUnload(void*) { return 0; }
EXPORT int cuModuleGetFunction(void** function, void*, const char* name) {
  COUNTED("cuModuleGetFunction");
  *function = kept({nullptr, name});
  return 0;
}
EXPORT int cuLaunchKernel(void* function, unsigned grid_x, unsigned grid_y, unsigned grid_z, unsigned block_x, unsigned block_y, unsigned block_z,
                          unsigned, void* stream, void** arguments, void**) {
  COUNTED("cuLaunchKernel");
  const auto* kernel = static_cast<const Kernel*>(function);
  if (!kernel || grid_y != 1 || grid_z != 1 || block_y != 1 || block_z != 1 || !grid_x || !block_x || block_x > 1024) return kInvalidValue;
  if (!kernel->function) return 0;
  if (skips()) return 0;
  std::vector<uint64_t> args;
  for (unsigned i = 0; i < kernel->arguments; ++i) args.push_back(*static_cast<const uint64_t*>(arguments[i]));
  return queue(stream, [args = std::move(args), kernel, grid_x, block_x] {
    const Open open;
    Block b;
    b.kernel = kernel->function;
    b.args = args.data();
    b.lanes.resize(block_x);
    b.exchanged.resize(size_t(block_x) * 2);
    for (unsigned i = 0; i < grid_x; ++i) run_block(b, int(i), int(grid_x), int(block_x));
    return 0;
  });
}
