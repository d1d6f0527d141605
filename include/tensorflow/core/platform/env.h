// SPDX-License-Identifier: Apache-2.0
//
// Env: the clock, threads and files. Files are read from the machine's own file system.
#ifndef TENSORFLOW_CORE_PLATFORM_ENV_H_
#define TENSORFLOW_CORE_PLATFORM_ENV_H_

#include <glob.h>

#include <atomic>
#include <cstdio>
#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "tensorflow/c/env.h"
#include "tensorflow/core/platform/errors.h"
#include "tensorflow/core/platform/file_system.h"
#include "tensorflow/core/platform/mutex.h"
#include "tensorflow/core/platform/protobuf.h"
#include "tensorflow/core/platform/types.h"

namespace tensorflow {

struct ThreadOptions {
  size_t stack_size = 0;
  size_t guard_size = 0;
  int numa_node = -1;
};

// Waits for its end when it is deleted.
class Thread {
 public:
  explicit Thread(std::function<void()> f) : f_(std::move(f)) {
    TF_ThreadOptions options;
    TF_DefaultThreadOptions(&options);
    thread_ = TF_StartThread(&options, "", [](void* self) { static_cast<Thread*>(self)->f_(); }, this);
  }
  ~Thread() { TF_JoinThread(thread_); }
  Thread(const Thread&) = delete;
  void operator=(const Thread&) = delete;

 private:
  std::function<void()> f_;
  TF_Thread* thread_;
};

// The files of this machine.
class FileSystem {
 public:
  virtual ~FileSystem() = default;

  Status NewRandomAccessFile(const std::string& name, std::unique_ptr<RandomAccessFile>* result) {
    const int file = ::open(name.c_str(), O_RDONLY | O_CLOEXEC);
    if (file < 0) return internal::FileError(name);
    *result = std::make_unique<internal::PosixFile>(name, file);
    return OkStatus();
  }
  Status NewWritableFile(const std::string& name, std::unique_ptr<WritableFile>* result) {
    TF_WritableFileHandle* file = nullptr;
    TF_RETURN_IF_ERROR(Call([&](TF_Status* s) { TF_NewWritableFile(name.c_str(), &file, s); }));
    *result = std::make_unique<WritableFile>(file);
    return OkStatus();
  }
  Status NewAppendableFile(const std::string& name, std::unique_ptr<WritableFile>* result) {
    const int file = ::open(name.c_str(), O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0666);
    if (file < 0) return internal::FileError(name);
    *result = std::make_unique<WritableFile>(name, file);
    return OkStatus();
  }
  Status FileExists(const std::string& name) { return ::access(name.c_str(), F_OK) == 0 ? OkStatus() : errors::NotFound(name, " not found"); }
  bool FilesExist(const std::vector<std::string>& names, std::vector<Status>* status) {
    bool all = true;
    for (const std::string& name : names) {
      const Status s = FileExists(name);
      if (status) status->push_back(s);
      all = all && s.ok();
    }
    return all;
  }
  Status Stat(const std::string& name, FileStatistics* stat) {
    struct stat s;
    if (::stat(name.c_str(), &s)) return internal::FileError(name);
    stat->length = s.st_size;
    stat->mtime_nsec = static_cast<int64>(s.st_mtime) * 1000000000;
    stat->is_directory = S_ISDIR(s.st_mode);
    return OkStatus();
  }
  Status GetFileSize(const std::string& name, uint64* size) {
    FileStatistics stat;
    TF_RETURN_IF_ERROR(Stat(name, &stat));
    *size = static_cast<uint64>(stat.length);
    return OkStatus();
  }
  Status IsDirectory(const std::string& name) {
    FileStatistics stat;
    TF_RETURN_IF_ERROR(Stat(name, &stat));
    return stat.is_directory ? OkStatus() : errors::FailedPrecondition("Not a directory");
  }
  Status GetChildren(const std::string& dir, std::vector<std::string>* result) {
    TF_StringStream* list = nullptr;
    TF_RETURN_IF_ERROR(Call([&](TF_Status* s) { list = TF_GetChildren(dir.c_str(), s); }));
    result->clear();
    for (const char* name = nullptr; TF_StringStreamNext(list, &name);) result->push_back(name);
    TF_StringStreamDone(list);
    return OkStatus();
  }
  // Sorted; none is no error.
  Status GetMatchingPaths(const std::string& pattern, std::vector<std::string>* results) {
    results->clear();
    glob_t found = {};
    const int error = ::glob(pattern.c_str(), 0, nullptr, &found);
    for (size_t i = 0; i < found.gl_pathc; ++i) results->emplace_back(found.gl_pathv[i]);
    ::globfree(&found);
    return error == 0 || error == GLOB_NOMATCH ? OkStatus() : errors::Unknown("cannot list ", pattern);
  }
  Status DeleteFile(const std::string& name) {
    return Call([&](TF_Status* s) { TF_DeleteFile(name.c_str(), s); });
  }
  Status CreateDir(const std::string& name) {
    return Call([&](TF_Status* s) { TF_CreateDir(name.c_str(), s); });
  }
  Status RecursivelyCreateDir(const std::string& name) {
    for (size_t at = 1; at <= name.size(); ++at) {
      if (at < name.size() && name[at] != '/') continue;
      const std::string part = name.substr(0, at);
      if (FileExists(part).ok()) continue;
      const Status s = CreateDir(part);
      if (!s.ok() && !errors::IsAlreadyExists(s)) return s;
    }
    return OkStatus();
  }
  Status DeleteDir(const std::string& name) {
    return Call([&](TF_Status* s) { TF_DeleteDir(name.c_str(), s); });
  }
  Status DeleteRecursively(const std::string& name, int64* undeleted_files, int64* undeleted_dirs) {
    return Call([&](TF_Status* s) { TF_DeleteRecursively(name.c_str(), undeleted_files, undeleted_dirs, s); });
  }
  Status RenameFile(const std::string& from, const std::string& to) {
    return std::rename(from.c_str(), to.c_str()) == 0 ? OkStatus() : internal::FileError(from);
  }
  Status CopyFile(const std::string& from, const std::string& to);
  Status HasAtomicMove(const std::string&, bool* has) { return *has = true, OkStatus(); }

 private:
  template <class F>
  static Status Call(F&& f) {
    TF_Status* s = TF_NewStatus();
    f(s);
    return internal::FromC(s);
  }
};

class Env : public FileSystem {
 public:
  static Env* Default() {
    static Env env;
    return &env;
  }
  Status GetFileSystemForFile(const std::string&, FileSystem** result) { return *result = this, OkStatus(); }
  uint64 NowNanos() const { return TF_NowNanos(); }
  uint64 NowMicros() const { return TF_NowMicros(); }
  uint64 NowSeconds() const { return TF_NowSeconds(); }
  void SleepForMicroseconds(int64 n) { ::usleep(static_cast<useconds_t>(n)); }
  Thread* StartThread(const ThreadOptions&, const std::string&, std::function<void()> f) { return new Thread(std::move(f)); }
  void SchedClosure(std::function<void()> f) { std::thread(std::move(f)).detach(); }
  void SchedClosureAfter(int64 micros, std::function<void()> f) {
    SchedClosure([this, micros, run = std::move(f)] {
      SleepForMicroseconds(micros);
      run();
    });
  }
  int64 GetCurrentThreadId() { return static_cast<int64>(std::hash<std::thread::id>()(std::this_thread::get_id()) & 0x7fffffffffffffff); }
  std::string GetExecutablePath() {
    char path[4096];
    const ssize_t n = ::readlink("/proc/self/exe", path, sizeof path);
    return std::string(path, n > 0 ? static_cast<size_t>(n) : 0);
  }
  bool LocalTempFilename(std::string* name) {
    char* made = TF_GetTempFileName("");
    if (!made) return false;
    *name = made;
    std::free(made);
    return true;
  }
  // Puts a number behind `prefix`, and `suffix` behind that: the name of a file that is not there.
  bool CreateUniqueFileName(std::string* prefix, const std::string& suffix) {
    static std::atomic<int64> next{0};
    const std::string stem = *prefix + "_" + std::to_string(::getpid()) + "_";
    do *prefix = stem + std::to_string(next++) + suffix;
    while (FileExists(*prefix).ok());
    return true;
  }
};

inline Status ReadFileToString(Env* env, const std::string& name, std::string* data) {
  uint64 size = 0;
  std::unique_ptr<RandomAccessFile> file;
  TF_RETURN_IF_ERROR(env->GetFileSize(name, &size));
  TF_RETURN_IF_ERROR(env->NewRandomAccessFile(name, &file));
  data->resize(size);
  StringPiece got;
  const Status s = file->Read(0, size, &got, data->data());
  data->resize(got.size());
  return errors::IsOutOfRange(s) ? OkStatus() : s;
}
inline Status WriteStringToFile(Env* env, const std::string& name, StringPiece data) {
  std::unique_ptr<WritableFile> file;
  TF_RETURN_IF_ERROR(env->NewWritableFile(name, &file));
  TF_RETURN_IF_ERROR(file->Append(data));
  return file->Close();
}
// Messages as files, in binary and in text form.
inline Status FileSystem::CopyFile(const std::string& from, const std::string& to) {
  std::string bytes;
  TF_RETURN_IF_ERROR(ReadFileToString(Env::Default(), from, &bytes));
  return WriteStringToFile(Env::Default(), to, bytes);
}
inline Status ReadBinaryProto(Env* env, const std::string& name, protobuf::Message* message) {
  std::string bytes;
  TF_RETURN_IF_ERROR(ReadFileToString(env, name, &bytes));
  return message->ParseFromString(bytes) ? OkStatus() : errors::DataLoss("Can't parse ", name, " as binary proto");
}
inline Status WriteBinaryProto(Env* env, const std::string& name, const protobuf::Message& message) {
  return WriteStringToFile(env, name, message.SerializeAsString());
}
inline Status ReadTextProto(Env* env, const std::string& name, protobuf::Message* message) {
  std::string text;
  TF_RETURN_IF_ERROR(ReadFileToString(env, name, &text));
  return protobuf::TextFormat::ParseFromString(text, message) ? OkStatus() : errors::DataLoss("Can't parse ", name, " as text proto");
}
inline Status WriteTextProto(Env* env, const std::string& name, const protobuf::Message& message) {
  return WriteStringToFile(env, name, message.DebugString());
}
inline Status ReadTextOrBinaryProto(Env* env, const std::string& name, protobuf::Message* message) {
  return ReadTextProto(env, name, message).ok() ? OkStatus() : ReadBinaryProto(env, name, message);
}

}  // namespace tensorflow

#endif  // TENSORFLOW_CORE_PLATFORM_ENV_H_
