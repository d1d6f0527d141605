// SPDX-License-Identifier: Apache-2.0
//
// Env: the clock, and whole files read. Other functions for files, and threads, are not here yet.
#ifndef TENSORFLOW_CORE_PLATFORM_ENV_H_
#define TENSORFLOW_CORE_PLATFORM_ENV_H_

#include <cerrno>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <string>
#include <thread>

#include "tensorflow/core/platform/errors.h"
#include "tensorflow/core/platform/mutex.h"
#include "tensorflow/core/platform/protobuf.h"
#include "tensorflow/core/platform/types.h"

namespace tensorflow {

struct ThreadOptions {
  size_t stack_size = 0;
  size_t guard_size = 0;
  int numa_node = -1;
};

class Env {
 public:
  static Env* Default() {
    static Env env;
    return &env;
  }
  uint64 NowNanos() const { return Since<std::chrono::nanoseconds>(); }
  uint64 NowMicros() const { return Since<std::chrono::microseconds>(); }
  uint64 NowSeconds() const { return Since<std::chrono::seconds>(); }
  void SleepForMicroseconds(int64 n) { std::this_thread::sleep_for(std::chrono::microseconds(n)); }

 private:
  template <class Unit>
  static uint64 Since() {
    return static_cast<uint64>(std::chrono::duration_cast<Unit>(std::chrono::system_clock::now().time_since_epoch()).count());
  }
};

namespace internal {
inline Status CannotRead(const std::string& name) {
  const int error = errno;
  const std::string text = name + "; " + std::strerror(error);
  return error == ENOENT ? errors::NotFound(text) : error == EACCES ? errors::PermissionDenied(text) : errors::Unknown(text);
}
}  // namespace internal

inline Status ReadFileToString(Env*, const std::string& name, std::string* data) {
  std::FILE* file = std::fopen(name.c_str(), "rb");
  if (!file) return internal::CannotRead(name);
  data->clear();
  char part[1 << 16];
  size_t n = 0;
  while ((n = std::fread(part, 1, sizeof part, file)) > 0) data->append(part, n);
  const Status s = std::ferror(file) ? internal::CannotRead(name) : OkStatus();
  std::fclose(file);
  return s;
}
// A message in its binary form.
inline Status ReadBinaryProto(Env* env, const std::string& name, protobuf::MessageLite* message) {
  std::string bytes;
  TF_RETURN_IF_ERROR(ReadFileToString(env, name, &bytes));
  if (message->ParseFromString(bytes)) return OkStatus();
  return errors::DataLoss("Can't parse ", name, " as binary proto");
}

}  // namespace tensorflow

#endif  // TENSORFLOW_CORE_PLATFORM_ENV_H_
