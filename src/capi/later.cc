// Functions of parts that are still to come: exported so that clients link, each with a status that names what is
// missing. Nothing here has an effect.
#include "capi/internal.h"
#include "tensorflow/c/c_api_experimental.h"

using namespace weft::capi;  // NOLINT

namespace {

void not_yet(TF_Status* status, const char* function, const char* part) {
  guard(status, [&] { return unimplemented(function, ": ", part, " is not there yet"); });
}

}  // namespace

// ---- Remote execution ----

TF_Server* TF_NewServer(const void*, size_t, TF_Status* status) {
  not_yet(status, "TF_NewServer", "remote execution");
  return nullptr;
}
void TF_ServerStart(TF_Server*, TF_Status* status) { not_yet(status, "TF_ServerStart", "remote execution"); }
void TF_ServerStop(TF_Server*, TF_Status* status) { not_yet(status, "TF_ServerStop", "remote execution"); }
void TF_ServerJoin(TF_Server*, TF_Status* status) { not_yet(status, "TF_ServerJoin", "remote execution"); }
const char* TF_ServerTarget(TF_Server*) { return ""; }
void TF_DeleteServer(TF_Server*) {}
TF_Buffer* TFE_GetServerDef(const char*, TF_Status* status) {
  not_yet(status, "TFE_GetServerDef", "reading a ServerDef in text form");
  return nullptr;
}

// ---- Plugins ----

void TF_RegisterFilesystemPlugin(const char*, TF_Status* status) { not_yet(status, "TF_RegisterFilesystemPlugin", "file systems from plugins"); }
TF_Library* TF_LoadPluggableDeviceLibrary(const char*, TF_Status* status) {
  not_yet(status, "TF_LoadPluggableDeviceLibrary", "devices from plugins");
  return nullptr;
}
void TF_DeletePluggableDeviceLibraryHandle(TF_Library*) {}
