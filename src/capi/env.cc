// env.h: files, names, clocks and threads of this machine.
#include <dlfcn.h>
#include <fcntl.h>
#include <pthread.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <filesystem>

#include "capi/internal.h"
#include "core/file_system.h"
#include "tensorflow/c/env.h"

using namespace weft_engine::capi;  // NOLINT
namespace fs = std::filesystem;

struct TF_WritableFileHandle {
  std::unique_ptr<weft_engine::core::WritableFile> file;
};
struct TF_StringStream {
  std::vector<std::string> names;
  size_t next = 0;
};
struct TF_Thread {
  pthread_t thread;
};

namespace {

// Runs f on the file system that a path leads to; a null path is an error.
template <class F>
void with_path(const char* path, TF_Status* status, F&& f) {
  guard(status, [&]() -> Status {
    WEFT_NOT_NULL(path);
    WEFT_ASSIGN(Place place, locate(path));
    return f(place.system, place.path);
  });
}
void with_file(TF_WritableFileHandle* handle, TF_Status* status, Status (WritableFile::*f)()) {
  guard(status, [&]() -> Status {
    WEFT_NOT_NULL(handle);
    return (*handle->file.*f)();
  });
}

}  // namespace

void TF_CreateDir(const char* path, TF_Status* status) {
  with_path(path, status, [](FileSystem& system, const std::string& name) { return system.create_folder(name); });
}
void TF_DeleteDir(const char* path, TF_Status* status) {
  with_path(path, status, [](FileSystem& system, const std::string& name) { return system.delete_folder(name); });
}
void TF_DeleteFile(const char* path, TF_Status* status) {
  with_path(path, status, [](FileSystem& system, const std::string& name) { return system.delete_file(name); });
}
void TF_DeleteRecursively(const char* path, int64_t* undeleted_files, int64_t* undeleted_dirs, TF_Status* status) {
  if (undeleted_files) *undeleted_files = 0;
  if (undeleted_dirs) *undeleted_dirs = 0;
  with_path(path, status, [&](FileSystem& system, const std::string& name) {
    int64_t files = 0, folders = 0;
    const Status done = system.delete_recursively(name, files, folders);
    if (undeleted_files) *undeleted_files = files;
    if (undeleted_dirs) *undeleted_dirs = folders;
    return done;
  });
}
TF_StringStream* TF_GetChildren(const char* path, TF_Status* status) {
  TF_StringStream* out = nullptr;
  with_path(path, status, [&](FileSystem& system, const std::string& name) -> Status {
    WEFT_ASSIGN(std::vector<std::string> names, system.children(name));
    out = new TF_StringStream{std::move(names), 0};
    return {};
  });
  return out;
}
void TF_FileStat(const char* path, TF_FileStatistics* stats, TF_Status* status) {
  with_path(path, status, [&](FileSystem& system, const std::string& name) -> Status {
    WEFT_NOT_NULL(stats);
    WEFT_ASSIGN(FileInfo info, system.stat(name));
    *stats = {info.size, info.mtime_nsec, info.is_directory};
    return {};
  });
}

void TF_NewWritableFile(const char* path, TF_WritableFileHandle** handle, TF_Status* status) {
  if (handle) *handle = nullptr;
  with_path(path, status, [&](FileSystem& system, const std::string& name) -> Status {
    WEFT_NOT_NULL(handle);
    WEFT_ASSIGN(std::unique_ptr<WritableFile> file, system.create(name));
    *handle = new TF_WritableFileHandle{std::move(file)};
    return {};
  });
}
void TF_AppendWritableFile(TF_WritableFileHandle* handle, const char* data, size_t length, TF_Status* status) {
  guard(status, [&]() -> Status {
    WEFT_NOT_NULL(handle);
    if (length) WEFT_NOT_NULL(data);
    return length ? handle->file->append({data, length}) : Status();
  });
}
void TF_FlushWritableFile(TF_WritableFileHandle* handle, TF_Status* status) { with_file(handle, status, &WritableFile::flush); }
void TF_SyncWritableFile(TF_WritableFileHandle* handle, TF_Status* status) { with_file(handle, status, &WritableFile::sync); }
void TF_CloseWritableFile(TF_WritableFileHandle* handle, TF_Status* status) {
  with_file(handle, status, &WritableFile::close);
  delete handle;
}

bool TF_StringStreamNext(TF_StringStream* list, const char** result) {
  if (result) *result = nullptr;
  if (!list || !result || list->next >= list->names.size()) return false;
  *result = list->names[list->next++].c_str();
  return true;
}
void TF_StringStreamDone(TF_StringStream* list) { delete list; }

TF_StringStream* TF_GetLocalTempDirectories() {
  return guard_pointer<TF_StringStream>([] {
    auto list = std::make_unique<TF_StringStream>();
    const char* const candidates[] = {getenv("TEST_TMPDIR"), getenv("TMPDIR"), getenv("TMP"), "/tmp"};
    for (const char* c : candidates) {
      std::error_code error;
      if (!c || !*c || !fs::is_directory(c, error)) continue;
      list->names.emplace_back(c);
      break;  // the first that exists, as in TensorFlow
    }
    return list.release();
  });
}
char* TF_GetTempFileName(const char* extension) {
  return guard_pointer<char>([&]() -> char* {
    const std::unique_ptr<TF_StringStream> dirs(TF_GetLocalTempDirectories());
    if (!dirs || dirs->names.empty()) return nullptr;
    std::string path = dirs->names[0] + "/weft_XXXXXX";
    const std::string suffix = extension && *extension ? std::string(".") + extension : "";
    path += suffix;
    const int fd = mkstemps(path.data(), int(suffix.size()));
    if (fd < 0) return nullptr;
    close(fd);  // the file stays, as in TensorFlow: nobody else can take its name
    return strdup(path.c_str());
  });
}

namespace {
template <class Unit>
uint64_t now() {
  return uint64_t(std::chrono::duration_cast<Unit>(std::chrono::system_clock::now().time_since_epoch()).count());
}
}  // namespace

uint64_t TF_NowNanos() { return now<std::chrono::nanoseconds>(); }
uint64_t TF_NowMicros() { return now<std::chrono::microseconds>(); }
uint64_t TF_NowSeconds() { return now<std::chrono::seconds>(); }

void TF_DefaultThreadOptions(TF_ThreadOptions* o) {
  if (o) *o = {0, 0, -1};
}
TF_Thread* TF_StartThread(const TF_ThreadOptions* o, const char* name, void (*work)(void*), void* param) {
  return guard_pointer<TF_Thread>([&]() -> TF_Thread* {
    if (!work) return nullptr;
    struct Start {
      void (*work)(void*);
      void* param;
    };
    pthread_attr_t attr;
    pthread_attr_init(&attr);
    if (o && o->stack_size) pthread_attr_setstacksize(&attr, o->stack_size);
    if (o && o->guard_size) pthread_attr_setguardsize(&attr, o->guard_size);
    auto start = std::make_unique<Start>(Start{work, param});
    auto thread = std::make_unique<TF_Thread>();
    const int failed = pthread_create(
        &thread->thread, &attr,
        [](void* p) -> void* {
          const std::unique_ptr<Start> s(static_cast<Start*>(p));
          s->work(s->param);
          return nullptr;
        },
        start.get());
    pthread_attr_destroy(&attr);
    if (failed) return nullptr;
    start.release();
    if (name) pthread_setname_np(thread->thread, std::string(name).substr(0, 15).c_str());  // the system's limit
    return thread.release();
  });
}
void TF_JoinThread(TF_Thread* thread) {
  if (!thread) return;
  pthread_join(thread->thread, nullptr);
  delete thread;
}

void* TF_LoadSharedLibrary(const char* path, TF_Status* status) {
  void* library = nullptr;
  guard(status, [&]() -> Status {
    WEFT_NOT_NULL(path);
    library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    return library ? Status() : not_found(dlerror());
  });
  return library;
}
void* TF_GetSymbolFromLibrary(void* library, const char* name, TF_Status* status) {
  void* symbol = nullptr;
  guard(status, [&]() -> Status {
    WEFT_NOT_NULL(library);
    WEFT_NOT_NULL(name);
    symbol = dlsym(library, name);
    return symbol ? Status() : not_found(dlerror());
  });
  return symbol;
}
