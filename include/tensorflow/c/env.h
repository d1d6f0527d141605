// SPDX-License-Identifier: Apache-2.0
//
// Files, threads, clocks and shared libraries, through the same file systems that models are
// read from; meant for plugins that may not link the C++ parts.
#ifndef TENSORFLOW_C_ENV_H_
#define TENSORFLOW_C_ENV_H_

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "tensorflow/c/c_api_macros.h"
#include "tensorflow/c/tf_file_statistics.h"
#include "tensorflow/c/tf_status.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct TF_WritableFileHandle TF_WritableFileHandle;
typedef struct TF_StringStream TF_StringStream;
typedef struct TF_Thread TF_Thread;

typedef struct TF_ThreadOptions {
  size_t stack_size;  // 0: the system's default
  size_t guard_size;  // 0: the system's default
  int numa_node;      // -1: any
} TF_ThreadOptions;

// ---- Directories ----

TF_CAPI_EXPORT extern void TF_CreateDir(const char* dirname, TF_Status* status);

// The directory must be empty.
TF_CAPI_EXPORT extern void TF_DeleteDir(const char* dirname, TF_Status* status);

// On failure the counts say how much could not be removed.
TF_CAPI_EXPORT extern void TF_DeleteRecursively(const char* dirname, int64_t* undeleted_file_count, int64_t* undeleted_dir_count, TF_Status* status);

TF_CAPI_EXPORT extern TF_StringStream* TF_GetChildren(const char* filename, TF_Status* status);

// ---- Files ----

TF_CAPI_EXPORT extern void TF_FileStat(const char* filename, TF_FileStatistics* stats, TF_Status* status);
TF_CAPI_EXPORT extern void TF_DeleteFile(const char* filename, TF_Status* status);

// Creates or truncates; *handle is null on failure.
TF_CAPI_EXPORT extern void TF_NewWritableFile(const char* filename, TF_WritableFileHandle** handle, TF_Status* status);

// Closes, and frees the handle whatever the status says.
TF_CAPI_EXPORT extern void TF_CloseWritableFile(TF_WritableFileHandle* handle, TF_Status* status);

TF_CAPI_EXPORT extern void TF_AppendWritableFile(TF_WritableFileHandle* handle, const char* data, size_t length, TF_Status* status);

// To the operating system; TF_SyncWritableFile: to the disk.
TF_CAPI_EXPORT extern void TF_FlushWritableFile(TF_WritableFileHandle* handle, TF_Status* status);
TF_CAPI_EXPORT extern void TF_SyncWritableFile(TF_WritableFileHandle* handle, TF_Status* status);

// ---- Lists of names ----

// False at the end. *result stays valid until TF_StringStreamDone.
TF_CAPI_EXPORT extern bool TF_StringStreamNext(TF_StringStream* list, const char** result);

// Frees the list.
TF_CAPI_EXPORT extern void TF_StringStreamDone(TF_StringStream* list);

TF_CAPI_EXPORT extern TF_StringStream* TF_GetLocalTempDirectories(void);

// A name not yet in use, ending in extension; the caller frees it with free().
TF_CAPI_EXPORT extern char* TF_GetTempFileName(const char* extension);

// ---- Clock, since 1970 ----

TF_CAPI_EXPORT extern uint64_t TF_NowNanos(void);
TF_CAPI_EXPORT extern uint64_t TF_NowMicros(void);
TF_CAPI_EXPORT extern uint64_t TF_NowSeconds(void);

// ---- Threads ----

TF_CAPI_EXPORT extern void TF_DefaultThreadOptions(TF_ThreadOptions* options);

// Every thread must be joined.
TF_CAPI_EXPORT extern TF_Thread* TF_StartThread(const TF_ThreadOptions* options, const char* thread_name, void (*work_func)(void*), void* param);

// Waits for the end and frees the thread.
TF_CAPI_EXPORT extern void TF_JoinThread(TF_Thread* thread);

// ---- Shared libraries ----

TF_CAPI_EXPORT extern void* TF_LoadSharedLibrary(const char* library_filename, TF_Status* status);
TF_CAPI_EXPORT extern void* TF_GetSymbolFromLibrary(void* handle, const char* symbol_name, TF_Status* status);

#ifdef __cplusplus
}  // extern "C"
#endif

#endif  // TENSORFLOW_C_ENV_H_
