// SPDX-License-Identifier: Apache-2.0
//
// InputBuffer: a file read from its beginning, line by line or so many bytes at a time. It does not own the file.
#ifndef TENSORFLOW_CORE_LIB_IO_INPUTBUFFER_H_
#define TENSORFLOW_CORE_LIB_IO_INPUTBUFFER_H_

#include <cstring>
#include <string>

#include "tensorflow/core/lib/io/inputstream_interface.h"

namespace tensorflow {
namespace io {

class InputBuffer {
 public:
  InputBuffer(RandomAccessFile* file, size_t buffer_bytes) : file_(file), stream_(file, buffer_bytes) {}
  template <class Text>
  Status ReadLine(Text* result) {
    return stream_.ReadLine(result);
  }
  Status ReadNBytes(int64_t n, std::string* result) {
    tstring bytes;
    const Status s = stream_.ReadNBytes(n, &bytes);
    result->assign(bytes.data(), bytes.size());
    return s;
  }
  Status ReadNBytes(int64_t n, char* result, size_t* bytes_read) {
    tstring bytes;
    const Status s = stream_.ReadNBytes(n, &bytes);
    std::memcpy(result, bytes.data(), bytes.size());
    *bytes_read = bytes.size();
    return s;
  }
  Status ReadVarint32(uint32* result) { return Varint(result); }
  Status ReadVarint64(uint64* result) { return Varint(result); }
  Status SkipNBytes(int64_t n) {
    if (n < 0) return errors::InvalidArgument("Can only skip forward, not ", n);
    std::string unused;
    return ReadNBytes(n, &unused);
  }
  Status Seek(int64_t position) { return stream_.Seek(position); }
  int64_t Tell() const { return stream_.Tell(); }
  RandomAccessFile* file() const { return file_; }

 private:
  template <class T>
  Status Varint(T* result) {
    *result = 0;
    for (int shift = 0; shift < static_cast<int>(sizeof(T)) * 8; shift += 7) {
      char byte = 0;
      size_t got = 0;
      TF_RETURN_IF_ERROR(ReadNBytes(1, &byte, &got));
      *result |= static_cast<T>(byte & 127) << shift;
      if (!(byte & 128)) return OkStatus();
    }
    return errors::DataLoss("Stored data longer than ", sizeof(T) == 4 ? 32 : 64, " bits.");
  }
  RandomAccessFile* file_;
  BufferedInputStream stream_;
};

}  // namespace io
}  // namespace tensorflow

#endif  // TENSORFLOW_CORE_LIB_IO_INPUTBUFFER_H_
