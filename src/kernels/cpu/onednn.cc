#include "kernels/cpu/onednn.h"

#include <dlfcn.h>
#include <dnnl.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdlib>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string_view>
#include <vector>

#include "core/log.h"
#include "kernels/cpu/scratch.h"

namespace weft_engine::kernels {
namespace {

// The functions that we call, by name.
#define WEFT_DNNL_FUNCTIONS(X)                           \
  X(dnnl_engine_create)                                  \
  X(dnnl_stream_create)                                  \
  X(dnnl_stream_destroy)                                 \
  X(dnnl_stream_wait)                                    \
  X(dnnl_memory_desc_init_by_strides)                    \
  X(dnnl_memory_desc_init_by_tag)                        \
  X(dnnl_memory_desc_get_size)                           \
  X(dnnl_memory_desc_equal)                              \
  X(dnnl_memory_create)                                  \
  X(dnnl_memory_destroy)                                 \
  X(dnnl_primitive_attr_create)                          \
  X(dnnl_primitive_attr_destroy)                         \
  X(dnnl_primitive_attr_set_scratchpad_mode)             \
  X(dnnl_dilated_convolution_forward_desc_init)          \
  X(dnnl_dilated_convolution_backward_data_desc_init)    \
  X(dnnl_dilated_convolution_backward_weights_desc_init) \
  X(dnnl_primitive_desc_create)                          \
  X(dnnl_primitive_desc_destroy)                         \
  X(dnnl_primitive_desc_query_md) X(dnnl_reorder_primitive_desc_create) X(dnnl_primitive_create) X(dnnl_primitive_destroy) X(dnnl_primitive_execute)

struct Library {
#define X(name) decltype(&::name) name = nullptr;
  WEFT_DNNL_FUNCTIONS(X)
#undef X
  void (*omp_set_num_threads)(int) = nullptr;
  int (*omp_get_max_threads)() = nullptr;
  dnnl_engine_t engine = nullptr;

  static const Library* get() {
    static const Library* const library = load().release();  // for good: pool threads may outlive statics
    return library;
  }

 private:
  static std::unique_ptr<const Library> load() {
    if (const char* s = std::getenv("WEFT_ONEDNN"); s && std::string_view(s) == "0") return nullptr;
    void* handle = dlopen("libdnnl.so.2", RTLD_NOW | RTLD_LOCAL);  // never closed: its threads and caches stay
    if (!handle) {
      core::log(core::LogLevel::kInfo, "libdnnl.so.2 is not installed; convolutions use weft's own kernels");
      return nullptr;
    }
    auto l = std::make_unique<Library>();
    bool whole = true;
    auto find = [&](auto& f, const char* name) {
      f = reinterpret_cast<std::decay_t<decltype(f)>>(dlsym(handle, name));
      whole = whole && f;
    };
#define X(name) find(l->name, #name);
    WEFT_DNNL_FUNCTIONS(X)
#undef X
    find(l->omp_set_num_threads, "omp_set_num_threads");  // of the OpenMP runtime that the library is linked to
    find(l->omp_get_max_threads, "omp_get_max_threads");
    if (!whole || l->dnnl_engine_create(&l->engine, dnnl_cpu, 0) != dnnl_success) {
      core::log(core::LogLevel::kWarning, "libdnnl.so.2 cannot be used; convolutions use weft's own kernels");
      return nullptr;
    }
    return l;
  }
};

// While it lives, OpenMP code on this thread runs on this thread alone.
class OneThread {
 public:
  explicit OneThread(const Library& l) : library_(l), before_(l.omp_get_max_threads()) { l.omp_set_num_threads(1); }
  ~OneThread() { library_.omp_set_num_threads(before_); }
  OneThread(const OneThread&) = delete;

 private:
  const Library& library_;
  const int before_;
};

enum class Kind : int64_t { kForward, kInput, kFilter };

// One primitive with the reorder of its filter between our layout and the one it wants.
struct Convolution {
  const Library& l;
  dnnl_primitive_t primitive = nullptr, reorder = nullptr;
  dnnl_memory_desc_t plain{}, filter{}, src{}, dst{}, scratch{};

  explicit Convolution(const Library& library) : l(library) {}
  ~Convolution() {
    if (primitive) l.dnnl_primitive_destroy(primitive);
    if (reorder) l.dnnl_primitive_destroy(reorder);
  }
  Convolution(const Convolution&) = delete;
};

using Key = std::array<int64_t, 19>;

Key key_of(Kind kind, const ConvGeometry& g) {
  Key k{int64_t(kind), g.batch, g.in_channels, g.out_channels, g.groups};
  size_t at = 5;
  for (int i : {1, 2}) {
    const WindowDim& d = g.dim[i];
    for (int64_t v : {d.in, d.window, d.out, d.stride, d.dilation, d.before, int64_t(0)}) k[at++] = v;
  }
  return k;
}

bool describe(const Library& l, Kind kind, const ConvGeometry& g, Convolution& c) {
  const WindowDim &h = g.dim[1], &w = g.dim[2];
  const int64_t ic = g.in_channels / g.groups, oc = g.out_channels / g.groups;
  const dnnl_dims_t src_dims = {g.batch, g.in_channels, h.in, w.in}, dst_dims = {g.batch, g.out_channels, h.out, w.out};
  bool ok = l.dnnl_memory_desc_init_by_tag(&c.src, 4, src_dims, dnnl_f32, dnnl_nhwc) == dnnl_success;
  ok = ok && l.dnnl_memory_desc_init_by_tag(&c.dst, 4, dst_dims, dnnl_f32, dnnl_nhwc) == dnnl_success;
  // Ours is [height, width, in, groups * out].
  const bool grouped = g.groups > 1;
  const dnnl_dims_t dims = {g.groups, oc, ic, h.window, w.window};
  const dnnl_dims_t strides = {oc, 1, g.out_channels, w.window * ic * g.out_channels, ic * g.out_channels};
  const int skip = grouped ? 0 : 1;
  ok = ok && l.dnnl_memory_desc_init_by_strides(&c.plain, 5 - skip, dims + skip, dnnl_f32, strides + skip) == dnnl_success;
  dnnl_memory_desc_t any;
  ok = ok && l.dnnl_memory_desc_init_by_tag(&any, 5 - skip, dims + skip, dnnl_f32, dnnl_format_tag_any) == dnnl_success;
  if (!ok) return false;
  auto after = [](const WindowDim& d) { return std::max<int64_t>(0, (d.out - 1) * d.stride + (d.window - 1) * d.dilation + 1 - d.in - d.before); };
  const dnnl_dims_t step = {h.stride, w.stride}, gap = {h.dilation - 1, w.dilation - 1}, left = {h.before, w.before}, right = {after(h), after(w)};
  dnnl_convolution_desc_t desc;
  dnnl_status_t status;
  if (kind == Kind::kForward)
    status = l.dnnl_dilated_convolution_forward_desc_init(&desc, dnnl_forward_inference, dnnl_convolution_direct, &c.src, &any, nullptr, &c.dst, step,
                                                          gap, left, right);
  else if (kind == Kind::kInput)
    status = l.dnnl_dilated_convolution_backward_data_desc_init(&desc, dnnl_convolution_direct, &c.src, &any, &c.dst, step, gap, left, right);
  else
    status =
        l.dnnl_dilated_convolution_backward_weights_desc_init(&desc, dnnl_convolution_direct, &c.src, &any, nullptr, &c.dst, step, gap, left, right);
  if (status != dnnl_success) return false;

  dnnl_primitive_attr_t attr = nullptr;
  if (l.dnnl_primitive_attr_create(&attr) != dnnl_success) return false;
  // Scratch memory of our own: the library's is not for several threads at once.
  l.dnnl_primitive_attr_set_scratchpad_mode(attr, dnnl_scratchpad_mode_user);
  dnnl_primitive_desc_t pd = nullptr, reorder = nullptr;
  ok = l.dnnl_primitive_desc_create(&pd, &desc, attr, l.engine, nullptr) == dnnl_success;
  if (ok) {
    const dnnl_query_t query = kind == Kind::kFilter ? dnnl_query_diff_weights_md : dnnl_query_weights_md;
    c.filter = *l.dnnl_primitive_desc_query_md(pd, query, 0);
    c.scratch = *l.dnnl_primitive_desc_query_md(pd, dnnl_query_scratchpad_md, 0);
    ok = l.dnnl_primitive_create(&c.primitive, pd) == dnnl_success;
  }
  if (ok && !l.dnnl_memory_desc_equal(&c.filter, &c.plain)) {
    const auto& from = kind == Kind::kFilter ? c.filter : c.plain;
    const auto& to = kind == Kind::kFilter ? c.plain : c.filter;
    ok = l.dnnl_reorder_primitive_desc_create(&reorder, &from, l.engine, &to, l.engine, nullptr) == dnnl_success &&
         l.dnnl_primitive_create(&c.reorder, reorder) == dnnl_success;
  }
  if (pd) l.dnnl_primitive_desc_destroy(pd);
  if (reorder) l.dnnl_primitive_desc_destroy(reorder);
  l.dnnl_primitive_attr_destroy(attr);
  return ok;
}

// Primitives by shape; a null entry is one that the library refused.
std::shared_ptr<const Convolution> find(const Library& l, Kind kind, const ConvGeometry& g) {
  constexpr size_t kMost = 256;
  static std::mutex mutex;
  static auto& cache = *std::make_unique<std::map<Key, std::shared_ptr<const Convolution>>>().release();  // as Library
  const Key key = key_of(kind, g);
  {
    std::lock_guard lock(mutex);
    if (auto it = cache.find(key); it != cache.end()) return it->second;
  }
  auto made = std::make_shared<Convolution>(l);
  const bool ok = describe(l, kind, g, *made);
  std::lock_guard lock(mutex);
  if (cache.size() >= kMost) cache.clear();
  return cache[key] = ok ? std::shared_ptr<const Convolution>(std::move(made)) : nullptr;
}

// Blocks of 64-byte lines that the allocator keeps for the next call.
using Bytes = std::optional<Scratch>;

void* aligned(size_t size, Bytes& storage) {
  if (size == 0) return nullptr;
  storage.emplace(int64_t((size + 63) / 64 * 16));
  return storage->get();
}

struct Argument {
  int name;
  const dnnl_memory_desc_t* desc;
  const void* data;
};

// Each thread has one and keeps it.
struct Stream {
  const Library& l;
  dnnl_stream_t stream = nullptr;
  explicit Stream(const Library& library) : l(library) { l.dnnl_stream_create(&stream, l.engine, dnnl_stream_default_flags); }
  ~Stream() {
    if (stream) l.dnnl_stream_destroy(stream);
  }
  Stream(const Stream&) = delete;
};

bool execute(const Library& l, dnnl_primitive_t primitive, std::initializer_list<Argument> arguments) {
  thread_local Stream mine(l);
  const dnnl_stream_t stream = mine.stream;
  if (!stream) return false;
  std::array<dnnl_exec_arg_t, 4> args;
  int n = 0;
  bool ok = true;
  for (const Argument& a : arguments) {
    if (!a.data) continue;
    args[size_t(n)] = {a.name, nullptr};
    ok = ok && l.dnnl_memory_create(&args[size_t(n)].memory, a.desc, l.engine, const_cast<void*>(a.data)) == dnnl_success;
    if (ok) ++n;
  }
  ok = ok && l.dnnl_primitive_execute(primitive, stream, n, args.data()) == dnnl_success && l.dnnl_stream_wait(stream) == dnnl_success;
  for (int i = 0; i < n; ++i) l.dnnl_memory_destroy(args[size_t(i)].memory);
  return ok;
}

bool reorder(const Convolution& c, const dnnl_memory_desc_t& from_desc, const void* from, const dnnl_memory_desc_t& to_desc, void* to) {
  return execute(c.l, c.reorder, {{DNNL_ARG_FROM, &from_desc, from}, {DNNL_ARG_TO, &to_desc, to}});
}

// How many images one task takes: about 16 tasks, or 48 where there is more work for each than 10 million multiplications, and never less than 0.8 million.
int64_t images_per_task(const ConvGeometry& g) {
  const double work = double(g.out_positions()) * double(g.patch()) * double(g.out_channels);
  const int64_t enough = int64_t(8e5 / std::max(work, 1.0)) + 1;
  int64_t images = (g.batch + 15) / 16;
  if (work * double(images) > 1e7) images = (g.batch + 47) / 48;
  return std::clamp<int64_t>(std::max(images, enough), 1, g.batch);
}

bool usable(const ConvGeometry& g) {
  if (g.batch < 1 || g.out_positions() < 1 || g.patch() < 1 || g.out_channels < 1 || g.in_positions() < 1) return false;
  const WindowDim& d = g.dim[0];
  if (d.in != 1 || d.window != 1 || d.out != 1 || d.before != 0) return false;
  constexpr int64_t kMost = int64_t(1) << 30;  // the library counts some things in int
  for (const WindowDim& x : g.dim) {
    if (x.in > kMost || x.window > kMost || x.stride > kMost || x.dilation > kMost || x.before > kMost || x.before < 0) return false;
    if ((x.window - 1) * x.dilation > kMost || x.before > (x.window - 1) * x.dilation) return false;
  }
  return g.batch * g.in_positions() * g.in_channels < kMost && g.batch * g.out_positions() * g.out_channels < kMost;
}

// When the library is faster than our patches and products, as measured: CPU milliseconds (own / oneDNN)
// on an AMD EPYC with AVX-512, batch x height x width x channels, square filter x filters, / stride.
//                        forward       input         filter gradient
//   32x56x56x64  3x64     89.8 / 67.6  106.7 / 70.6   95.8 / 85.1
//   32x14x14x256 3x256   153.3 / 64.7  102.9 / 68.3  126.9 / 79.6
//   32x56x56x128 3x128/2  99.1 / 70.8   91.6 / 78.8  102.5 / 108.3
//   32x56x56x64  1x256    40.8 / 39.2   44.1 / 37.8  106.1 / 46.2
//   32x32x32x8   3x32     2.53 / 1.55   3.45 / 3.24   2.72 / 1.99
//   32x32x32x4   3x32     1.83 / 0.80   2.27 / 2.97   1.96 / 0.78
//   8x112x112x3  7x64/2   7.31 / 4.70   7.95 / 23.2   8.48 / 5.80
//   32x28x28x1   3x32     0.83 / 0.23   0.68 / 2.05   0.90 / 0.13
//   1x56x56x64   3x64     2.72 / 2.14   2.89 / 2.10   2.92 / 2.26
// So: always, but for the input's gradient with few channels (images). And not for less than a million
// multiplications, where loading the library and compiling for the shape cost more than they can win.
constexpr int64_t kFewChannels = 8;
bool worth(const ConvGeometry& g) {
  return usable(g) && double(g.batch) * double(g.out_positions()) * double(g.patch()) * double(g.out_channels) >= 1e6;
}

// Part of a call: some images, or some output rows of one image.
struct Task {
  ConvGeometry geometry;
  int64_t in, out;  // where its input and output begin
  std::shared_ptr<const Convolution> convolution;
};

std::vector<Task> cut_by_images(const ConvGeometry& g) {
  const int64_t images = images_per_task(g), in = g.in_positions() * g.in_channels, out = g.out_positions() * g.out_channels;
  std::vector<Task> tasks;
  for (int64_t b = 0; b < g.batch; b += images) {
    Task& t = tasks.emplace_back(Task{g, b * in, b * out, nullptr});
    t.geometry.batch = std::min(images, g.batch - b);
  }
  return tasks;
}

// Few images: also cut each into bands of output rows, which read bands of input rows that overlap.
std::vector<Task> cut_by_rows(const ConvGeometry& g, int64_t bands) {
  const WindowDim& h = g.dim[1];
  const int64_t in_row = g.dim[2].in * g.in_channels, out_row = g.dim[2].out * g.out_channels, reach = (h.window - 1) * h.dilation + 1;
  std::vector<Task> tasks;
  for (int64_t b = 0; b < g.batch; ++b) {
    for (int64_t band = 0; band < bands; ++band) {
      const int64_t first = band * h.out / bands, last = (band + 1) * h.out / bands;
      const int64_t top = std::max<int64_t>(0, h.start(first)), bottom = std::min(h.in, h.start(last - 1) + reach);
      if (bottom <= top) return cut_by_images(g);  // a band in the padding alone
      Task& t = tasks.emplace_back(Task{g, (b * h.in + top) * in_row, (b * h.out + first) * out_row, nullptr});
      t.geometry.batch = 1;
      t.geometry.dim[1].in = bottom - top;
      t.geometry.dim[1].out = last - first;
      t.geometry.dim[1].before = std::max<int64_t>(0, -h.start(first));
    }
  }
  return tasks;
}

std::vector<Task> cut_forward(const ConvGeometry& g) {
  constexpr int64_t kTasks = 16;
  const double work = double(g.out_positions()) * double(g.patch()) * double(g.out_channels);
  const int64_t bands = std::min({(kTasks + g.batch - 1) / g.batch, int64_t(work / 2e6), g.dim[1].out});
  return bands > 1 ? cut_by_rows(g, bands) : cut_by_images(g);
}

// Forward and backward_input, whose tasks are independent; `from` and `to` are the whole arrays.
bool run_tasks(Kind kind, std::vector<Task> tasks, const float* from, const float* filter, float* to, core::ThreadPool& pool) {
  const Library& l = *Library::get();
  Bytes filter_storage;
  const void* weights = filter;
  {
    OneThread one(l);
    for (Task& t : tasks) {
      t.convolution = find(l, kind, t.geometry);
      if (!t.convolution || !l.dnnl_memory_desc_equal(&t.convolution->filter, &tasks[0].convolution->filter)) return false;
    }
    const Convolution& c = *tasks[0].convolution;
    if (c.reorder) {
      void* packed = aligned(l.dnnl_memory_desc_get_size(&c.filter), filter_storage);
      if (!reorder(c, c.plain, filter, c.filter, packed)) return false;
      weights = packed;
    }
  }
  std::atomic<bool> ok{true};
  pool.parallel_chunks(int64_t(tasks.size()), [&](int64_t i) {
    OneThread one(l);
    const Task& t = tasks[size_t(i)];
    const Convolution& c = *t.convolution;
    Bytes storage;
    const Argument scratch{DNNL_ARG_SCRATCHPAD, &c.scratch, aligned(l.dnnl_memory_desc_get_size(&c.scratch), storage)};
    const Argument w{DNNL_ARG_WEIGHTS, &c.filter, weights};
    const bool done = kind == Kind::kForward
                          ? execute(l, c.primitive, {{DNNL_ARG_SRC, &c.src, from + t.in}, w, {DNNL_ARG_DST, &c.dst, to + t.out}, scratch})
                          : execute(l, c.primitive, {{DNNL_ARG_DIFF_DST, &c.dst, from + t.out}, w, {DNNL_ARG_DIFF_SRC, &c.src, to + t.in}, scratch});
    if (!done) ok = false;
  });
  return ok;
}

}  // namespace

bool onednn_conv_forward(const ConvGeometry& g, const float* in, const float* filter, float* out, core::ThreadPool& pool) {
  return worth(g) && Library::get() && run_tasks(Kind::kForward, cut_forward(g), in, filter, out, pool);
}

bool onednn_conv_backward_input(const ConvGeometry& g, const float* filter, const float* dout, float* din, core::ThreadPool& pool) {
  return worth(g) && g.in_channels >= kFewChannels && Library::get() && run_tasks(Kind::kInput, cut_by_images(g), dout, filter, din, pool);
}

bool onednn_conv_backward_filter(const ConvGeometry& g, const float* in, const float* dout, float* dfilter, core::ThreadPool& pool) {
  if (!worth(g)) return false;
  const Library* l = Library::get();
  if (!l) return false;
  // Each part of the batch gives a filter of its own; they are added in order.
  const int64_t size = g.patch() * g.out_channels;
  int64_t images = std::max(images_per_task(g), (g.batch + 15) / 16);
  while (images < g.batch && (g.batch + images - 1) / images * size > (int64_t(1) << 24)) images = std::min(g.batch, images * 2);
  const int64_t parts = (g.batch + images - 1) / images, last = g.batch - (parts - 1) * images;
  ConvGeometry part = g;
  part.batch = images;
  std::shared_ptr<const Convolution> whole, rest;
  {
    OneThread one(*l);
    whole = rest = find(*l, Kind::kFilter, part);
    if (whole && last != images) {
      part.batch = last;
      rest = find(*l, Kind::kFilter, part);
    }
    if (!whole || !rest) return false;
  }
  const Scratch sums((parts - 1) * size);
  const int64_t src_size = images * g.in_positions() * g.in_channels, dst_size = images * g.out_positions() * g.out_channels;
  std::atomic<bool> ok{true};
  pool.parallel_chunks(parts, [&](int64_t t) {
    OneThread one(*l);
    const Convolution& c = t + 1 == parts ? *rest : *whole;
    float* sum = t == 0 ? dfilter : sums.get() + (t - 1) * size;
    Bytes storage, packed;
    const void* scratch = aligned(l->dnnl_memory_desc_get_size(&c.scratch), storage);
    void* result = c.reorder ? aligned(l->dnnl_memory_desc_get_size(&c.filter), packed) : sum;
    bool done = execute(*l, c.primitive,
                        {{DNNL_ARG_SRC, &c.src, in + t * src_size},
                         {DNNL_ARG_DIFF_DST, &c.dst, dout + t * dst_size},
                         {DNNL_ARG_DIFF_WEIGHTS, &c.filter, result},
                         {DNNL_ARG_SCRATCHPAD, &c.scratch, scratch}});
    done = done && (!c.reorder || reorder(c, c.filter, result, c.plain, sum));
    if (!done) ok = false;
  });
  pool.parallel_for(size, 0.15 * double(parts - 1), [&](int64_t begin, int64_t end) {
    for (int64_t p = 1; p < parts; ++p) {
      const float* __restrict more = sums.get() + (p - 1) * size;
      for (int64_t i = begin; i < end; ++i) dfilter[i] += more[i];
    }
  });
  return ok;
}

}  // namespace weft_engine::kernels
