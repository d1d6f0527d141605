// SPDX-License-Identifier: Apache-2.0
//
// The status object behind TF_Status: a code, a message and named payloads.
// Programs normally use the TF_ names of tensorflow/c/tf_status.h.
#ifndef XLA_TSL_C_TSL_STATUS_H_
#define XLA_TSL_C_TSL_STATUS_H_

#include "tensorflow/c/c_api_macros.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct TSL_Status TSL_Status;

typedef enum TSL_Code {
  TSL_OK = 0,
  TSL_CANCELLED = 1,
  TSL_UNKNOWN = 2,
  TSL_INVALID_ARGUMENT = 3,
  TSL_DEADLINE_EXCEEDED = 4,
  TSL_NOT_FOUND = 5,
  TSL_ALREADY_EXISTS = 6,
  TSL_PERMISSION_DENIED = 7,
  TSL_RESOURCE_EXHAUSTED = 8,
  TSL_FAILED_PRECONDITION = 9,
  TSL_ABORTED = 10,
  TSL_OUT_OF_RANGE = 11,
  TSL_UNIMPLEMENTED = 12,
  TSL_INTERNAL = 13,
  TSL_UNAVAILABLE = 14,
  TSL_DATA_LOSS = 15,
  TSL_UNAUTHENTICATED = 16,
} TSL_Code;

// Called once for each payload; capture is the caller's own pointer.
typedef void (*TSL_PayloadVisitor)(const char* key, const char* value, void* capture);

TF_CAPI_EXPORT extern TSL_Status* TSL_NewStatus(void);
TF_CAPI_EXPORT extern void TSL_DeleteStatus(TSL_Status* status);

// Replaces code and message and drops the payloads; with TSL_OK the message is ignored.
TF_CAPI_EXPORT extern void TSL_SetStatus(TSL_Status* status, TSL_Code code, const char* msg);

// Does nothing on a status that is OK.
TF_CAPI_EXPORT extern void TSL_SetPayload(TSL_Status* status, const char* key, const char* value);
TF_CAPI_EXPORT extern void TSL_ForEachPayload(const TSL_Status* status, TSL_PayloadVisitor visitor, void* capture);

// Translates an errno value; context is put before the system's text.
TF_CAPI_EXPORT extern void TSL_SetStatusFromIOError(TSL_Status* status, int error_code, const char* context);

TF_CAPI_EXPORT extern TSL_Code TSL_GetCode(const TSL_Status* status);

// Valid until the status is changed or deleted; empty for TSL_OK.
TF_CAPI_EXPORT extern const char* TSL_Message(const TSL_Status* status);

#ifdef __cplusplus
}  // extern "C"
#endif

#endif  // XLA_TSL_C_TSL_STATUS_H_
