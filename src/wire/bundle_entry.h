// The messages inside a bundle's index: BundleHeaderProto and BundleEntryProto.
#pragma once

#include "wire/tensor_bundle.h"

namespace weft_engine::wire {

struct BundleHeader {
  int num_shards = 0;
  bool big_endian = false;
  int producer = 0, min_consumer = 0;
  std::vector<int> bad_consumers;
  bool looks_like_v1 = false;  // the first row of an old checkpoint has a message where the count should be
  friend bool same_version(const BundleHeader& a, const BundleHeader& b) {
    return a.producer == b.producer && a.min_consumer == b.min_consumer && a.bad_consumers == b.bad_consumers;
  }
};

inline constexpr int kBundleVersion = 1;

core::Result<BundleHeader> decode_header(std::string_view proto);
std::string encode_header(const BundleHeader& header);
core::Result<BundleEntry> decode_entry(std::string_view key, std::string_view proto);
std::string encode_entry(const BundleEntry& entry);

// "Unable to read file (NAME). Perhaps the file is corrupt ...": TensorFlow's text, `why` behind it.
core::Status corrupt_file(std::string_view name, std::string_view detail, const core::Status& why);
// Unimplemented: an old checkpoint where only a bundle's index will do.
core::Status v1_checkpoint(std::string_view name);
// The lengths of a tensor's strings as they stand in front of the bytes, with their checksum; `crc` is extended over both.
std::string encode_lengths(const core::Tensor& strings, uint32_t& crc);

}  // namespace weft_engine::wire
