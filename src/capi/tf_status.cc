#include <cstring>

#include "capi/internal.h"
#include "core/file_system.h"

using namespace weft_engine::capi;  // NOLINT

TSL_Status* TSL_NewStatus() {
  return guard_pointer<TSL_Status>([] { return new TSL_Status; });
}
void TSL_DeleteStatus(TSL_Status* s) { delete s; }

void TSL_SetStatus(TSL_Status* s, TSL_Code code, const char* message) {
  if (!s) return;
  guard(s, [&] { return Status(static_cast<Code>(code), message ? message : ""); });
}

void TSL_SetPayload(TSL_Status* s, const char* key, const char* value) {
  if (!s || !key || !value) return;
  guard(s, [&] { return s->status.with_payload(key, value); });
}

void TSL_ForEachPayload(const TSL_Status* s, TSL_PayloadVisitor visitor, void* capture) {
  if (!s || !visitor) return;
  for (const auto& [key, value] : s->status.payloads()) visitor(key.c_str(), value.c_str(), capture);
}

void TSL_SetStatusFromIOError(TSL_Status* s, int error, const char* context) {
  guard(s, [&] { return weft_engine::core::io_error(context ? context : "", error); });
}

TSL_Code TSL_GetCode(const TSL_Status* s) { return static_cast<TSL_Code>(s ? s->status.code() : Code::kOk); }
const char* TSL_Message(const TSL_Status* s) { return s ? s->status.message().c_str() : ""; }

TF_Status* TF_NewStatus() { return TSL_NewStatus(); }
void TF_DeleteStatus(TF_Status* s) { TSL_DeleteStatus(s); }
void TF_SetStatus(TF_Status* s, TF_Code code, const char* message) { TSL_SetStatus(s, code, message); }
void TF_SetPayload(TF_Status* s, const char* key, const char* value) { TSL_SetPayload(s, key, value); }
void TF_ForEachPayload(const TF_Status* s, TF_PayloadVisitor visitor, void* capture) { TSL_ForEachPayload(s, visitor, capture); }
void TF_SetStatusFromIOError(TF_Status* s, int error, const char* context) { TSL_SetStatusFromIOError(s, error, context); }
TF_Code TF_GetCode(const TF_Status* s) { return TSL_GetCode(s); }
const char* TF_Message(const TF_Status* s) { return TSL_Message(s); }
