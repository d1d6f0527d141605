#include <cerrno>
#include <cstring>

#include "capi/internal.h"

using namespace weft::capi;  // NOLINT

TSL_Status* TSL_NewStatus() { return guard_pointer<TSL_Status>([] { return new TSL_Status; }); }
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
  auto code = [&] {
    switch (error) {
      case 0: return Code::kOk;
      case EINVAL: case ENAMETOOLONG: case E2BIG: case EDESTADDRREQ: case EDOM: case EFAULT: case EILSEQ: case ENOPROTOOPT: case ENOSTR:
      case ENOTSOCK: case ENOTTY: case EPROTOTYPE: case ESPIPE: return Code::kInvalidArgument;
      case ETIMEDOUT: case ETIME: return Code::kDeadlineExceeded;
      case ENODEV: case ENOENT: case ENXIO: case ESRCH: return Code::kNotFound;
      case EEXIST: case EADDRNOTAVAIL: case EALREADY: return Code::kAlreadyExists;
      case EPERM: case EACCES: case EROFS: return Code::kPermissionDenied;
      case ENOTEMPTY: case EISDIR: case ENOTDIR: case EADDRINUSE: case EBADF: case EBUSY: case ECHILD: case EISCONN: case ENOTBLK: case ENOTCONN:
      case EPIPE: case ESHUTDOWN: case ETXTBSY: return Code::kFailedPrecondition;
      case ENOSPC: case EDQUOT: case EMFILE: case EMLINK: case ENFILE: case ENOBUFS: case ENODATA: case ENOMEM: case ENOSR: case EUSERS:
        return Code::kResourceExhausted;
      case EFBIG: case EOVERFLOW: case ERANGE: return Code::kOutOfRange;
      case ENOSYS: case ENOTSUP: case EAFNOSUPPORT: case EPFNOSUPPORT: case EPROTONOSUPPORT: case ESOCKTNOSUPPORT: case EXDEV:
        return Code::kUnimplemented;
      case EAGAIN: case ECONNREFUSED: case ECONNABORTED: case ECONNRESET: case EINTR: case EHOSTDOWN: case EHOSTUNREACH: case ENETDOWN:
      case ENETRESET: case ENETUNREACH: case ENOLCK: case ENOLINK: case ENONET: return Code::kUnavailable;
      case EDEADLK: case ESTALE: return Code::kAborted;
      case ECANCELED: return Code::kCancelled;
      default: return Code::kUnknown;
    }
  };
  guard(s, [&] { return Status(code(), weft::core::cat(context ? context : "", "; ", std::strerror(error))); });
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
