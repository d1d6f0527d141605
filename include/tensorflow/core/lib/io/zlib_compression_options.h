// SPDX-License-Identifier: Apache-2.0
//
// How bytes are packed by zlib, in zlib's numbers.
#ifndef TENSORFLOW_CORE_LIB_IO_ZLIB_COMPRESSION_OPTIONS_H_
#define TENSORFLOW_CORE_LIB_IO_ZLIB_COMPRESSION_OPTIONS_H_

#include "tensorflow/core/platform/types.h"

namespace tensorflow {
namespace io {

class ZlibCompressionOptions {
 public:
  static ZlibCompressionOptions DEFAULT() { return ZlibCompressionOptions(); }
  // Without header and checksum; with those of gzip.
  static ZlibCompressionOptions RAW() { return Of(-15); }
  static ZlibCompressionOptions GZIP() { return Of(15 + 16); }

  int8 flush_mode = 0;  // Z_NO_FLUSH
  int64 input_buffer_size = 256 << 10, output_buffer_size = 256 << 10;
  int8 window_bits = 15;
  int8 compression_level = -1;   // Z_DEFAULT_COMPRESSION
  int8 compression_method = 8;   // Z_DEFLATED, the only one
  int8 mem_level = 9;
  int8 compression_strategy = 0;  // Z_DEFAULT_STRATEGY
  bool soft_fail_on_error = false;

 private:
  static ZlibCompressionOptions Of(int8 window_bits) {
    ZlibCompressionOptions options;
    options.window_bits = window_bits;
    return options;
  }
};

}  // namespace io
}  // namespace tensorflow

#endif  // TENSORFLOW_CORE_LIB_IO_ZLIB_COMPRESSION_OPTIONS_H_
