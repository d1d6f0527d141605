// SPDX-License-Identifier: Apache-2.0
//
// Streams of bytes: InputStreamInterface, a file as a stream (RandomAccessInputStream), and a stream that reads ahead (BufferedInputStream).
#ifndef TENSORFLOW_CORE_LIB_IO_INPUTSTREAM_INTERFACE_H_
#define TENSORFLOW_CORE_LIB_IO_INPUTSTREAM_INTERFACE_H_

#include <algorithm>
#include <memory>
#include <string>

#include "tensorflow/core/platform/errors.h"
#include "tensorflow/core/platform/file_system.h"
#include "tensorflow/core/platform/tstring.h"

namespace tensorflow {
namespace io {

// At the end of the stream there are fewer bytes than asked for, and OutOfRange.
class InputStreamInterface {
 public:
  InputStreamInterface() = default;
  virtual ~InputStreamInterface() = default;
  InputStreamInterface(const InputStreamInterface&) = delete;
  void operator=(const InputStreamInterface&) = delete;
  virtual Status ReadNBytes(int64_t n, tstring* result) = 0;
  virtual Status SkipNBytes(int64_t n) {
    if (n < 0) return errors::InvalidArgument("Can only skip forward, not ", n);
    tstring unused;
    for (; n > 0; n -= static_cast<int64_t>(unused.size())) TF_RETURN_IF_ERROR(ReadNBytes(std::min<int64_t>(n, 8 << 20), &unused));
    return OkStatus();
  }
  virtual int64_t Tell() const = 0;
  virtual Status Reset() = 0;
};

class RandomAccessInputStream : public InputStreamInterface {
 public:
  explicit RandomAccessInputStream(RandomAccessFile* file, bool owns_file = false) : file_(file) {
    if (owns_file) owned_.reset(file);
  }
  using InputStreamInterface::SkipNBytes;
  Status ReadNBytes(int64_t n, tstring* result) override {
    if (n < 0) return errors::InvalidArgument("Cannot read negative number of bytes");
    result->clear();
    result->resize(static_cast<size_t>(n));
    StringPiece got;
    const Status s = file_->Read(static_cast<uint64>(at_), static_cast<size_t>(n), &got, result->data());
    if (s.ok() || errors::IsOutOfRange(s)) {
      if (got.data() != result->data()) std::copy(got.begin(), got.end(), result->data());
      at_ += static_cast<int64_t>(got.size());
    }
    result->resize(got.size());
    return s;
  }
  Status SkipNBytes(int64_t n) override {
    if (n < 0) return errors::InvalidArgument("Can't skip a negative number of bytes");
    if (n == 0) return OkStatus();
    char last;
    StringPiece got;
    const Status s = file_->Read(static_cast<uint64>(at_ + n - 1), 1, &got, &last);
    if (s.ok()) return at_ += n, OkStatus();
    if (!errors::IsOutOfRange(s)) return s;
    tstring unused;  // to the end, for Tell
    Status read;
    while (read.ok()) read = ReadNBytes(8 << 20, &unused);
    return errors::IsOutOfRange(read) ? errors::OutOfRange("reached end of file") : read;
  }
  int64_t Tell() const override { return at_; }
  Status Seek(int64_t position) {
    at_ = position;
    return OkStatus();
  }
  Status Reset() override { return Seek(0); }

 private:
  RandomAccessFile* file_;
  std::unique_ptr<RandomAccessFile> owned_;
  int64_t at_ = 0;
};

class BufferedInputStream : public InputStreamInterface {
 public:
  BufferedInputStream(InputStreamInterface* input, size_t buffer_bytes, bool owns_input = false) : size_(buffer_bytes), input_(input) {
    if (owns_input) owned_.reset(input);
  }
  BufferedInputStream(RandomAccessFile* file, size_t buffer_bytes) : BufferedInputStream(new RandomAccessInputStream(file), buffer_bytes, true) {}

  Status ReadNBytes(int64_t n, tstring* result) override {
    if (n < 0) return errors::InvalidArgument("Can't read a negative number of bytes: ", n);
    result->clear();
    while (static_cast<int64_t>(result->size()) < n) {
      if (at_ == buffer_.size()) {
        const Status s = Fill();
        if (buffer_.empty()) return s.ok() ? errors::OutOfRange("reached end of file") : s;
      }
      const size_t part = std::min(static_cast<size_t>(n) - result->size(), buffer_.size() - at_);
      result->append(buffer_.data() + at_, part);
      at_ += part;
    }
    return OkStatus();
  }
  Status SkipNBytes(int64_t n) override {
    if (n < 0) return errors::InvalidArgument("Can only skip forward, not ", n);
    const auto here = static_cast<int64_t>(buffer_.size() - at_);
    if (n <= here) return at_ += static_cast<size_t>(n), OkStatus();
    Drop();
    return input_->SkipNBytes(n - here);
  }
  // A line without its end; \r is left out wherever it stands.
  Status ReadLine(std::string* result) { return Line(result, false); }
  Status ReadLine(tstring* result) { return Line(result, false); }
  std::string ReadLineAsString() {
    std::string line;
    Line(&line, true).IgnoreError();
    return line;
  }
  Status SkipLine() {
    std::string unused;
    return ReadLine(&unused);
  }
  template <class Text>
  Status ReadAll(Text* result) {
    result->clear();
    Status s;
    while (s.ok()) {
      result->append(buffer_.data() + at_, buffer_.size() - at_);
      s = Fill();
      if (!buffer_.empty()) s = Status();
    }
    return errors::IsOutOfRange(s) ? OkStatus() : s;
  }
  Status Seek(int64_t position) {
    if (position < 0) return errors::InvalidArgument("Seeking to a negative position: ", position);
    const int64_t begin = input_->Tell() - static_cast<int64_t>(buffer_.size());
    if (position >= begin && position < input_->Tell()) return at_ = static_cast<size_t>(position - begin), OkStatus();
    if (position < Tell()) {
      TF_RETURN_IF_ERROR(Reset());
      return SkipNBytes(position);
    }
    return SkipNBytes(position - Tell());
  }
  int64_t Tell() const override { return input_->Tell() - static_cast<int64_t>(buffer_.size() - at_); }
  Status Reset() override {
    Drop();
    return input_->Reset();
  }

 private:
  void Drop() {
    buffer_.clear();
    at_ = 0;
  }
  Status Fill() {
    Drop();
    return input_->ReadNBytes(static_cast<int64_t>(size_), &buffer_);
  }
  template <class Text>
  Status Line(Text* result, bool with_end) {
    result->clear();
    for (;;) {
      if (at_ == buffer_.size()) {
        const Status s = Fill();
        if (buffer_.empty()) return errors::IsOutOfRange(s) && !result->empty() ? OkStatus() : s;
      }
      const StringPiece rest(buffer_.data() + at_, buffer_.size() - at_);
      const size_t n = std::min(rest.find_first_of("\r\n"), rest.size());
      result->append(rest.data(), n);
      at_ += std::min(n + 1, rest.size());
      if (n == rest.size() || rest[n] == '\r') continue;
      if (with_end) result->append("\n", 1);
      return OkStatus();
    }
  }
  const size_t size_;
  InputStreamInterface* input_;
  std::unique_ptr<InputStreamInterface> owned_;
  tstring buffer_;
  size_t at_ = 0;
};

}  // namespace io
}  // namespace tensorflow

#endif  // TENSORFLOW_CORE_LIB_IO_INPUTSTREAM_INTERFACE_H_
