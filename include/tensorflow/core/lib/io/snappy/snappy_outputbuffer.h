// SPDX-License-Identifier: Apache-2.0
//
// SnappyOutputBuffer: packs what is written, into another file: a block when the buffer is full, and at Flush and Close. The file stays open.
#ifndef TENSORFLOW_CORE_LIB_IO_SNAPPY_SNAPPY_OUTPUTBUFFER_H_
#define TENSORFLOW_CORE_LIB_IO_SNAPPY_SNAPPY_OUTPUTBUFFER_H_

#include <algorithm>
#include <string>

#include "tensorflow/core/platform/errors.h"
#include "tensorflow/core/platform/file_system.h"
#include "tensorflow/core/platform/logging.h"
#include "tensorflow/core/weft_abi.h"

namespace tensorflow {
namespace io {

class SnappyOutputBuffer : public WritableFile {
 public:
  SnappyOutputBuffer(WritableFile* file, int32 input_buffer_bytes, int32 /*output_buffer_bytes*/)
      : WritableFile(nullptr), file_(file), capacity_(static_cast<size_t>(std::max(1, input_buffer_bytes))) {}
  ~SnappyOutputBuffer() override {
    if (!in_.empty()) LOG(WARNING) << "SnappyOutputBuffer::Close() not called. Possible data loss";
  }
  Status Append(StringPiece data) override { return Write(data); }
  Status Write(StringPiece data) {
    if (in_.size() + data.size() > capacity_) TF_RETURN_IF_ERROR(PackBuffered());
    if (data.size() > capacity_) return Pack(data);
    in_.append(data.data(), data.size());
    return OkStatus();
  }
  Status Flush() override { return PackBuffered(); }
  Status Sync() override {
    TF_RETURN_IF_ERROR(Flush());
    return file_->Sync();
  }
  Status Close() override { return Flush(); }
  Status Name(StringPiece* result) const override { return file_->Name(result); }
  Status Tell(int64_t* position) override { return file_->Tell(position); }

 private:
  Status PackBuffered() {
    const std::string data = std::move(in_);
    in_.clear();
    return data.empty() ? OkStatus() : Pack(data);
  }
  Status Pack(StringPiece data) {
    TF_Buffer* bytes = nullptr;
    TF_RETURN_IF_ERROR(::tensorflow::internal::FromC(weft_snappy_pack({data.data(), data.size()}, &bytes)));
    std::string block;
    for (int shift = 24; shift >= 0; shift -= 8) block.push_back(static_cast<char>(bytes->length >> shift & 255));
    block.append(static_cast<const char*>(bytes->data), bytes->length);
    TF_DeleteBuffer(bytes);
    return file_->Append(block);
  }
  WritableFile* const file_;
  const size_t capacity_;
  std::string in_;
};

}  // namespace io
}  // namespace tensorflow

#endif  // TENSORFLOW_CORE_LIB_IO_SNAPPY_SNAPPY_OUTPUTBUFFER_H_
