// SPDX-License-Identifier: Apache-2.0
//
// ZlibInputStream: what another stream has packed. Gzip files may be several, one behind the other.
#ifndef TENSORFLOW_CORE_LIB_IO_ZLIB_INPUTSTREAM_H_
#define TENSORFLOW_CORE_LIB_IO_ZLIB_INPUTSTREAM_H_

#include <algorithm>
#include <memory>
#include <string>

#include "tensorflow/core/lib/io/inputstream_interface.h"
#include "tensorflow/core/lib/io/zlib_compression_options.h"
#include "tensorflow/core/weft_abi.h"

namespace tensorflow {
namespace io {

namespace zlib_internal {
struct DeleteZlib {
  void operator()(weft_zlib* z) const { weft_zlib_delete(z); }
};
using OwnedZlib = std::unique_ptr<weft_zlib, DeleteZlib>;
}  // namespace zlib_internal

class ZlibInputStream : public InputStreamInterface {
 public:
  ZlibInputStream(InputStreamInterface* input_stream, size_t input_buffer_bytes, size_t output_buffer_bytes, const ZlibCompressionOptions& options,
                  bool owns_input_stream)
      : input_(input_stream),
        owned_(owns_input_stream ? input_stream : nullptr),
        options_(options),
        in_capacity_(std::max<size_t>(1, input_buffer_bytes)) {
    out_.resize(std::max<size_t>(1, output_buffer_bytes));
    Start();
  }
  ZlibInputStream(InputStreamInterface* input_stream, size_t input_buffer_bytes, size_t output_buffer_bytes, const ZlibCompressionOptions& options)
      : ZlibInputStream(input_stream, input_buffer_bytes, output_buffer_bytes, options, false) {}

  Status ReadNBytes(int64_t n, tstring* result) override {
    result->clear();
    TF_RETURN_IF_ERROR(started_);
    for (n = std::max<int64_t>(n, 0);;) {
      const size_t some = std::min(static_cast<size_t>(n), end_ - at_);
      result->append(out_.data() + at_, some);
      at_ += some;
      read_ += static_cast<int64_t>(some);
      n -= static_cast<int64_t>(some);
      if (n == 0) return OkStatus();
      TF_RETURN_IF_ERROR(Unpack());
      if (at_ == end_) TF_RETURN_IF_ERROR(Fetch());
    }
  }
  int64_t Tell() const override { return read_; }
  Status Reset() override {
    TF_RETURN_IF_ERROR(input_->Reset());
    left_ = weft_text{nullptr, 0};
    at_ = end_ = 0;
    read_ = 0;
    Start();
    return started_;
  }

 private:
  void Start() {
    weft_zlib* z = nullptr;
    started_ = ::tensorflow::internal::FromC(weft_zlib_new(0, options_.window_bits, 0, 0, 0, &z));
    z_.reset(z);
  }
  // Into out_, all of which was read.
  Status Unpack() {
    char* to = &out_[0];
    size_t room = out_.size();
    int ended = 0;
    const Status s = ::tensorflow::internal::FromC(weft_zlib_step(z_.get(), &left_, &to, &room, WEFT_ZLIB_NO_FLUSH, &ended));
    at_ = 0;
    end_ = out_.size() - room;
    if (!s.ok()) return s;
    return ended && options_.window_bits > 15 ? ::tensorflow::internal::FromC(weft_zlib_reset(z_.get())) : OkStatus();
  }
  // More packed bytes behind those that are left.
  Status Fetch() {
    std::string all(left_.data ? left_.data : "", left_.size);
    tstring more;
    const Status s = input_->ReadNBytes(static_cast<int64_t>(in_capacity_ > all.size() ? in_capacity_ - all.size() : in_capacity_), &more);
    if (more.empty() && !s.ok()) return errors::IsOutOfRange(s) ? errors::OutOfRange("EOF reached") : s;
    all.append(more.data(), more.size());
    in_ = std::move(all);
    left_ = weft_text{in_.data(), in_.size()};
    return s.ok() || errors::IsOutOfRange(s) ? OkStatus() : s;
  }

  InputStreamInterface* const input_;
  const std::unique_ptr<InputStreamInterface> owned_;
  const ZlibCompressionOptions options_;
  const size_t in_capacity_;
  zlib_internal::OwnedZlib z_;
  Status started_;
  std::string in_, out_;
  weft_text left_ = {nullptr, 0};  // of in_
  size_t at_ = 0, end_ = 0;        // what is not read of out_
  int64_t read_ = 0;
};

}  // namespace io
}  // namespace tensorflow

#endif  // TENSORFLOW_CORE_LIB_IO_ZLIB_INPUTSTREAM_H_
