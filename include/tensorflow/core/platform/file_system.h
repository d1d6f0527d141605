// SPDX-License-Identifier: Apache-2.0
//
// Files that are open, as Env makes them.
#ifndef TENSORFLOW_CORE_PLATFORM_FILE_SYSTEM_H_
#define TENSORFLOW_CORE_PLATFORM_FILE_SYSTEM_H_

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <string>
#include <string_view>

#include "tensorflow/c/env.h"
#include "tensorflow/core/platform/errors.h"

namespace tensorflow {

namespace internal {
// What the system says of a file.
inline Status FileError(const std::string& name, int error = errno) {
  const std::string text = name + "; " + std::strerror(error);
  return error == ENOENT                                             ? errors::NotFound(text)
         : error == EACCES || error == EPERM                         ? errors::PermissionDenied(text)
         : error == EEXIST                                           ? errors::AlreadyExists(text)
         : error == EISDIR || error == ENOTDIR || error == ENOTEMPTY ? errors::FailedPrecondition(text)
                                                                     : errors::Unknown(text);
}
}  // namespace internal

struct FileStatistics {
  int64 length = -1;
  int64 mtime_nsec = 0;
  bool is_directory = false;
};

class RandomAccessFile {
 public:
  RandomAccessFile() = default;
  virtual ~RandomAccessFile() = default;
  RandomAccessFile(const RandomAccessFile&) = delete;
  void operator=(const RandomAccessFile&) = delete;
  virtual Status Name(StringPiece*) const { return errors::Unimplemented("This filesystem does not support Name()"); }
  // OutOfRange, with what there is, where the file is shorter.
  virtual Status Read(uint64 offset, size_t n, StringPiece* result, char* scratch) const = 0;
};

namespace internal {
class PosixFile : public RandomAccessFile {
 public:
  PosixFile(std::string name, int file) : name_(std::move(name)), file_(file) {}
  ~PosixFile() override { ::close(file_); }
  Status Name(StringPiece* result) const override {
    *result = name_;
    return OkStatus();
  }
  Status Read(uint64 offset, size_t n, StringPiece* result, char* scratch) const override {
    size_t got = 0;
    while (got < n) {
      const ssize_t more = ::pread(file_, scratch + got, n - got, static_cast<off_t>(offset + got));
      if (more < 0 && errno == EINTR) continue;
      if (more < 0) return FileError(name_);
      if (more == 0) break;
      got += static_cast<size_t>(more);
    }
    *result = StringPiece(scratch, got);
    return got < n ? errors::OutOfRange("Read less bytes than requested") : OkStatus();
  }

 private:
  std::string name_;
  int file_;
};
}  // namespace internal

class WritableFile {
 public:
  explicit WritableFile(TF_WritableFileHandle* file) : file_(file) {}
  ~WritableFile() { Close().IgnoreError(); }
  WritableFile(const WritableFile&) = delete;
  void operator=(const WritableFile&) = delete;
  Status Append(StringPiece data) {
    return Call([&](TF_Status* s) { TF_AppendWritableFile(file_, data.data(), data.size(), s); });
  }
  Status Flush() {
    return Call([&](TF_Status* s) { TF_FlushWritableFile(file_, s); });
  }
  Status Sync() {
    return Call([&](TF_Status* s) { TF_SyncWritableFile(file_, s); });
  }
  Status Close() {
    if (!file_) return OkStatus();
    const Status s = Call([&](TF_Status* status) { TF_CloseWritableFile(file_, status); });
    file_ = nullptr;
    return s;
  }

 private:
  template <class F>
  Status Call(F&& f) {
    if (!file_) return errors::FailedPrecondition("the file is closed");
    TF_Status* s = TF_NewStatus();
    f(s);
    return internal::FromC(s);
  }
  TF_WritableFileHandle* file_;
};

}  // namespace tensorflow

#endif  // TENSORFLOW_CORE_PLATFORM_FILE_SYSTEM_H_
