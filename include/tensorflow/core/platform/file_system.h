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
#include <utility>

#include "tensorflow/c/env.h"
#include "tensorflow/core/platform/errors.h"
#include "tensorflow/core/platform/span.h"

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
  // OutOfRange, with what there is, where the file is shorter. A class has one of both forms, the other calls it.
  virtual Status Read(uint64 offset, size_t n, StringPiece* result, char* scratch) const {
    return Read(offset, *result, gtl::Span<char>(scratch, n));
  }
  virtual Status Read(uint64 offset, StringPiece& result, gtl::Span<char> scratch) const {
    return Read(offset, scratch.size(), &result, scratch.data());
  }
  // With the types of an abseil.
  template <class V, class S, class = std::enable_if_t<internal::IsForeignView<V>::value>>
  Status Read(uint64 offset, V& result, S scratch) const {
    StringPiece got;
    const Status s = Read(offset, scratch.size(), &got, scratch.data());
    result = V(got.data(), got.size());
    return s;
  }
};

namespace internal {
class PosixFile : public RandomAccessFile {
 public:
  using RandomAccessFile::Read;
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
  // What is written is added to the file at once.
  WritableFile(std::string name, int file) : name_(std::move(name)), appends_to_(file) {}
  virtual ~WritableFile() { End().IgnoreError(); }
  WritableFile(const WritableFile&) = delete;
  void operator=(const WritableFile&) = delete;
  virtual Status Append(StringPiece data) {
    if (appends_to_ < 0) return Call([&](TF_Status* s) { TF_AppendWritableFile(file_, data.data(), data.size(), s); });
    while (!data.empty()) {
      const ssize_t n = ::write(appends_to_, data.data(), data.size());
      if (n < 0 && errno != EINTR) return internal::FileError(name_);
      if (n > 0) data.remove_prefix(static_cast<size_t>(n));
    }
    return OkStatus();
  }
  virtual Status Flush() {
    if (appends_to_ >= 0) return OkStatus();
    return Call([&](TF_Status* s) { TF_FlushWritableFile(file_, s); });
  }
  virtual Status Sync() {
    if (appends_to_ >= 0) return ::fsync(appends_to_) == 0 ? OkStatus() : internal::FileError(name_);
    return Call([&](TF_Status* s) { TF_SyncWritableFile(file_, s); });
  }
  virtual Status Close() { return End(); }
  virtual Status Name(StringPiece*) const { return errors::Unimplemented("This filesystem does not support Name()"); }
  virtual Status Tell(int64_t*) { return errors::Unimplemented("This filesystem does not support Tell()"); }

 private:
  Status End() {
    if (appends_to_ >= 0) ::close(appends_to_);
    appends_to_ = -1;
    if (!file_) return OkStatus();
    const Status s = Call([&](TF_Status* status) { TF_CloseWritableFile(file_, status); });
    file_ = nullptr;
    return s;
  }
  template <class F>
  Status Call(F&& f) {
    if (!file_) return errors::FailedPrecondition("the file is closed");
    TF_Status* s = TF_NewStatus();
    f(s);
    return internal::FromC(s);
  }
  TF_WritableFileHandle* file_ = nullptr;
  std::string name_;
  int appends_to_ = -1;
};

}  // namespace tensorflow

#endif  // TENSORFLOW_CORE_PLATFORM_FILE_SYSTEM_H_
