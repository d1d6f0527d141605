// SPDX-License-Identifier: Apache-2.0
//
// TF_Status is how every call reports failure: make one, hand it in, ask TF_GetCode afterwards.
#ifndef TENSORFLOW_C_TF_STATUS_H_
#define TENSORFLOW_C_TF_STATUS_H_

#include "tensorflow/c/c_api_macros.h"
#include "xla/tsl/c/tsl_status.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct TSL_Status TF_Status;
typedef TSL_Code TF_Code;

#define TF_OK TSL_OK
#define TF_CANCELLED TSL_CANCELLED
#define TF_UNKNOWN TSL_UNKNOWN
#define TF_INVALID_ARGUMENT TSL_INVALID_ARGUMENT
#define TF_DEADLINE_EXCEEDED TSL_DEADLINE_EXCEEDED
#define TF_NOT_FOUND TSL_NOT_FOUND
#define TF_ALREADY_EXISTS TSL_ALREADY_EXISTS
#define TF_PERMISSION_DENIED TSL_PERMISSION_DENIED
#define TF_RESOURCE_EXHAUSTED TSL_RESOURCE_EXHAUSTED
#define TF_FAILED_PRECONDITION TSL_FAILED_PRECONDITION
#define TF_ABORTED TSL_ABORTED
#define TF_OUT_OF_RANGE TSL_OUT_OF_RANGE
#define TF_UNIMPLEMENTED TSL_UNIMPLEMENTED
#define TF_INTERNAL TSL_INTERNAL
#define TF_UNAVAILABLE TSL_UNAVAILABLE
#define TF_DATA_LOSS TSL_DATA_LOSS
#define TF_UNAUTHENTICATED TSL_UNAUTHENTICATED

#define TF_PayloadVisitor TSL_PayloadVisitor

TF_CAPI_EXPORT extern TF_Status* TF_NewStatus(void);
TF_CAPI_EXPORT extern void TF_DeleteStatus(TF_Status* status);

// Replaces code and message and drops the payloads; with TF_OK the message is ignored.
TF_CAPI_EXPORT extern void TF_SetStatus(TF_Status* status, TF_Code code, const char* msg);

// Does nothing on a status that is OK.
TF_CAPI_EXPORT extern void TF_SetPayload(TF_Status* status, const char* key, const char* value);
TF_CAPI_EXPORT extern void TF_ForEachPayload(const TF_Status* status, TF_PayloadVisitor visitor, void* capture);

// Translates an errno value; context is put before the system's text.
TF_CAPI_EXPORT extern void TF_SetStatusFromIOError(TF_Status* status, int error_code, const char* context);

TF_CAPI_EXPORT extern TF_Code TF_GetCode(const TF_Status* status);

// Valid until the status is changed or deleted; empty for TF_OK.
TF_CAPI_EXPORT extern const char* TF_Message(const TF_Status* status);

#ifdef __cplusplus
}  // extern "C"
#endif

#endif  // TENSORFLOW_C_TF_STATUS_H_
