// SPDX-License-Identifier: Apache-2.0
//
// ZlibOutputBuffer: packs what is written, into another file. Close writes the end; the file stays open.
#ifndef TENSORFLOW_CORE_LIB_IO_ZLIB_OUTPUTBUFFER_H_
#define TENSORFLOW_CORE_LIB_IO_ZLIB_OUTPUTBUFFER_H_

#include <algorithm>
#include <string>

#include "tensorflow/core/lib/io/zlib_inputstream.h"
#include "tensorflow/core/platform/file_system.h"

namespace tensorflow {
namespace io {

class ZlibOutputBuffer : public WritableFile {
 public:
  ZlibOutputBuffer(WritableFile* file, int32 input_buffer_bytes, int32 output_buffer_bytes, const ZlibCompressionOptions& options)
      : WritableFile(nullptr), file_(file), in_capacity_(static_cast<size_t>(std::max(1, input_buffer_bytes))), options_(options) {
    out_.resize(static_cast<size_t>(std::max(2, output_buffer_bytes)));
  }
  ~ZlibOutputBuffer() override {
    if (z_) LOG(WARNING) << "ZlibOutputBuffer::Close() not called. Possible data loss";
  }
  // Before all else.
  Status Init() {
    if (options_.compression_method != 8) return errors::InvalidArgument("deflateInit failed with status", -2);
    weft_zlib* z = nullptr;
    TF_RETURN_IF_ERROR(::tensorflow::internal::FromC(
        weft_zlib_new(1, options_.window_bits, options_.compression_level, options_.mem_level, options_.compression_strategy, &z)));
    z_.reset(z);
    return OkStatus();
  }
  Status Append(StringPiece data) override {
    if (!z_) return NotReady();
    if (in_.size() + data.size() <= in_capacity_) {
      in_.append(data.data(), data.size());
      return OkStatus();
    }
    TF_RETURN_IF_ERROR(Pack(WEFT_ZLIB_NO_FLUSH));
    if (data.size() <= in_capacity_) {
      in_.assign(data.data(), data.size());
      return OkStatus();
    }
    return Pack(data, WEFT_ZLIB_NO_FLUSH);
  }
  Status Flush() override {
    if (!z_) return NotReady();
    TF_RETURN_IF_ERROR(Pack(options_.flush_mode == 2 ? WEFT_ZLIB_SYNC : options_.flush_mode == 3 ? WEFT_ZLIB_FULL : WEFT_ZLIB_NO_FLUSH));
    return file_->Flush();
  }
  Status Sync() override {
    TF_RETURN_IF_ERROR(Flush());
    return file_->Sync();
  }
  Status Close() override {
    if (!z_) return OkStatus();
    const Status s = Pack(WEFT_ZLIB_FINISH);
    z_.reset();
    return s;
  }
  Status Name(StringPiece* result) const override { return file_->Name(result); }
  Status Tell(int64_t* position) override { return file_->Tell(position); }

 private:
  static Status NotReady() { return errors::FailedPrecondition("ZlibOutputBuffer is not initialized, or closed"); }
  Status Pack(int flush) {
    const std::string data = std::move(in_);
    in_.clear();
    return Pack(data, flush);
  }
  Status Pack(StringPiece data, int flush) {
    weft_text left = {data.data(), data.size()};
    for (;;) {
      char* to = &out_[0];
      size_t room = out_.size();
      int ended = 0;
      TF_RETURN_IF_ERROR(::tensorflow::internal::FromC(weft_zlib_step(z_.get(), &left, &to, &room, flush, &ended)));
      if (room < out_.size()) TF_RETURN_IF_ERROR(file_->Append(StringPiece(out_.data(), out_.size() - room)));
      if (left.size == 0 && (flush == WEFT_ZLIB_FINISH ? ended : room > 0)) return OkStatus();
    }
  }

  WritableFile* const file_;
  const size_t in_capacity_;
  const ZlibCompressionOptions options_;
  zlib_internal::OwnedZlib z_;
  std::string in_, out_;
};

}  // namespace io
}  // namespace tensorflow

#endif  // TENSORFLOW_CORE_LIB_IO_ZLIB_OUTPUTBUFFER_H_
