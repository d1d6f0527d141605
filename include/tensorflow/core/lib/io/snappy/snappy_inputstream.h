// SPDX-License-Identifier: Apache-2.0
//
// SnappyInputStream, SnappyInputBuffer: what Snappy packed, block by block, each behind its length (four bytes, the highest first).
#ifndef TENSORFLOW_CORE_LIB_IO_SNAPPY_SNAPPY_INPUTSTREAM_H_
#define TENSORFLOW_CORE_LIB_IO_SNAPPY_SNAPPY_INPUTSTREAM_H_

#include <algorithm>
#include <limits>
#include <memory>
#include <string>

#include "tensorflow/core/lib/io/inputstream_interface.h"
#include "tensorflow/core/weft_abi.h"

namespace tensorflow {
namespace io {

class SnappyInputStream : public InputStreamInterface {
 public:
  SnappyInputStream(InputStreamInterface* input, size_t output_buffer_bytes, bool owns_input_stream = false)
      : input_(input), most_unpacked_(output_buffer_bytes) {
    if (owns_input_stream) owned_.reset(input);
  }
  Status ReadNBytes(int64_t n, tstring* result) override {
    if (n < 0) return errors::InvalidArgument("Can't read a negative number of bytes: ", n);
    result->clear();
    while (result->size() < static_cast<size_t>(n)) {
      if (at_ == block_.size()) TF_RETURN_IF_ERROR(Next());
      const size_t part = std::min(static_cast<size_t>(n) - result->size(), block_.size() - at_);
      result->append(block_.data() + at_, part);
      at_ += part;
      read_ += static_cast<int64_t>(part);
    }
    return OkStatus();
  }
  int64_t Tell() const override { return read_; }
  Status Reset() override {
    TF_RETURN_IF_ERROR(input_->Reset());
    block_.clear();
    at_ = 0;
    read_ = 0;
    return OkStatus();
  }

 protected:
  SnappyInputStream(std::unique_ptr<InputStreamInterface> input, size_t most_packed, size_t most_unpacked)
      : SnappyInputStream(input.get(), most_unpacked) {
    owned_ = std::move(input);
    most_packed_ = most_packed;
  }

 private:
  static Status CutOff(size_t n) { return errors::DataLoss("Failed to read ", n, " bytes from file. Possible data corruption."); }
  // How long the block will be, which it says itself: seven bits in each byte, the lowest first.
  static bool UnpackedLength(const tstring& packed, uint64* length) {
    *length = 0;
    for (size_t i = 0; i < std::min<size_t>(packed.size(), 5); ++i) {
      const auto byte = static_cast<unsigned char>(packed.data()[i]);
      *length |= static_cast<uint64>(byte & 127) << (7 * i);
      if (byte < 128) return *length <= std::numeric_limits<uint32>::max();
    }
    return false;
  }
  Status Next() {
    block_.clear();
    at_ = 0;
    tstring packed;
    TF_RETURN_IF_ERROR(input_->ReadNBytes(4, &packed));
    uint32 length = 0;
    for (size_t i = 0; i < 4; ++i) length = length << 8 | static_cast<unsigned char>(packed.data()[i]);
    if (length > most_packed_)
      return errors::ResourceExhausted("Input buffer(size: ", most_packed_, " bytes) too small. Should be larger than ", length, " bytes.");
    TF_RETURN_IF_ERROR(ReadBlock(length, &packed));
    uint64 unpacked = 0;
    if (!UnpackedLength(packed, &unpacked)) return errors::DataLoss("Parsing error in Snappy_GetUncompressedLength");
    if (unpacked > most_unpacked_)
      return errors::ResourceExhausted("Output buffer(size: ", most_unpacked_, " bytes) too small. Should be larger than ", unpacked, " bytes.");
    TF_Buffer* bytes = nullptr;
    TF_RETURN_IF_ERROR(::tensorflow::internal::FromC(weft_snappy_unpack({packed.data(), packed.size()}, &bytes)));
    block_.assign(static_cast<const char*>(bytes->data), bytes->length);
    TF_DeleteBuffer(bytes);
    return OkStatus();
  }
  // In parts: a length that the file does not have is found by its end, not by an allocation.
  Status ReadBlock(size_t length, tstring* packed) {
    constexpr size_t kPart = 8 << 20;
    packed->clear();
    tstring part;
    while (packed->size() < length) {
      const Status s = input_->ReadNBytes(static_cast<int64_t>(std::min(kPart, length - packed->size())), &part);
      if (errors::IsOutOfRange(s)) return CutOff(length);
      TF_RETURN_IF_ERROR(s);
      packed->append(part.data(), part.size());
    }
    return OkStatus();
  }
  InputStreamInterface* const input_;
  std::unique_ptr<InputStreamInterface> owned_;
  size_t most_packed_ = std::numeric_limits<uint32>::max();
  const size_t most_unpacked_;
  std::string block_;
  size_t at_ = 0;
  int64_t read_ = 0;
};

// The same of a file. No block may be longer than the buffers.
class SnappyInputBuffer : public SnappyInputStream {
 public:
  SnappyInputBuffer(RandomAccessFile* file, size_t input_buffer_bytes, size_t output_buffer_bytes)
      : SnappyInputStream(std::make_unique<RandomAccessInputStream>(file), input_buffer_bytes, output_buffer_bytes) {}
};

}  // namespace io
}  // namespace tensorflow

#endif  // TENSORFLOW_CORE_LIB_IO_SNAPPY_SNAPPY_INPUTSTREAM_H_
