// A plug-in with two devices of type MY_DEVICE. Their memory is host memory in which every byte is stored with some bits turned over, so that what is
// read or written without a copy of the plug-in shows. Work is done when it is queued. WEFT_DEVICE_FAULT names ways to be wrong.
#define _POSIX_C_SOURCE 200809L
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tensorflow/c/experimental/stream_executor/stream_executor.h"
#include "tensorflow/c/kernels.h"

enum { kMask = 0x5a };

static bool fault(const char* name) {
  const char* wanted = getenv("WEFT_DEVICE_FAULT");
  return wanted && strcmp(wanted, name) == 0;
}

struct SP_Stream_st {
  int64_t queued;
};
struct SP_Event_st {
  bool recorded;
};
struct SP_Timer_st {
  uint64_t ns;
};

static int64_t live_bytes, peak_bytes, largest_bytes, blocks;
static int64_t live_streams, live_devices;

// What was made and not given back.
TF_CAPI_EXPORT int64_t seen_live(void);
TF_CAPI_EXPORT int64_t seen_live(void) { return live_streams + live_devices; }

// ---- Memory ----

static void allocate(const SP_Device* device, uint64_t size, int64_t memory_space, SP_DeviceMemoryBase* mem) {
  (void)device;
  (void)memory_space;
  mem->struct_size = SP_DEVICE_MEMORY_BASE_STRUCT_SIZE;
  mem->opaque = fault("no_memory") || size > (1u << 28) ? NULL : aligned_alloc(64, (size + 63) & ~(uint64_t)63);
  mem->size = size;
  if (!mem->opaque) return;
  memset(mem->opaque, 0xff, size);
  ++blocks;
  live_bytes += (int64_t)size;
  if (live_bytes > peak_bytes) peak_bytes = live_bytes;
  if ((int64_t)size > largest_bytes) largest_bytes = (int64_t)size;
}
static void deallocate(const SP_Device* device, SP_DeviceMemoryBase* mem) {
  (void)device;
  live_bytes -= (int64_t)mem->size;
  free(mem->opaque);
  mem->opaque = NULL;
}
static void* host_allocate(const SP_Device* device, uint64_t size) {
  (void)device;
  return malloc(size);
}
static void host_deallocate(const SP_Device* device, void* mem) {
  (void)device;
  free(mem);
}
static TF_Bool allocator_stats(const SP_Device* device, SP_AllocatorStats* stats) {
  (void)device;
  stats->struct_size = SP_ALLOCATORSTATS_STRUCT_SIZE;
  stats->num_allocs = blocks;
  stats->bytes_in_use = live_bytes;
  stats->peak_bytes_in_use = peak_bytes;
  stats->largest_alloc_size = largest_bytes;
  stats->has_bytes_limit = 0;
  return 1;
}
static TF_Bool memory_usage(const SP_Device* device, int64_t* free_bytes, int64_t* total) {
  (void)device;
  *total = 1 << 30;
  *free_bytes = *total - live_bytes;
  return 1;
}

// ---- Streams, events, timers ----

static void create_stream(const SP_Device* device, SP_Stream* stream, TF_Status* s) {
  (void)device;
  if (fault("no_stream")) return TF_SetStatus(s, TF_INTERNAL, "no stream to be had");
  *stream = calloc(1, sizeof **stream);
  ++live_streams;
}
static void destroy_stream(const SP_Device* device, SP_Stream stream) {
  (void)device;
  --live_streams;
  free(stream);
}
static void stream_dependency(const SP_Device* device, SP_Stream a, SP_Stream b, TF_Status* s) {
  (void)device;
  (void)a;
  (void)b;
  (void)s;
}
static void stream_status(const SP_Device* device, SP_Stream stream, TF_Status* s) {
  (void)device;
  (void)stream;
  TF_SetStatus(s, TF_OK, "");
}
static void create_event(const SP_Device* device, SP_Event* event, TF_Status* s) {
  (void)device;
  (void)s;
  *event = calloc(1, sizeof **event);
}
static void destroy_event(const SP_Device* device, SP_Event event) {
  (void)device;
  free(event);
}
static SE_EventStatus event_status(const SP_Device* device, SP_Event event) {
  (void)device;
  return event->recorded ? SE_EVENT_COMPLETE : SE_EVENT_PENDING;
}
static void record_event(const SP_Device* device, SP_Stream stream, SP_Event event, TF_Status* s) {
  (void)device;
  (void)stream;
  (void)s;
  event->recorded = true;
}
static void wait_for_event(const SP_Device* const device, SP_Stream stream, SP_Event event, TF_Status* const s) {
  (void)device;
  (void)stream;
  (void)event;
  (void)s;
}
static void block_for_event(const SP_Device* device, SP_Event event, TF_Status* s) {
  (void)device;
  if (!event->recorded) TF_SetStatus(s, TF_FAILED_PRECONDITION, "the event was never recorded");
}
static void synchronize(const SP_Device* device, TF_Status* s) {
  (void)device;
  (void)s;
}
static void create_timer(const SP_Device* device, SP_Timer* timer, TF_Status* s) {
  (void)device;
  (void)s;
  *timer = calloc(1, sizeof **timer);
}
static void destroy_timer(const SP_Device* device, SP_Timer timer) {
  (void)device;
  free(timer);
}
static void touch_timer(const SP_Device* device, SP_Stream stream, SP_Timer timer, TF_Status* s) {
  (void)device;
  (void)stream;
  (void)s;
  timer->ns += 1;
}
static uint64_t nanoseconds(SP_Timer timer) { return timer->ns; }

// ---- Copies ----

static void turn_over(void* to, const void* from, uint64_t size) {
  for (uint64_t i = 0; i < size; ++i) ((unsigned char*)to)[i] = ((const unsigned char*)from)[i] ^ kMask;
}
static void sync_dtoh(const SP_Device* device, void* to, const SP_DeviceMemoryBase* from, uint64_t size, TF_Status* s) {
  (void)device;
  if (fault("dtoh_fails")) TF_SetStatus(s, TF_DATA_LOSS, "the way to the host is closed");
  else turn_over(to, from->opaque, size);
}
static void sync_htod(const SP_Device* device, SP_DeviceMemoryBase* to, const void* from, uint64_t size, TF_Status* s) {
  (void)device;
  if (fault("htod_fails")) TF_SetStatus(s, TF_DATA_LOSS, "the way to the device is closed");
  else turn_over(to->opaque, from, size);
}
static void sync_dtod(const SP_Device* device, SP_DeviceMemoryBase* to, const SP_DeviceMemoryBase* from, uint64_t size, TF_Status* s) {
  (void)device;
  (void)s;
  memmove(to->opaque, from->opaque, size);
}
static void copy_dtoh(const SP_Device* d, SP_Stream stream, void* to, const SP_DeviceMemoryBase* from, uint64_t n, TF_Status* s) {
  ++stream->queued;
  sync_dtoh(d, to, from, n, s);
}
static void copy_htod(const SP_Device* d, SP_Stream stream, SP_DeviceMemoryBase* to, const void* from, uint64_t n, TF_Status* s) {
  ++stream->queued;
  sync_htod(d, to, from, n, s);
}
static void copy_dtod(const SP_Device* d, SP_Stream stream, SP_DeviceMemoryBase* to, const SP_DeviceMemoryBase* from, uint64_t n, TF_Status* s) {
  ++stream->queued;
  sync_dtod(d, to, from, n, s);
}
static void fill(const SP_Device* device, SP_Stream stream, SP_DeviceMemoryBase* at, uint8_t pattern, uint64_t size, TF_Status* s) {
  (void)device;
  (void)stream;
  (void)s;
  memset(at->opaque, pattern ^ kMask, size);
}
static void zero(const SP_Device* device, SP_Stream stream, SP_DeviceMemoryBase* at, uint64_t size, TF_Status* s) {
  fill(device, stream, at, 0, size, s);
}
static void fill32(const SP_Device* device, SP_Stream stream, SP_DeviceMemoryBase* at, uint32_t pattern, uint64_t size, TF_Status* s) {
  (void)device;
  (void)stream;
  (void)s;
  for (uint64_t i = 0; i + 4 <= size; i += 4) turn_over((char*)at->opaque + i, &pattern, 4);
}
static TF_Bool callback(const SP_Device* device, SP_Stream stream, SE_StatusCallbackFn f, void* arg) {
  (void)device;
  (void)stream;
  TF_Status* s = TF_NewStatus();
  f(arg, s);
  const bool ok = TF_GetCode(s) == TF_OK;
  TF_DeleteStatus(s);
  return ok;
}

// ---- The platform ----

static void device_count(const SP_Platform* platform, int* count, TF_Status* s) {
  (void)platform;
  *count = fault("negative_count") ? -3 : 2;
  if (fault("count_fails")) TF_SetStatus(s, TF_UNAVAILABLE, "nobody counts devices here");
}
static void create_device(const SP_Platform* platform, SE_CreateDeviceParams* params, TF_Status* s) {
  (void)platform;
  if (fault("device_fails") && params->ordinal == 1) return TF_SetStatus(s, TF_INTERNAL, "the second device is broken");
  params->device->struct_size = fault("device_size") ? 0 : SP_DEVICE_STRUCT_SIZE;
  params->device->ordinal = params->ordinal;
  params->device->hardware_name = "Mine";
  params->device->device_vendor = "Me";
  params->device->pci_bus_id = "0000:00:02.1";
  ++live_devices;
}
static void destroy_device(const SP_Platform* platform, SP_Device* device) {
  (void)platform;
  (void)device;
  --live_devices;
}
static void create_device_fns(const SP_Platform* platform, SE_CreateDeviceFnsParams* params, TF_Status* s) {
  (void)platform;
  (void)s;
  params->device_fns->struct_size = SP_DEVICE_FNS_STRUCT_SIZE;
}
static void destroy_device_fns(const SP_Platform* platform, SP_DeviceFns* fns) {
  (void)platform;
  (void)fns;
}
static void create_executor(const SP_Platform* platform, SE_CreateStreamExecutorParams* params, TF_Status* s) {
  (void)platform;
  SP_StreamExecutor* e = params->stream_executor;
  e->struct_size = fault("executor_size") ? 0 : SP_STREAMEXECUTOR_STRUCT_SIZE;
  e->allocate = fault("no_allocate") ? NULL : allocate;
  e->deallocate = deallocate;
  e->host_memory_allocate = host_allocate;
  e->host_memory_deallocate = host_deallocate;
  e->get_allocator_stats = allocator_stats;
  e->device_memory_usage = memory_usage;
  e->create_stream = create_stream;
  e->destroy_stream = destroy_stream;
  e->create_stream_dependency = stream_dependency;
  e->get_stream_status = stream_status;
  e->create_event = create_event;
  e->destroy_event = destroy_event;
  e->get_event_status = event_status;
  e->record_event = record_event;
  e->wait_for_event = wait_for_event;
  e->create_timer = create_timer;
  e->destroy_timer = destroy_timer;
  e->start_timer = touch_timer;
  e->stop_timer = touch_timer;
  e->memcpy_dtoh = fault("no_dtoh") ? NULL : copy_dtoh;
  e->memcpy_htod = copy_htod;
  e->memcpy_dtod = copy_dtod;
  e->sync_memcpy_dtoh = sync_dtoh;
  e->sync_memcpy_htod = sync_htod;
  e->sync_memcpy_dtod = sync_dtod;
  e->block_host_for_event = block_for_event;
  e->block_host_until_done = NULL;  // by an event
  e->synchronize_all_activity = synchronize;
  e->mem_zero = zero;
  e->memset = fill;
  e->memset32 = fill32;
  e->host_callback = callback;
  if (fault("executor_fails")) TF_SetStatus(s, TF_INTERNAL, "no executor");
}
static void destroy_executor(const SP_Platform* platform, SP_StreamExecutor* e) {
  (void)platform;
  (void)e;
}
static void create_timer_fns(const SP_Platform* platform, SP_TimerFns* fns, TF_Status* s) {
  (void)platform;
  (void)s;
  fns->struct_size = SP_TIMER_FNS_STRUCT_SIZE;
  fns->nanoseconds = fault("no_nanoseconds") ? NULL : nanoseconds;
}
static void destroy_timer_fns(const SP_Platform* platform, SP_TimerFns* fns) {
  (void)platform;
  (void)fns;
}
static void destroy_platform(SP_Platform* platform) { (void)platform; }
static void destroy_platform_fns(SP_PlatformFns* fns) { (void)fns; }

TF_CAPI_EXPORT void SE_InitPlugin(SE_PlatformRegistrationParams* params, TF_Status* s) {
  if (fault("init_fails")) return TF_SetStatus(s, TF_UNAVAILABLE, "init says no");
  SP_Platform* p = params->platform;
  p->struct_size = fault("platform_size") ? 0 : SP_PLATFORM_STRUCT_SIZE;
  p->name = fault("no_name") ? NULL : "MY_DEVICE";
  p->type = fault("no_type") ? NULL : fault("lower_case") ? "my_device" : "MY_DEVICE";
  p->supports_unified_memory = 0;
  p->use_bfc_allocator = 0;
  SP_PlatformFns* f = params->platform_fns;
  f->struct_size = fault("fns_size") ? 0 : SP_PLATFORM_FNS_STRUCT_SIZE;
  f->get_device_count = device_count;
  f->create_device = fault("no_create_device") ? NULL : create_device;
  f->destroy_device = destroy_device;
  f->create_device_fns = create_device_fns;
  f->destroy_device_fns = destroy_device_fns;
  f->create_stream_executor = create_executor;
  f->destroy_stream_executor = destroy_executor;
  f->create_timer_fns = create_timer_fns;
  f->destroy_timer_fns = destroy_timer_fns;
  params->destroy_platform = fault("no_destroy") ? NULL : destroy_platform;
  params->destroy_platform_fns = destroy_platform_fns;
}

// ---- Kernels: AddV2 and Square of floats, Fill with its sizes in host memory ----

static float get(const TF_Tensor* t, int64_t i) {
  float v;
  turn_over(&v, (const float*)TF_TensorData(t) + i, sizeof v);
  return v;
}
static void put(TF_Tensor* t, int64_t i, float v) { turn_over((float*)TF_TensorData(t) + i, &v, sizeof v); }

static TF_Tensor* output_like(TF_OpKernelContext* c, const TF_Tensor* like, TF_Status* s) {
  int64_t dims[8];
  const int rank = TF_NumDims(like);
  for (int i = 0; i < rank && i < 8; ++i) dims[i] = TF_Dim(like, i);
  return TF_AllocateOutput(c, 0, TF_FLOAT, dims, rank, TF_TensorByteSize(like), s);
}
// The work goes to the stream of the device.
static bool queue(TF_OpKernelContext* c, TF_Status* s) {
  SP_Stream stream = TF_GetStream(c, s);
  if (TF_GetCode(s) != TF_OK) return false;
  ++stream->queued;
  return true;
}
static void finish(TF_OpKernelContext* c, TF_Status* s) {
  if (TF_GetCode(s) != TF_OK) TF_OpKernelContext_Failure(c, s);
  TF_DeleteStatus(s);
}

static void run_add(void* kernel, TF_OpKernelContext* c) {
  (void)kernel;
  TF_Status* s = TF_NewStatus();
  TF_Tensor *a = NULL, *b = NULL, *out = NULL;
  TF_GetInput(c, 0, &a, s);
  TF_GetInput(c, 1, &b, s);
  const int64_t n = TF_TensorElementCount(a), m = TF_TensorElementCount(b);
  if (n != m && m != 1) TF_SetStatus(s, TF_INVALID_ARGUMENT, "MY_DEVICE adds tensors of one shape");
  else if (queue(c, s)) out = output_like(c, a, s);
  if (out)
    for (int64_t i = 0; i < n; ++i) put(out, i, get(a, i) + get(b, m == 1 ? 0 : i));
  TF_DeleteTensor(a);
  TF_DeleteTensor(b);
  TF_DeleteTensor(out);
  finish(c, s);
}
static void run_square(void* kernel, TF_OpKernelContext* c) {
  (void)kernel;
  TF_Status* s = TF_NewStatus();
  TF_Tensor *a = NULL, *out = NULL;
  TF_GetInput(c, 0, &a, s);
  if (queue(c, s)) out = output_like(c, a, s);
  if (out)
    for (int64_t i = 0; i < TF_TensorElementCount(a); ++i) put(out, i, get(a, i) * get(a, i));
  TF_DeleteTensor(a);
  TF_DeleteTensor(out);
  finish(c, s);
}
static void run_fill(void* kernel, TF_OpKernelContext* c) {
  (void)kernel;
  TF_Status* s = TF_NewStatus();
  TF_Tensor *sizes = NULL, *value = NULL, *out = NULL;
  TF_GetInput(c, 0, &sizes, s);
  TF_GetInput(c, 1, &value, s);
  int64_t dims[8], n = 1;
  const int64_t rank = TF_TensorElementCount(sizes);
  if (rank > 8) TF_SetStatus(s, TF_INVALID_ARGUMENT, "too many dimensions");
  for (int64_t i = 0; i < rank && i < 8; ++i) n *= dims[i] = ((const int32_t*)TF_TensorData(sizes))[i];
  if (TF_GetCode(s) == TF_OK && queue(c, s)) out = TF_AllocateOutput(c, 0, TF_FLOAT, dims, (int)rank, (size_t)n * 4, s);
  if (out)
    for (int64_t i = 0; i < n; ++i) put(out, i, get(value, 0));
  TF_DeleteTensor(sizes);
  TF_DeleteTensor(value);
  TF_DeleteTensor(out);
  finish(c, s);
}

static void add_kernel(const char* op, const char* type_attr, void (*run)(void*, TF_OpKernelContext*), const char* on_host) {
  TF_Status* s = TF_NewStatus();
  TF_KernelBuilder* b = TF_NewKernelBuilder(op, "MY_DEVICE", NULL, run, NULL);
  TF_KernelBuilder_TypeConstraint(b, type_attr, TF_FLOAT, s);
  if (on_host) {
    TF_KernelBuilder_TypeConstraint(b, "index_type", TF_INT32, s);
    TF_KernelBuilder_HostMemory(b, on_host);
  }
  if (TF_GetCode(s) == TF_OK) TF_RegisterKernelBuilder("MyKernel", b, s);
  if (TF_GetCode(s) != TF_OK) printf("MY_DEVICE's kernel for %s: %s\n", op, TF_Message(s));
  TF_DeleteStatus(s);
}
TF_CAPI_EXPORT void TF_InitKernel(void) {
  add_kernel("AddV2", "T", run_add, NULL);
  add_kernel("Square", "T", run_square, NULL);
  add_kernel("Fill", "T", run_fill, "dims");
}
