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

using namespace weft::capi;  // NOLINT
namespace fs = std::filesystem;

struct TF_WritableFileHandle {
  std::string name;
  FILE* file = nullptr;
  std::unique_ptr<weft::core::WritableFile> other;  // of another file system
};
struct TF_StringStream {
  std::vector<std::string> names;
  size_t next = 0;
};
struct TF_Thread {
  pthread_t thread;
};

namespace {

// Of a system call that gives 0 for success.
Status checked(const std::string& name, int result) { return result == 0 ? Status() : io_error(name, errno); }

// Runs f on a path of this machine, or `other` on one that a plugin serves; a null path is an error.
template <class F, class Other>
void with_path(const char* path, TF_Status* status, F&& f, Other&& other) {
  guard(status, [&]() -> Status {
    WEFT_NOT_NULL(path);
    WEFT_ASSIGN(Place place, locate(path));
    return place.other ? other(*place.other, place.path) : f(place.path);
  });
}
template <class F>
void with_file(TF_WritableFileHandle* handle, TF_Status* status, F&& f, Status (WritableFile::*other)()) {
  guard(status, [&]() -> Status {
    WEFT_NOT_NULL(handle);
    return handle->other ? (*handle->other.*other)() : checked(handle->name, f(handle->file));
  });
}

}  // namespace

void TF_CreateDir(const char* path, TF_Status* status) {
  with_path(
      path, status, [](const std::string& p) { return checked(p, mkdir(p.c_str(), 0755)); },
      [](FileSystem& other, const std::string& name) { return other.create_folder(name); });
}
void TF_DeleteDir(const char* path, TF_Status* status) {
  with_path(
      path, status, [](const std::string& p) { return checked(p, rmdir(p.c_str())); },
      [](FileSystem& other, const std::string& name) { return other.delete_folder(name); });
}
void TF_DeleteFile(const char* path, TF_Status* status) {
  with_path(
      path, status, [](const std::string& p) { return checked(p, unlink(p.c_str())); },
      [](FileSystem& other, const std::string& name) { return other.delete_file(name); });
}
void TF_DeleteRecursively(const char* path, int64_t* undeleted_files, int64_t* undeleted_dirs, TF_Status* status) {
  if (undeleted_files) *undeleted_files = 0;
  if (undeleted_dirs) *undeleted_dirs = 0;
  auto other = [&](FileSystem& system, const std::string& name) {
    int64_t files = 0, folders = 0;
    const Status done = system.delete_recursively(name, files, folders);
    if (undeleted_files) *undeleted_files = files;
    if (undeleted_dirs) *undeleted_dirs = folders;
    return done;
  };
  auto local = [&](const std::string& p) -> Status {
    std::error_code error;
    const fs::file_status kind = fs::symlink_status(p, error);
    if (!fs::exists(kind)) {
      if (undeleted_dirs) *undeleted_dirs = 1;
      return not_found("Directory or file ", p, " not found");
    }
    fs::remove_all(p, error);
    if (!error) return {};
    fs::recursive_directory_iterator it(p, fs::directory_options::skip_permission_denied, error), end;
    for (; it != end; it.increment(error)) {
      int64_t* count = it->is_directory(error) ? undeleted_dirs : undeleted_files;
      if (count) ++*count;
    }
    if (undeleted_dirs && fs::is_directory(kind)) ++*undeleted_dirs;
    return io_error(p, error ? error.value() : EIO);
  };
  with_path(path, status, local, other);
}
TF_StringStream* TF_GetChildren(const char* path, TF_Status* status) {
  TF_StringStream* out = nullptr;
  auto list = [&](std::vector<std::string> names) {
    out = new TF_StringStream{std::move(names), 0};
    return Status();
  };
  auto local = [&](const std::string& p) -> Status {
    std::vector<std::string> names;
    std::error_code error;
    fs::directory_iterator it(p, error), end;
    for (; !error && it != end; it.increment(error)) names.push_back(it->path().filename().string());
    return error ? io_error(p, error.value()) : list(std::move(names));
  };
  with_path(path, status, local, [&](FileSystem& other, const std::string& name) -> Status {
    WEFT_ASSIGN(std::vector<std::string> names, other.children(name));
    return list(std::move(names));
  });
  return out;
}
void TF_FileStat(const char* path, TF_FileStatistics* stats, TF_Status* status) {
  auto local = [&](const std::string& p) -> Status {
    WEFT_NOT_NULL(stats);
    struct stat st;
    WEFT_RETURN_IF_ERROR(checked(p, stat(p.c_str(), &st)));
    *stats = {st.st_size, int64_t(st.st_mtim.tv_sec) * 1000000000 + st.st_mtim.tv_nsec, S_ISDIR(st.st_mode)};
    return {};
  };
  with_path(path, status, local, [&](FileSystem& other, const std::string& name) -> Status {
    WEFT_NOT_NULL(stats);
    WEFT_ASSIGN(FileInfo info, other.stat(name));
    *stats = {info.size, info.mtime_nsec, info.is_directory};
    return {};
  });
}

void TF_NewWritableFile(const char* path, TF_WritableFileHandle** handle, TF_Status* status) {
  if (handle) *handle = nullptr;
  auto local = [&](const std::string& p) -> Status {
    WEFT_NOT_NULL(handle);
    FILE* file = fopen(p.c_str(), "w");
    if (!file) return io_error(p, errno);
    *handle = new TF_WritableFileHandle{p, file, nullptr};
    return {};
  };
  with_path(path, status, local, [&](FileSystem& other, const std::string& name) -> Status {
    WEFT_NOT_NULL(handle);
    WEFT_ASSIGN(std::unique_ptr<WritableFile> file, other.create(name));
    *handle = new TF_WritableFileHandle{name, nullptr, std::move(file)};
    return {};
  });
}
void TF_AppendWritableFile(TF_WritableFileHandle* handle, const char* data, size_t length, TF_Status* status) {
  guard(status, [&]() -> Status {
    WEFT_NOT_NULL(handle);
    if (length) WEFT_NOT_NULL(data);
    if (handle->other) return handle->other->append({data, length});
    return !length || fwrite(data, 1, length, handle->file) == length ? Status() : io_error(handle->name, errno);
  });
}
void TF_FlushWritableFile(TF_WritableFileHandle* handle, TF_Status* status) {
  with_file(handle, status, [](FILE* f) { return fflush(f); }, &WritableFile::flush);
}
void TF_SyncWritableFile(TF_WritableFileHandle* handle, TF_Status* status) {
  with_file(handle, status, [](FILE* f) { return fflush(f) ? -1 : fsync(fileno(f)); }, &WritableFile::sync);
}
void TF_CloseWritableFile(TF_WritableFileHandle* handle, TF_Status* status) {
  with_file(handle, status, [](FILE* f) { return fclose(f); }, &WritableFile::close);
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
    close(fd);
    unlink(path.c_str());
    return strdup(path.c_str());
  });
}

namespace {
template <class Unit>
uint64_t now() { return uint64_t(std::chrono::duration_cast<Unit>(std::chrono::system_clock::now().time_since_epoch()).count()); }
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
    const int failed = pthread_create(&thread->thread, &attr, [](void* p) -> void* {
      const std::unique_ptr<Start> s(static_cast<Start*>(p));
      s->work(s->param);
      return nullptr;
    }, start.get());
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
