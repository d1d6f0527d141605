// SPDX-License-Identifier: Apache-2.0
//
// Parts of the eager API that may change: op reuse, executors, cancellation, clusters, device
// memory, custom devices, and metrics (at the end).
// TensorFlow's header of this name is C++; this one reads as C too, and the calls are the same.
#ifndef TENSORFLOW_C_EAGER_C_API_EXPERIMENTAL_H_
#define TENSORFLOW_C_EAGER_C_API_EXPERIMENTAL_H_

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "tensorflow/c/c_api.h"
#include "tensorflow/c/c_api_macros.h"
#include "tensorflow/c/eager/c_api.h"

#ifdef __cplusplus
extern "C" {
#endif

// ---- Ops ----

typedef struct TFE_OpAttrs TFE_OpAttrs;

// Makes a used op new again without allocating; raw_device_name may be null.
TF_CAPI_EXPORT extern void TFE_OpReset(TFE_Op* op_to_reset, const char* op_or_function_name, const char* raw_device_name, TF_Status* status);

// Valid as long as op is.
TF_CAPI_EXPORT extern const TFE_OpAttrs* TFE_OpGetAttrs(const TFE_Op* op);

// Does not override attributes that are set already.
TF_CAPI_EXPORT extern void TFE_OpAddAttrs(TFE_Op* op, const TFE_OpAttrs* attrs);

// As a serialized NameAttrList.
TF_CAPI_EXPORT extern void TFE_OpAttrsSerialize(const TFE_OpAttrs* attrs, TF_Buffer* buf, TF_Status* status);

// From a serialized AttrValue. The const is TensorFlow's; op is changed.
TF_CAPI_EXPORT extern void TFE_OpSetAttrValueProto(const TFE_Op* op, const char* attr_name, const void* proto, size_t proto_len, TF_Status* status);

// ---- Context ----

// Has no effect beyond being remembered: there is one runtime.
TF_CAPI_EXPORT extern void TFE_ContextOptionsSetTfrt(TFE_ContextOptions* options, bool use_tfrt);

// Tells remote workers which context speaks; changes when they are initialised anew.
TF_CAPI_EXPORT extern uint64_t TFE_GetContextId(TFE_Context* ctx);

TF_CAPI_EXPORT extern void TFE_ContextEnableGraphCollection(TFE_Context* ctx);
TF_CAPI_EXPORT extern void TFE_ContextDisableGraphCollection(TFE_Context* ctx);

TF_CAPI_EXPORT extern void TFE_ContextSetSoftDevicePlacement(TFE_Context* ctx, unsigned char enable, TF_Status* status);
TF_CAPI_EXPORT extern void TFE_ContextSetLogDevicePlacement(TFE_Context* ctx, unsigned char enable, TF_Status* status);
TF_CAPI_EXPORT extern void TFE_ContextSetRunEagerOpAsFunction(TFE_Context* ctx, unsigned char enable, TF_Status* status);
TF_CAPI_EXPORT extern void TFE_ContextSetJitCompileRewrite(TFE_Context* ctx, unsigned char enable, TF_Status* status);

// Must come before the context is used.
TF_CAPI_EXPORT extern void TFE_SetLogicalCpuDevices(TFE_Context* ctx, int num_cpus, const char* prefix, TF_Status* status);

// Serialized FunctionDef, and the GraphDebugInfo kept with it.
TF_CAPI_EXPORT extern void TFE_ContextGetFunctionDef(TFE_Context* ctx, const char* function_name, TF_Buffer* buf, TF_Status* status);
TF_CAPI_EXPORT extern void TFE_ContextGetGraphDebugInfo(TFE_Context* ctx, const char* function_name, TF_Buffer* buf, TF_Status* status);

// The caller deletes the function.
TF_CAPI_EXPORT extern TF_Function* TFE_ContextGetFunction(TFE_Context* ctx, const char* name, TF_Status* status);

// Names of ops that ran inside functions, with commas between.
TF_CAPI_EXPORT extern void TFE_GetExecutedOpNames(TFE_Context* ctx, TF_Buffer* buf, TF_Status* status);

// ---- Executors: who runs ops, and when ----

typedef struct TFE_Executor TFE_Executor;

// in_flight_nodes_limit 0: no limit.
TF_CAPI_EXPORT extern TFE_Executor* TFE_NewExecutor(bool is_async, bool enable_streaming_enqueue, int in_flight_nodes_limit);

// Waits for its ops.
TF_CAPI_EXPORT extern void TFE_DeleteExecutor(TFE_Executor* executor);
TF_CAPI_EXPORT extern bool TFE_ExecutorIsAsync(TFE_Executor* executor);

// The first error among them, if any.
TF_CAPI_EXPORT extern void TFE_ExecutorWaitForAllPendingNodes(TFE_Executor* executor, TF_Status* status);

// After an error an asynchronous executor refuses ops until this is called.
TF_CAPI_EXPORT extern void TFE_ExecutorClearError(TFE_Executor* executor);

// For ops of this thread; the executor must outlive its use.
TF_CAPI_EXPORT extern void TFE_ContextSetExecutorForThread(TFE_Context* ctx, TFE_Executor* executor);

// The caller deletes the handle.
TF_CAPI_EXPORT extern TFE_Executor* TFE_ContextGetExecutorForThread(TFE_Context* ctx);

// Waits for the ops of all executors.
TF_CAPI_EXPORT extern void TFE_ContextAsyncWait(TFE_Context* ctx, TF_Status* status);

// ---- Cancellation ----

typedef struct TFE_CancellationManager TFE_CancellationManager;
typedef int64_t TFE_CancellationToken;

typedef struct TFE_CancelCallback {
  void (*callback)(void* context);
  void* context;
} TFE_CancelCallback;

TF_CAPI_EXPORT extern TFE_CancellationManager* TFE_NewCancellationManager(void);
TF_CAPI_EXPORT extern void TFE_DeleteCancellationManager(TFE_CancellationManager* manager);
TF_CAPI_EXPORT extern bool TFE_CancellationManagerIsCancelled(TFE_CancellationManager* manager);
TF_CAPI_EXPORT extern bool TFE_CancellationManagerIsCancelling(TFE_CancellationManager* manager);

// Runs the callbacks; a second call does nothing.
TF_CAPI_EXPORT extern void TFE_CancellationManagerStartCancel(TFE_CancellationManager* manager);
TF_CAPI_EXPORT extern TFE_CancellationToken TFE_CancellationManagerGetToken(TFE_CancellationManager* manager);

// False if already cancelled: then the callback is not kept.
TF_CAPI_EXPORT extern bool TFE_CancellationManagerRegisterCallback(TFE_CancellationManager* manager, TFE_CancellationToken token,
                                                                   const TFE_CancelCallback* c_callback, const char* callback_name);

// False if the callback has run; waits if it is running.
TF_CAPI_EXPORT extern bool TFE_CancellationManagerDeregisterCallback(TFE_CancellationManager* manager, TFE_CancellationToken token);

// The same without waiting.
TF_CAPI_EXPORT extern bool TFE_CancellationManagerTryDeregisterCallback(TFE_CancellationManager* manager, TFE_CancellationToken token);

TF_CAPI_EXPORT extern void TFE_OpSetCancellationManager(TFE_Op* op, TFE_CancellationManager* cancellation_manager, TF_Status* status);

// ---- Tensor handles and device memory ----

// Shares the tensor's memory.
TF_CAPI_EXPORT extern TFE_TensorHandle* TFE_NewTensorHandleFromTensor(TFE_Context* ctx, TF_Tensor* t, TF_Status* status);

// In memory that copies to the devices of ctx fast.
TF_CAPI_EXPORT extern TF_Tensor* TFE_AllocateHostTensor(TFE_Context* ctx, TF_DataType dtype, const int64_t* dims, int num_dims, TF_Status* status);

// Address on the device, after all pending work is done; valid as long as the handle.
TF_CAPI_EXPORT extern void* TFE_TensorHandleDevicePointer(TFE_TensorHandle* h, TF_Status* status);
TF_CAPI_EXPORT extern size_t TFE_TensorHandleDeviceMemorySize(TFE_TensorHandle* h, TF_Status* status);

// Takes over memory of the device, given back through deallocator.
TF_CAPI_EXPORT extern TFE_TensorHandle* TFE_NewTensorHandleFromDeviceMemory(TFE_Context* ctx, const char* device_name, TF_DataType dtype,
                                                                            const int64_t* dims, int num_dims, void* data, size_t len,
                                                                            void (*deallocator)(void* data, size_t len, void* arg),
                                                                            void* deallocator_arg, TF_Status* status);

// One handle that stands for several, each on its own device.
TF_CAPI_EXPORT extern TFE_TensorHandle* TFE_CreatePackedTensorHandle(TFE_Context* ctx, TFE_TensorHandle** handles, int* num_handles,
                                                                     TF_Status* status);

// "CPU", "GPU", ...
TF_CAPI_EXPORT extern const char* TFE_TensorHandleDeviceType(TFE_TensorHandle* h, TF_Status* status);
TF_CAPI_EXPORT extern int TFE_TensorHandleDeviceID(TFE_TensorHandle* h, TF_Status* status);

// The error that the value carries, or OK.
TF_CAPI_EXPORT extern void TFE_TensorHandleGetStatus(TFE_TensorHandle* h, TF_Status* status);

// ---- Clusters ----

// Name of the host CPU's job, replica and task.
TF_CAPI_EXPORT extern void TFE_HostAddressSpace(TFE_Context* ctx, TF_Buffer* buf);

// The proto is a serialized ServerDef; an update keeps the tasks that stay.
TF_CAPI_EXPORT extern void TFE_ContextUpdateServerDef(TFE_Context* ctx, int keep_alive_secs, const void* proto, size_t proto_len, TF_Status* status);
TF_CAPI_EXPORT extern void TFE_ContextUpdateServerDefWithTimeout(TFE_Context* ctx, int keep_alive_secs, const void* proto, size_t proto_len,
                                                                 int64_t init_timeout_in_ms, TF_Status* status);
TF_CAPI_EXPORT extern void TFE_ContextSetServerDefWithTimeout(TFE_Context* ctx, int keep_alive_secs, const void* proto, size_t proto_len,
                                                              int64_t init_timeout_in_ms, TF_Status* status, bool clear_existing_contexts);
TF_CAPI_EXPORT extern void TFE_ContextSetServerDefWithTimeoutAndRetries(TFE_Context* ctx, int keep_alive_secs, const void* proto, size_t proto_len,
                                                                        int64_t init_timeout_in_ms, int retries, TF_Status* status,
                                                                        bool clear_existing_contexts);

// Makes a context of this task alone out of a serialized ServerDef.
TF_CAPI_EXPORT extern void TFE_InitializeLocalOnlyContext(TFE_Context* ctx, int keep_alive_secs, const void* proto, size_t proto_len,
                                                          TF_Status* status);

TF_CAPI_EXPORT extern bool TFE_ContextCheckAlive(TFE_Context* ctx, const char* worker_name, TF_Status* status);

// Key-value store of the cluster.
TF_CAPI_EXPORT extern void TFE_InsertConfigKeyValue(TFE_Context* ctx, const char* key, const char* value, TF_Status* status);
TF_CAPI_EXPORT extern void TFE_GetConfigKeyValue(TFE_Context* ctx, const char* key, int64_t timeout_in_ms, TF_Buffer* value_buf, TF_Status* status);
TF_CAPI_EXPORT extern void TFE_DeleteConfigKeyValue(TFE_Context* ctx, const char* key, TF_Status* status);

TF_CAPI_EXPORT extern void TFE_ReportErrorToCluster(TFE_Context* ctx, int error_code, const char* error_message, TF_Status* status);

// States of the given tasks, as the coordination service sees them: OK, or the error of a task that has
// failed. `tasks` is a serialized GetTaskStateRequest (field 1 for each task: its job in field 1, its number
// in field 2), `states` an array of TF_Status*, one for each task. (TensorFlow's own takes arrays of objects
// of its C++ classes, which no C program can make.) A reference in C++ and a pointer in C are the same call.
#ifdef __cplusplus
TF_CAPI_EXPORT extern void TFE_GetTaskStates(TFE_Context* ctx, const TF_Buffer& tasks, void* states, TF_Status* status);
#else
TF_CAPI_EXPORT extern void TFE_GetTaskStates(TFE_Context* ctx, const TF_Buffer* tasks, void* states, TF_Status* status);
#endif
TF_CAPI_EXPORT extern void TFE_WaitAtBarrier(TFE_Context* ctx, const char* barrier_id, int64_t barrier_timeout_in_ms, TF_Status* status);

// ---- Custom devices ----

#define TFE_CUSTOM_DEVICE_VERSION 4

// In C++ the members below that have a default get it; a C program sets them itself.
#ifdef __cplusplus
#define WEFT_MEMBER_DEFAULT(value) = value
#else
#define WEFT_MEMBER_DEFAULT(value)
#endif

// The callbacks of a device that the program brings along; device_info is the pointer given at
// registration.
typedef struct TFE_CustomDevice {
  int version WEFT_MEMBER_DEFAULT(TFE_CUSTOM_DEVICE_VERSION);

  TFE_TensorHandle* (*copy_tensor_to_device)(TFE_Context* context, TFE_TensorHandle* tensor, TF_Status* status, void* device_info);

  // target_device_name may be another device of any kind.
  TFE_TensorHandle* (*copy_tensor_from_device)(TFE_Context* context, TFE_TensorHandle* tensor, const char* target_device_name, TF_Status* status,
                                               void* device_info);

  // *num_outputs is the room in outputs and becomes their number.
  void (*execute)(const TFE_Op* op, int* num_outputs, TFE_TensorHandle** outputs, TF_Status* s, void* device_info);

  void (*delete_device)(void* device_info);

  // May be null: packing is then an error.
  TFE_TensorHandle* (*pack)(TFE_Context* context, TFE_TensorHandle** handles, int num_handles, TF_Status* s,
                            void* device_info)WEFT_MEMBER_DEFAULT(nullptr);

  // May be null. Asked for ops without a device of their own: true takes the op.
  bool (*shall_pin_to_this_device)(const TFE_Op* op, TF_Status* s) WEFT_MEMBER_DEFAULT(nullptr);
} TFE_CustomDevice;

// The callbacks of a tensor that lives on a custom device.
typedef struct TFE_CustomDeviceTensorHandleMethods {
  int version WEFT_MEMBER_DEFAULT(TFE_CUSTOM_DEVICE_VERSION);
  int (*num_dims)(void* data, TF_Status* status);
  int64_t (*dim)(void* data, int dim_index, TF_Status* status);
  void (*deallocator)(void* data);
  TF_Buffer* (*summarize)(void* data, TF_Status* status)WEFT_MEMBER_DEFAULT(nullptr);
} TFE_CustomDeviceTensorHandle;

#undef WEFT_MEMBER_DEFAULT

// device_name is full: "/job:localhost/replica:0/task:0/device:CUSTOM:0".
TF_CAPI_EXPORT extern void TFE_RegisterCustomDevice(TFE_Context* ctx, TFE_CustomDevice device, const char* device_name, void* device_info,
                                                    TF_Status* status);
TF_CAPI_EXPORT extern bool TFE_IsCustomDevice(TFE_Context* ctx, const char* device_name);

// data is handed to the methods; methods.deallocator ends it.
TF_CAPI_EXPORT extern TFE_TensorHandle* TFE_NewCustomDeviceTensorHandle(TFE_Context* ctx, const char* device_name, TF_DataType dtype, void* data,
                                                                        TFE_CustomDeviceTensorHandle methods, TF_Status* status);

// ---- Metrics ----
//
// A metric has 0 to 4 labels and one cell for each set of label values. Cells belong to their
// metric; deleting the metric takes it off the list.

typedef struct TFE_MonitoringCounterCell TFE_MonitoringCounterCell;
typedef struct TFE_MonitoringCounter0 TFE_MonitoringCounter0;
typedef struct TFE_MonitoringCounter1 TFE_MonitoringCounter1;
typedef struct TFE_MonitoringCounter2 TFE_MonitoringCounter2;

TF_CAPI_EXPORT extern void TFE_MonitoringCounterCellIncrementBy(TFE_MonitoringCounterCell* cell, int64_t value);
TF_CAPI_EXPORT extern int64_t TFE_MonitoringCounterCellValue(TFE_MonitoringCounterCell* cell);

TF_CAPI_EXPORT extern TFE_MonitoringCounter0* TFE_MonitoringNewCounter0(const char* name, TF_Status* status, const char* description);
TF_CAPI_EXPORT extern TFE_MonitoringCounter1* TFE_MonitoringNewCounter1(const char* name, TF_Status* status, const char* description,
                                                                        const char* label1);
TF_CAPI_EXPORT extern TFE_MonitoringCounter2* TFE_MonitoringNewCounter2(const char* name, TF_Status* status, const char* description,
                                                                        const char* label1, const char* label2);
TF_CAPI_EXPORT extern void TFE_MonitoringDeleteCounter0(TFE_MonitoringCounter0* counter);
TF_CAPI_EXPORT extern void TFE_MonitoringDeleteCounter1(TFE_MonitoringCounter1* counter);
TF_CAPI_EXPORT extern void TFE_MonitoringDeleteCounter2(TFE_MonitoringCounter2* counter);
TF_CAPI_EXPORT extern TFE_MonitoringCounterCell* TFE_MonitoringGetCellCounter0(TFE_MonitoringCounter0* counter);
TF_CAPI_EXPORT extern TFE_MonitoringCounterCell* TFE_MonitoringGetCellCounter1(TFE_MonitoringCounter1* counter, const char* label1);
TF_CAPI_EXPORT extern TFE_MonitoringCounterCell* TFE_MonitoringGetCellCounter2(TFE_MonitoringCounter2* counter, const char* label1,
                                                                               const char* label2);

typedef struct TFE_MonitoringIntGaugeCell TFE_MonitoringIntGaugeCell;
typedef struct TFE_MonitoringIntGauge0 TFE_MonitoringIntGauge0;
typedef struct TFE_MonitoringIntGauge1 TFE_MonitoringIntGauge1;
typedef struct TFE_MonitoringIntGauge2 TFE_MonitoringIntGauge2;

TF_CAPI_EXPORT extern void TFE_MonitoringIntGaugeCellSet(TFE_MonitoringIntGaugeCell* cell, int64_t value);
TF_CAPI_EXPORT extern int64_t TFE_MonitoringIntGaugeCellValue(TFE_MonitoringIntGaugeCell* cell);

TF_CAPI_EXPORT extern TFE_MonitoringIntGauge0* TFE_MonitoringNewIntGauge0(const char* name, TF_Status* status, const char* description);
TF_CAPI_EXPORT extern TFE_MonitoringIntGauge1* TFE_MonitoringNewIntGauge1(const char* name, TF_Status* status, const char* description,
                                                                          const char* label1);
TF_CAPI_EXPORT extern TFE_MonitoringIntGauge2* TFE_MonitoringNewIntGauge2(const char* name, TF_Status* status, const char* description,
                                                                          const char* label1, const char* label2);
TF_CAPI_EXPORT extern void TFE_MonitoringDeleteIntGauge0(TFE_MonitoringIntGauge0* gauge);
TF_CAPI_EXPORT extern void TFE_MonitoringDeleteIntGauge1(TFE_MonitoringIntGauge1* gauge);
TF_CAPI_EXPORT extern void TFE_MonitoringDeleteIntGauge2(TFE_MonitoringIntGauge2* gauge);
TF_CAPI_EXPORT extern TFE_MonitoringIntGaugeCell* TFE_MonitoringGetCellIntGauge0(TFE_MonitoringIntGauge0* gauge);
TF_CAPI_EXPORT extern TFE_MonitoringIntGaugeCell* TFE_MonitoringGetCellIntGauge1(TFE_MonitoringIntGauge1* gauge, const char* label1);
TF_CAPI_EXPORT extern TFE_MonitoringIntGaugeCell* TFE_MonitoringGetCellIntGauge2(TFE_MonitoringIntGauge2* gauge, const char* label1,
                                                                                 const char* label2);

typedef struct TFE_MonitoringStringGaugeCell TFE_MonitoringStringGaugeCell;
typedef struct TFE_MonitoringStringGauge0 TFE_MonitoringStringGauge0;
typedef struct TFE_MonitoringStringGauge1 TFE_MonitoringStringGauge1;
typedef struct TFE_MonitoringStringGauge2 TFE_MonitoringStringGauge2;
typedef struct TFE_MonitoringStringGauge3 TFE_MonitoringStringGauge3;
typedef struct TFE_MonitoringStringGauge4 TFE_MonitoringStringGauge4;

TF_CAPI_EXPORT extern void TFE_MonitoringStringGaugeCellSet(TFE_MonitoringStringGaugeCell* cell, const char* value);

// TensorFlow writes `const void` here, which means void and only draws a warning.
TF_CAPI_EXPORT extern void TFE_MonitoringStringGaugeCellValue(TFE_MonitoringStringGaugeCell* cell, TF_Buffer* buf);

TF_CAPI_EXPORT extern TFE_MonitoringStringGauge0* TFE_MonitoringNewStringGauge0(const char* name, TF_Status* status, const char* description);
TF_CAPI_EXPORT extern TFE_MonitoringStringGauge1* TFE_MonitoringNewStringGauge1(const char* name, TF_Status* status, const char* description,
                                                                                const char* label1);
TF_CAPI_EXPORT extern TFE_MonitoringStringGauge2* TFE_MonitoringNewStringGauge2(const char* name, TF_Status* status, const char* description,
                                                                                const char* label1, const char* label2);
TF_CAPI_EXPORT extern TFE_MonitoringStringGauge3* TFE_MonitoringNewStringGauge3(const char* name, TF_Status* status, const char* description,
                                                                                const char* label1, const char* label2, const char* label3);
TF_CAPI_EXPORT extern TFE_MonitoringStringGauge4* TFE_MonitoringNewStringGauge4(const char* name, TF_Status* status, const char* description,
                                                                                const char* label1, const char* label2, const char* label3,
                                                                                const char* label4);
TF_CAPI_EXPORT extern void TFE_MonitoringDeleteStringGauge0(TFE_MonitoringStringGauge0* gauge);
TF_CAPI_EXPORT extern void TFE_MonitoringDeleteStringGauge1(TFE_MonitoringStringGauge1* gauge);
TF_CAPI_EXPORT extern void TFE_MonitoringDeleteStringGauge2(TFE_MonitoringStringGauge2* gauge);
TF_CAPI_EXPORT extern void TFE_MonitoringDeleteStringGauge3(TFE_MonitoringStringGauge3* gauge);
TF_CAPI_EXPORT extern void TFE_MonitoringDeleteStringGauge4(TFE_MonitoringStringGauge4* gauge);
TF_CAPI_EXPORT extern TFE_MonitoringStringGaugeCell* TFE_MonitoringGetCellStringGauge0(TFE_MonitoringStringGauge0* gauge);
TF_CAPI_EXPORT extern TFE_MonitoringStringGaugeCell* TFE_MonitoringGetCellStringGauge1(TFE_MonitoringStringGauge1* gauge, const char* label1);
TF_CAPI_EXPORT extern TFE_MonitoringStringGaugeCell* TFE_MonitoringGetCellStringGauge2(TFE_MonitoringStringGauge2* gauge, const char* label1,
                                                                                       const char* label2);
TF_CAPI_EXPORT extern TFE_MonitoringStringGaugeCell* TFE_MonitoringGetCellStringGauge3(TFE_MonitoringStringGauge3* gauge, const char* label1,
                                                                                       const char* label2, const char* label3);
TF_CAPI_EXPORT extern TFE_MonitoringStringGaugeCell* TFE_MonitoringGetCellStringGauge4(TFE_MonitoringStringGauge4* gauge, const char* label1,
                                                                                       const char* label2, const char* label3, const char* label4);

typedef struct TFE_MonitoringBoolGaugeCell TFE_MonitoringBoolGaugeCell;
typedef struct TFE_MonitoringBoolGauge0 TFE_MonitoringBoolGauge0;
typedef struct TFE_MonitoringBoolGauge1 TFE_MonitoringBoolGauge1;
typedef struct TFE_MonitoringBoolGauge2 TFE_MonitoringBoolGauge2;

TF_CAPI_EXPORT extern void TFE_MonitoringBoolGaugeCellSet(TFE_MonitoringBoolGaugeCell* cell, bool value);
TF_CAPI_EXPORT extern bool TFE_MonitoringBoolGaugeCellValue(TFE_MonitoringBoolGaugeCell* cell);

TF_CAPI_EXPORT extern TFE_MonitoringBoolGauge0* TFE_MonitoringNewBoolGauge0(const char* name, TF_Status* status, const char* description);
TF_CAPI_EXPORT extern TFE_MonitoringBoolGauge1* TFE_MonitoringNewBoolGauge1(const char* name, TF_Status* status, const char* description,
                                                                            const char* label1);
TF_CAPI_EXPORT extern TFE_MonitoringBoolGauge2* TFE_MonitoringNewBoolGauge2(const char* name, TF_Status* status, const char* description,
                                                                            const char* label1, const char* label2);
TF_CAPI_EXPORT extern void TFE_MonitoringDeleteBoolGauge0(TFE_MonitoringBoolGauge0* gauge);
TF_CAPI_EXPORT extern void TFE_MonitoringDeleteBoolGauge1(TFE_MonitoringBoolGauge1* gauge);
TF_CAPI_EXPORT extern void TFE_MonitoringDeleteBoolGauge2(TFE_MonitoringBoolGauge2* gauge);
TF_CAPI_EXPORT extern TFE_MonitoringBoolGaugeCell* TFE_MonitoringGetCellBoolGauge0(TFE_MonitoringBoolGauge0* gauge);
TF_CAPI_EXPORT extern TFE_MonitoringBoolGaugeCell* TFE_MonitoringGetCellBoolGauge1(TFE_MonitoringBoolGauge1* gauge, const char* label1);
TF_CAPI_EXPORT extern TFE_MonitoringBoolGaugeCell* TFE_MonitoringGetCellBoolGauge2(TFE_MonitoringBoolGauge2* gauge, const char* label1,
                                                                                   const char* label2);

// A sampler keeps a histogram; its value is a serialized HistogramProto.
typedef struct TFE_MonitoringSamplerCell TFE_MonitoringSamplerCell;
typedef struct TFE_MonitoringBuckets TFE_MonitoringBuckets;
typedef struct TFE_MonitoringSampler0 TFE_MonitoringSampler0;
typedef struct TFE_MonitoringSampler1 TFE_MonitoringSampler1;
typedef struct TFE_MonitoringSampler2 TFE_MonitoringSampler2;

TF_CAPI_EXPORT extern void TFE_MonitoringSamplerCellAdd(TFE_MonitoringSamplerCell* cell, double value);
TF_CAPI_EXPORT extern void TFE_MonitoringSamplerCellValue(TFE_MonitoringSamplerCell* cell, TF_Buffer* buf);

// Upper bounds scale, scale * growth_factor, scale * growth_factor^2, ...
TF_CAPI_EXPORT extern TFE_MonitoringBuckets* TFE_MonitoringNewExponentialBuckets(double scale, double growth_factor, int bucket_count);
TF_CAPI_EXPORT extern void TFE_MonitoringDeleteBuckets(TFE_MonitoringBuckets* buckets);

TF_CAPI_EXPORT extern TFE_MonitoringSampler0* TFE_MonitoringNewSampler0(const char* name, TFE_MonitoringBuckets* buckets, TF_Status* status,
                                                                        const char* description);
TF_CAPI_EXPORT extern TFE_MonitoringSampler1* TFE_MonitoringNewSampler1(const char* name, TFE_MonitoringBuckets* buckets, TF_Status* status,
                                                                        const char* description, const char* label1);
TF_CAPI_EXPORT extern TFE_MonitoringSampler2* TFE_MonitoringNewSampler2(const char* name, TFE_MonitoringBuckets* buckets, TF_Status* status,
                                                                        const char* description, const char* label1, const char* label2);
TF_CAPI_EXPORT extern void TFE_MonitoringDeleteSampler0(TFE_MonitoringSampler0* sampler);
TF_CAPI_EXPORT extern void TFE_MonitoringDeleteSampler1(TFE_MonitoringSampler1* sampler);
TF_CAPI_EXPORT extern void TFE_MonitoringDeleteSampler2(TFE_MonitoringSampler2* sampler);
TF_CAPI_EXPORT extern TFE_MonitoringSamplerCell* TFE_MonitoringGetCellSampler0(TFE_MonitoringSampler0* sampler);
TF_CAPI_EXPORT extern TFE_MonitoringSamplerCell* TFE_MonitoringGetCellSampler1(TFE_MonitoringSampler1* sampler, const char* label1);
TF_CAPI_EXPORT extern TFE_MonitoringSamplerCell* TFE_MonitoringGetCellSampler2(TFE_MonitoringSampler2* sampler, const char* label1,
                                                                               const char* label2);

#ifdef __cplusplus
}  // extern "C"
#endif

#endif  // TENSORFLOW_C_EAGER_C_API_EXPERIMENTAL_H_
